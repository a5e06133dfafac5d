/**
 * Concurrent calls in one batch, in every order: confirm, cancel, the deadline, re-mint, another
 * scan, a second confirm.
 *
 * - Exactly one of confirm, cancel and expiry wins; while the rail is down a cancel may still undo
 *   a confirm.
 * - After a cancel nothing is debited and nothing is sent to the rail.
 */
import t, { type Test } from 'tap'
import { openHarness, pass, setRail, step, type Harness } from './harness.js'
import { auditRun, endRun } from './final_audit.js'
import { INTENT_TTL } from './contract_rules.js'
import { MERCHANT_CODES } from './merchant_codes.js'
import type { ModelIntent } from './model.js'
import { cancel, remint, timer, type ModelOperation } from './operations.js'
import { confirmOf, createOf, scanned } from './payments.js'
import { openSharedWorld } from './shared_world.js'

const START = Date.UTC(2026, 10, 21, 3)

const CALLS: Readonly<Record<string, (intent: ModelIntent) => ModelOperation>> = {
  confirm: (intent) => confirmOf(intent, 0, 'a'),
  confirmAgain: (intent) => confirmOf(intent, 0, 'a'),
  confirmOther: (intent) => confirmOf(intent, 1, 'b'),
  cancel: (intent) => cancel({ by: 'owner', intent }),
  deadline: timer,
  remint: (intent) =>
    remint({ by: 'owner', intent, user: intent.user, verified: true, clean: true }),
  rescan: (intent) => scanned(intent, MERCHANT_CODES.thaiStatic, '72000'),
}

const RACES = [
  ['confirm', 'cancel', 'deadline', 'remint', 'rescan'],
  ['confirm', 'confirmAgain', 'confirmOther', 'cancel', 'rescan'],
]

/** Milliseconds before the deadline; the rail. */
const CONDITIONS = [
  { name: 'in time', early: 1, railUp: true },
  { name: 'in time, rail down', early: 1, railUp: false },
  { name: 'at the deadline', early: 0, railUp: true },
]

for (const calls of RACES) {
  for (const { name, early, railUp } of CONDITIONS) {
    t.test(`${calls.join(', ')}; ${name}`, async (t) => {
      const shared = await openSharedWorld(t)
      const start = { at: START, prefund: 1_000_000_000n, nearly: 'none', left: 0n } as const
      const harness = await openHarness(shared, start)
      const orders = permutationsOf(calls)
      const intents = await readyToConfirm(harness, orders.length)
      setRail(harness, railUp)
      pass(harness, START + INTENT_TTL - early)
      for (const [index, order] of orders.entries()) {
        const intent = intents[index]!
        await step(
          harness,
          order.map((call) => CALLS[call]!(intent)),
        )
        checkOutcome(t, harness, intent, { order, early, railUp })
      }
      await endRun(harness)
      await auditRun(harness)
    })
  }
}

/** Each intent has its own user, two tokens and a quote that expires after it. */
async function readyToConfirm(harness: Harness, count: number): Promise<readonly ModelIntent[]> {
  const users = Array.from({ length: count }, (_, index) => `user ${index}`)
  await step(
    harness,
    users.map((user) => createOf({ user, corridor: 'th_promptpay' }, 5_000)),
  )
  pass(harness, START + INTENT_TTL - 60_000)
  const { intents } = harness.model
  await step(
    harness,
    intents.map((intent) => scanned(intent, MERCHANT_CODES.thaiStatic, '36000')),
  )
  await step(
    harness,
    intents.map((intent) => CALLS.remint!(intent)),
  )
  return intents
}

interface Race {
  readonly order: readonly string[]
  readonly early: number
  readonly railUp: boolean
}

/** Checks events and instructions; the harness has compared them with the model. */
function checkOutcome(t: Test, { log }: Harness, { id }: ModelIntent, race: Race): void {
  const events = log.events
    .filter(({ body }) => body.includes(`"${id}"`))
    .map(({ type }) => type.replace('payment_intent.', ''))
  const instructed = log.instructions.filter(
    (sent) => sent.kind === 'instruct' && sent.instruction.id === id,
  )
  t.same(events, expectedOf(race), race.order.join(', '))
  const isSubmitted = events.length === 1 && events[0] === 'authorized' && race.railUp
  t.equal(instructed.length, isSubmitted ? 1 : 0)
}

function expectedOf({ order, early, railUp }: Race): readonly string[] {
  if (early === 0) return order.includes('deadline') ? ['expired'] : []
  const [winner] = order.filter((call) => call.startsWith('confirm') || call === 'cancel')
  if (winner === 'cancel') return ['cancelled']
  return railUp ? ['authorized'] : ['authorized', 'cancelled']
}

function permutationsOf(calls: readonly string[]): readonly (readonly string[])[] {
  if (calls.length < 2) return [calls]
  return calls.flatMap((first, index) =>
    permutationsOf(calls.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  )
}
