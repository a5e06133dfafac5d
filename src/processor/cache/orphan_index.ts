/**
 * Orphan executions in memory: instructions the rail executed that are missing from restored books.
 *
 * - Open orphans are indexed by currency and amount, so checking a payment is one lookup.
 */
import type { Row } from '../../store/tables.js'

export type Orphan = Row<'orphans'>

export interface OrphanIndex {
  get(instruction: string): Orphan | undefined
  set(orphan: Orphan): void
  /** Open orphans of this amount. */
  openOf(currency: string, amount: bigint): readonly Orphan[]
  readonly open: number
}

export function createOrphanIndex(): OrphanIndex {
  const all = new Map<string, Orphan>()
  const openByAmount = new Map<string, Map<string, Orphan>>()
  let open = 0

  const set = (orphan: Orphan): void => {
    const key = keyOf(orphan.currency, orphan.amount)
    const known = all.get(orphan.instruction)
    if (known?.status === 'open') {
      openByAmount.get(key)?.delete(orphan.instruction)
      open -= 1
    }
    all.set(orphan.instruction, orphan)
    if (orphan.status !== 'open') return
    const equal = openByAmount.get(key) ?? new Map<string, Orphan>()
    openByAmount.set(key, equal.set(orphan.instruction, orphan))
    open += 1
  }

  return {
    get: (instruction) => all.get(instruction),
    set,
    openOf: (currency, amount) => {
      if (open === 0) return NONE
      return [...(openByAmount.get(keyOf(currency, amount))?.values() ?? NONE)]
    },
    get open() {
      return open
    },
  }
}

const NONE: readonly Orphan[] = []

const keyOf = (currency: string, amount: bigint): string => `${currency} ${amount}`
