/**
 * Movements of money at a rail, and the figures of a set of them: a statement and its rail have the
 * same figures when they have the same movements. The same figures are kept of accepted
 * instructions, which have not moved money yet.
 *
 * - Figures do not depend on the order of the movements.
 */
import { createHash } from 'node:crypto'

export const MOVEMENTS = ['executed', 'returned'] as const
export type MovementKind = (typeof MOVEMENTS)[number]

/** What a line of a statement says about an instruction. `accepted`: it may still be executed. */
export const ACCEPTED = 'accepted'
export const LINE_KINDS = [...MOVEMENTS, ACCEPTED] as const
export type LineKind = (typeof LINE_KINDS)[number]

export interface Moved {
  /** The id of our payment. */
  readonly instruction: string
  readonly movement: MovementKind
  /** As written; the rail's may not be in ISO 4217. */
  readonly currency: string
  /** Minor units, positive. */
  readonly amount: bigint
}

export interface MovementSum {
  readonly currency: string
  readonly movement: LineKind
  readonly count: number
  /** Minor units. */
  readonly amount: bigint
}

export interface MovementFigures {
  /** Ordered by currency, then movement. */
  readonly sums: readonly MovementSum[]
  /**
   * The sum modulo 2^256 of the SHA-256 of each movement's `instruction movement currency amount`,
   * as 64 hex digits.
   */
  readonly digest: string
}

/** An instruction that the rail has accepted, and neither executed nor refused. */
export interface AcceptedInstruction extends Omit<Moved, 'movement'> {
  readonly movement: typeof ACCEPTED
}

export interface MovementTally {
  add(line: Moved | AcceptedInstruction): void
  figures(): MovementFigures
}

const DIGEST_BITS = 256
const DIGEST_DIGITS = 64

export function createMovementTally(): MovementTally {
  const sums = new Map<string, MovementSum>()
  let digests = 0n
  return {
    add: ({ instruction, movement, currency, amount }) => {
      const key = `${currency} ${movement}`
      const sum = sums.get(key) ?? { currency, movement, count: 0, amount: 0n }
      sums.set(key, { ...sum, count: sum.count + 1, amount: sum.amount + amount })
      const text = `${instruction} ${movement} ${currency} ${amount}`
      digests += BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
    },
    figures: () => ({ sums: inOrder(sums), digest: digestOf(digests) }),
  }
}

/** The figures of several sets of movements that have none in common. */
export function mergedFigures(sets: readonly MovementFigures[]): MovementFigures {
  const sums = new Map<string, MovementSum>()
  let digests = 0n
  for (const set of sets) {
    digests += BigInt(`0x${set.digest}`)
    for (const { currency, movement, count, amount } of set.sums) {
      const key = `${currency} ${movement}`
      const sum = sums.get(key) ?? { currency, movement, count: 0, amount: 0n }
      sums.set(key, { ...sum, count: sum.count + count, amount: sum.amount + amount })
    }
  }
  return { sums: inOrder(sums), digest: digestOf(digests) }
}

const inOrder = (sums: ReadonlyMap<string, MovementSum>): readonly MovementSum[] =>
  [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)

const digestOf = (digests: bigint): string =>
  BigInt.asUintN(DIGEST_BITS, digests).toString(16).padStart(DIGEST_DIGITS, '0')

interface Counted {
  readonly sums: readonly { readonly count: number }[]
}

export const countIn = ({ sums }: Counted): number =>
  sums.reduce((total, { count }) => total + count, 0)
