/** A stack under load with its receivers, fixtures and initial accounts. */
import { connect, type Credentials } from '../../src/client/index.js'
import { OPT_IN_EVENTS } from '../../src/base/event_types.js'
import { credentialsOf } from '../../src/operations/calls/sandbox.js'
import { accountLines, checkAccounts, untilQuiet, type Accounts } from './accounts.js'
import type { Outcome } from './client/client.js'
import { createFixtures, type Fixtures } from './fixtures.js'
import { startReceivers, type EndpointPlan } from './receivers.js'
import { nothingAccepted } from './scenarios/scenario.js'
import { INTENT } from './scenarios/scenarios.js'
import type { Stack } from './stacks.js'

export type SystemUnderTest = Awaited<ReturnType<typeof openSystem>>

/** What the partner's endpoint subscribes to. */
const FILTERS = {
  final: ['payout.completed', 'payment_intent.captured'],
  all: ['*', ...OPT_IN_EVENTS],
}
export type Subscription = keyof typeof FILTERS

/** Failures after which the service may still have accepted the request. */
const UNKNOWN = ['connection_lost', 'unanswered', 'unreadable_answer', '504 timeout']
const READ_BACK_MAX = 100

interface SystemOptions {
  readonly subscription?: Subscription
  readonly plans?: readonly EndpointPlan[] | undefined
  /** Those of a large database, which is not audited. Default: created through the API. */
  readonly seeded?: Fixtures
}

export async function openSystem(
  stack: Stack,
  { subscription = 'final', plans = planOf(subscription), seeded }: SystemOptions = {},
) {
  const partners: (Credentials & { readonly fixtures: Fixtures })[] = []
  for (const key of stack.partners) {
    const partner = { ...credentialsOf(stack.sandbox, 'Service'), ...key }
    partners.push({ ...partner, fixtures: seeded ?? (await createFixtures(connect(partner))) })
  }
  const { dataDir, store } = stack
  const filters = plans.map(({ events }) => (events.length === 0 ? ['*'] : events))
  const before = await untilQuiet(dataDir, store, filters)
  const receivers = startReceivers()
  const endpoints = await receivers.register(partners, plans)
  const accepted = nothingAccepted()
  let unknown = 0

  return {
    ...{ stack, receivers, partners },
    /** Adds a window's outcome to the accounts. */
    account: ({ accepted: more, summary }: Outcome): void => {
      accepted.intents += more.intents
      accepted.payouts += more.payouts
      accepted.samples.push(...more.samples)
      for (const code of UNKNOWN) unknown += summary.failed[code] ?? 0
    },
    /** Waits until payments have ended and webhooks are delivered. */
    quiet: async (): Promise<void> => void (await untilQuiet(dataDir, store, filters)),
    /** Likewise, then checks the accounts, reads some intents back and runs the audit. */
    settle: async (): Promise<Accounts> => {
      const after = await untilQuiet(dataDir, store, filters)
      const claims = { accepted, unknown, endpoints, received: await receivers.received() }
      const lines = accountLines(before, after, claims)
      const accounts = await checkAccounts(dataDir, store, lines, seeded === undefined)
      const missing = await readBack(partners, accepted.samples)
      return { ...accounts, faults: [...accounts.faults, ...missing] }
    },
    close: async (): Promise<void> => {
      await receivers.stop()
      await stack.stop()
    },
  }
}

const planOf = (subscription: Subscription): readonly EndpointPlan[] => [
  { behavior: 'healthy', events: FILTERS[subscription] },
]

/** Faults of acknowledged, unchanged intents; in a soak test some expire. */
async function readBack(partners: readonly Credentials[], ids: readonly string[]) {
  const faults: string[] = []
  const every = Math.ceil(ids.length / READ_BACK_MAX)
  for (const id of ids.filter((_, index) => index % every === 0)) {
    const path = `/v1/payment_intents/${id}`
    const answers = await Promise.all(partners.map((one) => connect(one).request('GET', path)))
    const { status, body } = answers.find((answer) => answer.status === 200) ?? answers[0]!
    const found = body as Record<'intent_id' | 'status' | 'amount_usd_cents', unknown>
    const isSame = found.intent_id === id && found.amount_usd_cents === INTENT.amount_usd_cents
    const isOpen = found.status === 'created' || found.status === 'expired'
    if (status === 200 && isSame && isOpen) continue
    faults.push(`${id} was acknowledged and cannot be read back: ${status}`)
  }
  return faults
}
