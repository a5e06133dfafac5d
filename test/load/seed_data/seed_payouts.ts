/** Historical payouts: most completed, some failed, a few reversed by the bank; and open ones. */
import type { PayoutId } from '../../../src/base/ids.js'
import { createPayout } from '../../../src/processor/commands/payouts/payout_create.js'
import { aPayout } from '../../support/requests.js'
import { DEMO, viewOf, type World } from '../../support/world.js'
import type { SeedRail } from './seed_rail.js'

export type SeedPayouts = ReturnType<typeof createSeedPayouts>

/** The first beneficiaries; then three that the rail rejects, and one that it never answers. */
export const BENEFICIARIES = 200
export const SPECIAL_ACCOUNTS = ['9990000001', '9990000002', '9990000003', '9990000008']
const REJECTED = 3
/** Few enough that each fills a page of a list, also with 10,000 payouts. */
const REFERENCES = 400
const REJECTED_EVERY = 25
const REVERSED_EVERY = 50
const AMOUNT = 100_000

const referenceOf = (index: number): string =>
  `invoice ${String(index % REFERENCES).padStart(4, '0')}`

const beneficiaryOf = (index: number): number =>
  index % REJECTED_EVERY === 0
    ? BENEFICIARIES + ((index / REJECTED_EVERY) % REJECTED)
    : index % BENEFICIARIES

export function createSeedPayouts(world: World, rail: SeedRail, beneficiaries: readonly string[]) {
  const ids: PayoutId[] = []
  const create = async (
    count: number,
    beneficiary: (index: number) => number,
    reference = referenceOf,
  ): Promise<readonly PayoutId[]> => {
    const first = ids.length
    const { beneficiary: _none, ...payout } = aPayout()
    const commands = Array.from({ length: count }, (_, place) => {
      const index = first + place
      return createPayout(DEMO, {
        ...payout,
        idempotency_key: `seed-${index}`,
        amount: String(AMOUNT + (index % 1_000) * 100),
        beneficiary_id: beneficiaries[beneficiary(index)] ?? '',
        reference: reference(index),
      })
    })
    const made = (await world.runAll(commands)).map((answer) => viewOf<{ id: PayoutId }>(answer).id)
    ids.push(...made)
    return made
  }
  return {
    ids,
    references: Array.from({ length: REFERENCES }, (_, index) =>
      encodeURIComponent(referenceOf(index)),
    ),
    writeEnded: async (count: number): Promise<void> => {
      const first = ids.length
      const made = await create(count, beneficiaryOf)
      await rail.settle()
      const reversed = made.filter((_, place) => (first + place) % REVERSED_EVERY === 1)
      rail.instruct(reversed.map((id) => ({ kind: 'simulate', id, outcome: 'reversed' })))
      await rail.settle()
    },
    /** Held for review. */
    writeHeld: async (count: number): Promise<void> => {
      const held = () => 'sandbox:review'
      await create(count, (index) => index % BENEFICIARIES, held)
    },
    /** Submitted, and the rail does not answer. */
    writeUnanswered: async (count: number): Promise<void> => {
      await create(count, () => BENEFICIARIES + REJECTED)
      await rail.settle()
    },
  }
}
