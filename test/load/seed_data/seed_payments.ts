/** Historical payments of both kinds: the outcomes that ended ones have, and open ones. */
import { MINUTE, SECOND } from '../../../src/base/clock.js'
import type { IntentId, PayoutId } from '../../../src/base/ids.js'
import { createBeneficiary } from '../../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { cancelIntent } from '../../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../../src/processor/commands/intents/intent_create.js'
import { refundIntent } from '../../../src/processor/commands/intents/intent_refund.js'
import { scanIntent } from '../../../src/processor/commands/intents/intent_scan.js'
import { createPayout } from '../../../src/processor/commands/payouts/payout_create.js'
import { fireIntentTimer } from '../../../src/processor/commands/rail_reports/timer_fire.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { anIntent, aPayout, payeeOf, promptPayQr } from '../../support/requests.js'
import { ACCOUNTS, ENDINGS } from '../../support/sandbox_outcomes.js'
import type { SandboxRail } from '../../support/sandbox_rail.js'
import { DEMO, viewOf, type World } from '../../support/world.js'

/** Writes the payments of one kind. */
export interface SeedPayments {
  /** The ids of all so far. */
  readonly ids: readonly string[]
  writeEnded(count: number): Promise<void>
  writeOpen(count: number): Promise<void>
}

interface Numbered<Id> {
  readonly id: Id
  /** From 0, in the order of creation. */
  readonly index: number
}

/** Runs commands as one batch. @returns their views; none is refused */
const accepted = async <View>(world: World, commands: readonly Command[]): Promise<View[]> =>
  (await world.runAll(commands)).map((answer) => viewOf<View>(answer))

function numbered<Name extends string, Id>(world: World, idName: Name) {
  const ids: Id[] = []
  const create = async (count: number, command: (index: number) => Command) => {
    const first = ids.length
    const commands = Array.from({ length: count }, (_, index) => command(first + index))
    const views = await accepted<Record<Name, Id>>(world, commands)
    ids.push(...views.map((view) => view[idName]))
    return views.map((view, index): Numbered<Id> => ({ id: view[idName], index: first + index }))
  }
  return { ids, create }
}

/** How many of a hundred end so. */
const SHARES = { captured: 60, expired: 28, cancelled: 6, failed: 3, refunded: 3 }
type Outcome = keyof typeof SHARES
const OUTCOMES = Object.entries(SHARES).flatMap(([outcome, share]) =>
  Array.from({ length: share }, () => outcome as Outcome),
)
const outcomeOf = (index: number): Outcome => OUTCOMES[index % OUTCOMES.length]!

const USERS = 5_000
const AMOUNT_MIN = 10_000
const JTI = 'token'

/** Open intents are created, and not confirmed yet. */
export function createSeedIntents(world: World, rail: SandboxRail): SeedPayments {
  const { ids, create } = numbered<'intent_id', IntentId>(world, 'intent_id')
  const qr_payload = promptPayQr()
  const intent = (index: number): Command => {
    const ending = outcomeOf(index) === 'failed' ? ENDINGS.refused : ENDINGS.usual
    const partner_user_id = `user-${index % USERS}${ending}`
    return createIntent(DEMO, anIntent({ partner_user_id, idempotency_key: `seed-${index}` }))
  }
  const scan = ({ id, index }: Numbered<IntentId>): Command => {
    const local_amount_minor_units = String(AMOUNT_MIN + (Math.floor(index / USERS) % 10_000))
    const scanned = { qr_payload, local_amount_minor_units, duplicate_confirmed: false }
    return scanIntent(DEMO, { intent_id: id, session_jti: JTI, ...scanned }, world.clock.now())
  }
  const confirm = ({ id }: Numbered<IntentId>): Command => {
    const given = { intent_id: id, session_jti: JTI, idempotency_key: `confirm ${id}` }
    return confirmIntent(DEMO, given, world.clock.now())
  }
  const runAll = async (commands: readonly Command[]): Promise<void> => {
    await accepted(world, commands)
    world.clock.pass(SECOND)
  }
  return {
    ids,
    writeEnded: async (count) => {
      const made = await create(count, intent)
      const of = (...outcomes: readonly Outcome[]) =>
        made.filter(({ index }) => outcomes.includes(outcomeOf(index)))
      const confirmed = of('captured', 'failed', 'refunded')
      await runAll(confirmed.map(scan))
      await runAll(confirmed.map(confirm))
      await rail.settle()
      await runAll(of('cancelled').map(({ id }) => cancelIntent(DEMO, id)))
      await runAll(of('refunded').map(({ id }) => refundIntent(DEMO, id, `refund ${id}`)))
      await rail.settle()
      world.clock.pass(31 * MINUTE)
      await runAll(of('expired').map(({ id }) => fireIntentTimer(id)))
    },
    writeOpen: async (count) => void (await create(count, intent)),
  }
}

