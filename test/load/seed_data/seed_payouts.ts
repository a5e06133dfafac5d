/**
 * Payouts of a past: most completed, some refused, a few returned by the bank; and live ones.
 */
import { createPayout } from '../../../src/processor/commands/payouts/payout_create.js'
import type { PayoutId } from '../../../src/base/ids.js'
import { aPayout } from '../../support/requests.js'
import { DEMO, viewOf, type World } from '../../support/world.js'
import type { SeedRail } from './seed_rail.js'

export interface SeedPayouts {
  readonly ids: readonly PayoutId[]
  /** As they stand in a query. */
  readonly references: readonly string[]
  live(count: number): Promise<void>
  /** Held for review. */
  leaveHeld(count: number): Promise<void>
  /** Handed over, and the rail does not answer. */
  leaveStuck(count: number): Promise<void>
}

/** The first beneficiaries; after them three whom the rail refuses, and one it never answers. */
export const PAYEES = 200
const REFUSED = 3
/** So few that each of them fills a page of a list, also in books of 10,000. */
const REFERENCES = 400
const REFUSED_EVERY = 25
const RETURNED_EVERY = 50
const AMOUNT = 100_000

const referenceOf = (index: number): string =>
  `invoice ${String(index % REFERENCES).padStart(4, '0')}`

export function createSeedPayouts(
  world: World,
  rail: SeedRail,
  beneficiaries: readonly string[],
): SeedPayouts {
  const ids: PayoutId[] = []

  const create = async (
    count: number,
    payeeOf: (index: number) => number,
    reference: (index: number) => string = referenceOf,
  ): Promise<readonly PayoutId[]> => {
    const first = ids.length
    const { beneficiary: _none, ...payout } = aPayout()
    const commands = Array.from({ length: count }, (_, place) => {
      const index = first + place
      return createPayout(DEMO, {
        ...payout,
        idempotency_key: `seed-${index}`,
        amount: String(AMOUNT + (index % 1_000) * 100),
        beneficiary_id: beneficiaries[payeeOf(index)] ?? '',
        reference: reference(index),
      })
    })
    const made = (await world.runAll(commands)).map((answer) => viewOf<{ id: PayoutId }>(answer).id)
    ids.push(...made)
    return made
  }
  const usualPayee = (index: number): number =>
    index % REFUSED_EVERY === 0 ? PAYEES + ((index / REFUSED_EVERY) % REFUSED) : index % PAYEES

  return {
    ids,
    references: Array.from({ length: REFERENCES }, (_, index) =>
      encodeURIComponent(referenceOf(index)),
    ),
    live: async (count) => {
      const first = ids.length
      const made = await create(count, usualPayee)
      await rail.settle()
      const returned = made.filter((_, place) => (first + place) % RETURNED_EVERY === 1)
      rail.tell(returned.map((id) => ({ kind: 'simulate', id, outcome: 'reversed' })))
      await rail.settle()
    },
    leaveHeld: async (count) => {
      await create(
        count,
        (index) => index % PAYEES,
        () => 'sandbox:review',
      )
    },
    leaveStuck: async (count) => {
      await create(count, () => PAYEES + REFUSED)
      await rail.settle()
    },
  }
}
