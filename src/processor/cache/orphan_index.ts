/**
 * Orphan executions in memory: instructions that the rail has executed, or has accepted and may
 * still execute, and that are missing from restored books.
 *
 * - Open orphans that hold payments are indexed by currency and amount, and by reference, so
 *   checking a payment is two lookups.
 */
import type { Row } from '../../store/tables.js'

export type Orphan = Row<'orphans'>

export interface OrphanIndex {
  get(instruction: string): Orphan | undefined
  /** The orphan that paid this payment: the one matched to it. */
  matchedTo(payment: string): Orphan | undefined
  set(orphan: Orphan): void
  /** Open orphans of this amount that hold payments. */
  openOf(currency: string, amount: bigint): readonly Orphan[]
  /** Open orphans with this reference that hold payments. */
  openNamed(reference: string): readonly Orphan[]
  /** Open orphans that the rail had accepted and that have not ended, as far as known. */
  accepted(): readonly Orphan[]
  /** Open orphans that hold payments, and matched ones, that no rail has reported. */
  unlocated(): readonly Orphan[]
  readonly open: number
}

export function createOrphanIndex(): OrphanIndex {
  const all = new Map<string, Orphan>()
  const byAmount = createOpenOrphans(({ currency, amount }) => keyOf(currency, amount))
  const byReference = createOpenOrphans(({ reference }) => comparableReference(reference) || null)
  const byPayment = new Map<string, Orphan>()
  let open = 0

  return {
    get: (instruction) => all.get(instruction),
    matchedTo: (payment) => byPayment.get(payment),
    set: (orphan) => {
      const known = all.get(orphan.instruction)
      all.set(orphan.instruction, orphan)
      if (orphan.matched_to !== null) byPayment.set(orphan.matched_to, orphan)
      if (known?.status === 'open') {
        byAmount.remove(known)
        byReference.remove(known)
        open -= 1
      }
      if (orphan.status !== 'open') return
      open += 1
      if (!holdsPayments(orphan)) return
      byAmount.add(orphan)
      byReference.add(orphan)
    },
    openOf: (currency, amount) => byAmount.of(keyOf(currency, amount)),
    openNamed: (reference) => byReference.of(comparableReference(reference)),
    accepted: () =>
      [...all.values()].filter(({ status, state }) => status === 'open' && state === 'accepted'),
    unlocated: () =>
      [...all.values()].filter(
        (orphan) =>
          orphan.rail === null &&
          (orphan.status === 'matched' || (orphan.status === 'open' && holdsPayments(orphan))),
      ),
    get open() {
      return open
    },
  }
}

/**
 * A reference as it is compared: banks change case, blanks, punctuation and accents. An empty one
 * says nothing.
 */
export const comparableReference = (reference: string | null): string =>
  (reference ?? '')
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase()

/** What the rail has refused or returned is no payment. */
export const holdsPayments = ({ state }: Orphan): boolean =>
  state === 'accepted' || state === 'executed'

/** @param keyOf null if the orphan is not in this index */
function createOpenOrphans(keyOf: (orphan: Orphan) => string | null) {
  const groups = new Map<string, Map<string, Orphan>>()
  return {
    /** By id: the stores read them in orders of their own. */
    of: (key: string): readonly Orphan[] =>
      [...(groups.get(key)?.values() ?? NONE)].sort((one, other) =>
        one.instruction < other.instruction ? -1 : 1,
      ),
    add: (orphan: Orphan): void => {
      const key = keyOf(orphan)
      if (key === null) return
      const group = groups.get(key) ?? new Map<string, Orphan>()
      groups.set(key, group.set(orphan.instruction, orphan))
    },
    remove: (orphan: Orphan): void => {
      const key = keyOf(orphan)
      if (key !== null) groups.get(key)?.delete(orphan.instruction)
    },
  }
}

const NONE: readonly Orphan[] = []

const keyOf = (currency: string, amount: bigint): string => `${currency} ${amount}`
