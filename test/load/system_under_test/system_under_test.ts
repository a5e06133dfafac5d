/**
 * A stack with all that a load needs around it: receivers, stock, and its books as they were.
 *
 * Owns: setting it up, and settling the accounts at the end. Does not own: the load.
 */
import { reckon, untilQuiet, type FinalAccounts } from './accounts.js'
import type { Client, Outcome } from '../client/client.js'
import { NOTHING_ACKNOWLEDGED, type Acknowledged } from '../scenarios/scenario.js'
import type { ScenarioName, ScenarioOrder } from '../scenarios/scenarios.js'
import type { Stack } from './programs.js'
import {
  startReceiver,
  unregister,
  type Endpoint,
  type EndpointPlan,
  type Receiver,
} from './webhook_receivers.js'
import { layIn, type Fixtures } from '../scenarios/fixtures.js'

export interface SystemUnderTest {
  readonly stack: Stack
  readonly receiver: Receiver
  readonly endpoints: readonly Endpoint[]
  orderOf(scenario: ScenarioName, options: OrderOptions): ScenarioOrder
  /** Each window's outcome, for the accounts. */
  took(outcome: Outcome): void
  /** Waits until payments have ended and webhooks are delivered. */
  quiet(): Promise<void>
  /** The same, then adds up; then the audit. */
  settle(): Promise<FinalAccounts>
  close(): Promise<void>
}

export interface OrderOptions {
  readonly withIdempotencyKey: boolean
  readonly awaitsWebhooks: boolean
}

/** A partner who wants to know what became of its money, and no more. */
export const ONE_RECEIVER: readonly EndpointPlan[] = [
  { manner: 'prompt', events: ['payout.completed', 'payment_intent.captured'] },
]

/** Answers that may have been lost on their way. */
const LOST = ['connection_lost', 'unanswered', 'unreadable_answer', '504 timeout']

export async function openSystem(
  stack: Stack,
  client: Client,
  plans: readonly EndpointPlan[],
): Promise<SystemUnderTest> {
  const receiver = await startReceiver()
  client.hearFrom(receiver.ports(client.threads))
  const fixtures = await layIn(stack.sandbox)
  const before = await untilQuiet(stack.dataDir)
  const endpoints = await receiver.register(stack.sandbox, plans)
  let acknowledged: Acknowledged = NOTHING_ACKNOWLEDGED
  let unknown = 0

  return {
    stack,
    receiver,
    endpoints,
    orderOf: (name, options) => orderOf(stack, fixtures, name, options),
    took: ({ summary, acknowledged: more }) => {
      acknowledged = {
        intents: acknowledged.intents + more.intents,
        payouts: acknowledged.payouts + more.payouts,
        samples: [...acknowledged.samples, ...more.samples],
      }
      unknown += LOST.reduce((sum, code) => sum + (summary.failed[code] ?? 0), 0)
    },
    quiet: async () => {
      await untilQuiet(stack.dataDir)
    },
    settle: () =>
      reckon(stack.dataDir, before, async () => {
        const seen = await receiver.seen()
        return { acknowledged, unknown, endpoints, seen }
      }),
    close: async () => {
      await unregister(stack.sandbox, endpoints)
      await receiver.stop()
    },
  }
}

function orderOf(
  { sandbox }: Stack,
  fixtures: Fixtures,
  name: ScenarioName,
  options: OrderOptions,
): ScenarioOrder {
  const { host, key_id: keyId, signing_secret: secret } = sandbox
  return { name, host, keyId, secret, fixtures, ...options }
}
