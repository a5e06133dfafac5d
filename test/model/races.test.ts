/**
 * Concurrent calls in one batch, in every order: confirm, cancel, the deadline, re-mint, another
 * scan, a second confirm.
 *
 * - Exactly one of confirm, cancel and expiry wins; while the rail is down a cancel may still undo
 *   a confirm.
 * - After a cancel nothing is debited, and nothing leaves for the rail.
 */
import t, { type Test } from 'tap'
import { openHarness, pass, setRail, step, type Harness } from './harness.js'
import { auditRun, endRun } from './final_audit.js'
import { INTENT_TTL } from './observations.js'
import { MERCHANT_CODES } from './merchant_codes.js'
import type { ModelIntent } from './model.js'
import type { ModelOperation } from './operations.js'
import { openSharedWorld } from './shared_world.js'

const START = Date.UTC(2026, 10, 21, 3)

const MOVES: Readonly<Record<string, (intent: ModelIntent) => ModelOperation>> = {
  confirm: (intent) => confirmation(intent, 0, 'a'),
  confirmAgain: (intent) => confirmation(intent, 0, 'a'),
  confirmOther: (intent) => confirmation(intent, 1, 'b'),
  cancel: (intent) => ({ kind: 'cancel', by: 'owner', intent }),
  deadline: (intent) => ({ kind: 'timer', intent }),
  remint: (intent) => ({
    kind: 'remint',
    by: 'owner',
    intent,
    user: intent.user,
    verified: true,
    clean: true,
  }),
  rescan: (intent) => scan(intent, '72000'),
}

const confirmation = (intent: ModelIntent, token: number, key: string): ModelOperation => ({
  kind: 'confirm',
  by: 'owner',
  intent,
  jti: intent.jtis[token] ?? '',
  key,
  quoteId: null,
  quoteVersion: null,
})

const scan = (intent: ModelIntent, amount: string): ModelOperation => ({
  kind: 'scan',
  by: 'owner',
  intent,
  jti: intent.jtis[0] ?? '',
  code: MERCHANT_CODES.thaiStatic,
  amount,
  acknowledged: false,
})

const create = (user: string): ModelOperation => ({
  kind: 'create',
  user,
  cents: 5_000,
  corridor: 'th_promptpay',
  verified: true,
  clean: true,
  key: null,
})

const RACES = [
  ['confirm', 'cancel', 'deadline', 'remint', 'rescan'],
  ['confirm', 'confirmAgain', 'confirmOther', 'cancel', 'rescan'],
]

/** Milliseconds before the deadline; the rail. */
const CIRCUMSTANCES = [
  { name: 'in time', early: 1, railUp: true },
  { name: 'in time, the rail away', early: 1, railUp: false },
  { name: 'at the deadline', early: 0, railUp: true },
]

for (const moves of RACES) {
  for (const { name, early, railUp } of CIRCUMSTANCES) {
    void t.test(`${moves.join(', ')}; ${name}`, async (t) => {
      const shared = await openSharedWorld(t)
      const start = { at: START, prefund: 1_000_000_000n, nearly: 'none', left: 0n } as const
      const harness = await openHarness(shared, start)
      const instructions = instructionsOf(moves)
      const intents = await readyToConfirm(harness, instructions.length)
      setRail(harness, railUp)
      pass(harness, START + INTENT_TTL - early)
      for (const [index, instruction] of instructions.entries()) {
        const intent = intents[index]!
        await step(
          harness,
          instruction.map((move) => MOVES[move]!(intent)),
        )
        judgeOutcome(t, harness, intent, { instruction, early, railUp })
      }
      await endRun(harness)
      await auditRun(harness)
    })
  }
}

/** Each intent has its own user, two tokens and a quote that expires after it. */
async function readyToConfirm(harness: Harness, count: number): Promise<readonly ModelIntent[]> {
  const users = Array.from({ length: count }, (_, index) => `user ${index}`)
  await step(harness, users.map(create))
  pass(harness, START + INTENT_TTL - 60_000)
  const { intents } = harness.model
  await step(
    harness,
    intents.map((intent) => scan(intent, '36000')),
  )
  await step(
    harness,
    intents.map((intent) => MOVES.remint!(intent)),
  )
  return intents
}

interface Race {
  readonly instruction: readonly string[]
  readonly early: number
  readonly railUp: boolean
}

/** Judged by events and instructions; the harness has compared them with the model. */
function judgeOutcome(t: Test, { log }: Harness, { id }: ModelIntent, race: Race): void {
  const told = log.events
    .filter(({ body }) => body.includes(`"${id}"`))
    .map(({ type }) => type.replace('payment_intent.', ''))
  const instructed = log.instructions.filter(
    (instruction) => instruction.kind === 'instruct' && instruction.instruction.id === id,
  )
  t.same(told, expectedOf(race), race.instruction.join(', '))
  const wasPaid = told.length === 1 && told[0] === 'authorized' && race.railUp
  t.equal(instructed.length, wasPaid ? 1 : 0)
}

function expectedOf({ instruction, early, railUp }: Race): readonly string[] {
  if (early === 0) return instruction.includes('deadline') ? ['expired'] : []
  const [winner] = instruction.filter((move) => move.startsWith('confirm') || move === 'cancel')
  if (winner === 'cancel') return ['cancelled']
  return railUp ? ['authorized'] : ['authorized', 'cancelled']
}

function instructionsOf(moves: readonly string[]): readonly (readonly string[])[] {
  if (moves.length < 2) return [moves]
  return moves.flatMap((first, place) =>
    instructionsOf(moves.toSpliced(place, 1)).map((rest) => [first, ...rest]),
  )
}