/** The first beneficiaries; then one that the rail never answers, and three that it rejects. */
export const BENEFICIARIES = 200
const { stuck, closed, notFound, nameMismatch } = ACCOUNTS
/** Few enough that each fills a page of a list, also with 10,000 payouts. */
const REFERENCES = 400
const REJECTED_EVERY = 25
const REVERSED_EVERY = 50
const PAYOUT_MIN = 100_000
const UNANSWERED_EVERY = 5

const referenceOf = (index: number): string =>
  `invoice ${String(index % REFERENCES).padStart(4, '0')}`
/** URL-encoded. */
export const REFERENCE_TEXTS = Array.from({ length: REFERENCES }, (_, index) =>
  encodeURIComponent(referenceOf(index)),
)

export async function createBeneficiaries(world: World): Promise<readonly string[]> {
  const ordinary = Array.from({ length: BENEFICIARIES }, (_, index) => String(100_000_000 + index))
  const commands = [...ordinary, stuck, closed, notFound, nameMismatch].map((account, index) =>
    createBeneficiary(DEMO, payeeOf(account, { name: `Nguyen Van ${index}` })),
  )
  return (await accepted<{ id: string }>(world, commands)).map(({ id }) => id)
}

/** Four of five open payouts are held for review, and one has no answer of the rail. */
export function createSeedPayouts(
  world: World,
  rail: SandboxRail,
  beneficiaries: readonly string[],
): SeedPayments {
  const { ids, create } = numbered<'id', PayoutId>(world, 'id')
  const { beneficiary: _none, ...terms } = aPayout()
  const [unanswered = '', ...rejected] = beneficiaries.slice(BENEFICIARIES)
  const ordinary = (index: number): string => beneficiaries[index % BENEFICIARIES]!
  const payout = (index: number, beneficiary_id: string, reference = referenceOf(index)): Command =>
    createPayout(DEMO, {
      ...{ ...terms, reference, beneficiary_id, idempotency_key: `seed-${index}` },
      amount: String(PAYOUT_MIN + (index % 1_000) * 100),
    })
  return {
    ids,
    writeEnded: async (count) => {
      const made = await create(count, (index) => {
        const isRejected = index % REJECTED_EVERY === 0
        return payout(index, isRejected ? rejected[(index / REJECTED_EVERY) % 3]! : ordinary(index))
      })
      await rail.settle()
      const reversed = made.filter(({ index }) => index % REVERSED_EVERY === 1)
      for (const { id } of reversed)
        world.railInstructions.push({ kind: 'simulate', id, outcome: 'reversed' })
      await rail.settle()
    },
    writeOpen: async (count) => {
      const stuck = Math.floor(count / UNANSWERED_EVERY)
      await create(count - stuck, (index) => payout(index, ordinary(index), 'sandbox:review'))
      await create(stuck, (index) => payout(index, unanswered))
      await rail.settle()
    },
  }
}
