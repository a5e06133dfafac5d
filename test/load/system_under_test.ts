/**
 * A stack under load with its receivers, fixtures and initial accounts.
 */
import { connect, type Connection } from '../../src/client/index.js'
import { credentialsOf } from '../../src/operations/sandbox.js'
import { checkAccounts, untilQuiet, type Accounts } from './accounts.js'
import type { Client, Outcome } from './client/client.js'
import { createFixtures, type Fixtures } from './fixtures.js'
import { register, startReceivers, type EndpointPlan } from './receivers.js'
import { acceptedBy, NOTHING_ACCEPTED, type Accepted } from './scenarios/scenario.js'
import { INTENT_TERMS } from './scenarios/scenarios.js'
import type { PartnerKey, Stack } from './stacks.js'

export type SystemUnderTest = Awaited<ReturnType<typeof openSystem>>

export interface SystemOptions {
  /** One endpoint for the final events by default. */
  readonly plans?: readonly EndpointPlan[]
  /** Created through the API by default. */
  readonly fixtures?: Fixtures
  readonly audited?: boolean
}

const FINAL_EVENTS: readonly EndpointPlan[] = [
  { behavior: 'healthy', events: ['payout.completed', 'payment_intent.captured'] },
]
/** Failures after which the service may still have accepted the request. */
const UNKNOWN = ['connection_lost', 'unanswered', 'unreadable_answer', '504 timeout']
const READ_BACK_MAX = 100

export async function openSystem(
  stack: Stack,
  client: Client,
  { plans = FINAL_EVENTS, fixtures: given, audited = true }: SystemOptions = {},
) {
  const connections = stack.partners.map((key) =>
    connect({ ...credentialsOf(stack.sandbox, 'Service'), ...key }),
  )
  const receivers = await startReceivers()
  client.hearFrom(await receivers.port())
  const partners: (PartnerKey & { readonly fixtures: Fixtures })[] = []
  for (const [index, key] of stack.partners.entries()) {
    partners.push({ ...key, fixtures: given ?? (await createFixtures(connections[index]!)) })
  }
  const before = await untilQuiet(stack.dataDir, stack.store)
  const endpoints = await register(receivers, connections, plans)
  let accepted: Accepted = NOTHING_ACCEPTED
  let unknown = 0

  return {
    ...{ stack, receivers, partners },
    /** Adds a window's outcome to the accounts. */
    account: (outcome: Outcome): void => {
      accepted = acceptedBy([accepted, outcome.accepted])
      const { failed } = outcome.summary
      unknown += UNKNOWN.reduce((sum, code) => sum + (failed[code] ?? 0), 0)
    },
    /** Waits until payments have ended and webhooks are delivered. */
    quiet: async (): Promise<void> => void (await untilQuiet(stack.dataDir, stack.store)),
    /** Likewise, then checks the accounts, reads some intents back and runs the audit. */
    settle: async (): Promise<Accounts> => {
      const claims = async () => {
        const received = await receivers.received()
        return { accepted, unknown, endpoints, received }
      }
      const accounts = await checkAccounts(stack.dataDir, stack.store, before, claims, audited)
      const missing = await readBack(connections, accepted.samples)
      return { ...accounts, faults: [...accounts.faults, ...missing] }
    },
    close: async (): Promise<void> => {
      // Undelivered webhooks become dead letters.
      for (const { id, partner } of endpoints)
        await partner.request('DELETE', `/v1/webhook_endpoints/${id}`)
      await receivers.stop()
      await stack.stop()
    },
  }
}

/** Faults of acknowledged, unchanged intents; in a soak test some expire. */
async function readBack(
  partners: readonly Connection[],
  ids: readonly string[],
): Promise<string[]> {
  const faults: string[] = []
  const { amount_usd_cents: cents } = INTENT_TERMS
  const every = Math.ceil(ids.length / READ_BACK_MAX)
  for (const id of ids.filter((_, index) => index % every === 0)) {
    const path = `/v1/payment_intents/${id}`
    const answers = await Promise.all(partners.map((partner) => partner.request('GET', path)))
    const { status, body } = answers.find((answer) => answer.status === 200) ?? answers[0]!
    const found = body as Readonly<Record<string, unknown>>
    const isOpen = ['created', 'expired'].includes(found['status'] as string)
    const expected = Object.entries({ intent_id: id, amount_usd_cents: cents })
    if (status === 200 && isOpen && expected.every(([name, value]) => found[name] === value))
      continue
    faults.push(`${id} was acknowledged and cannot be read back: ${status}`)
  }
  return faults
}
