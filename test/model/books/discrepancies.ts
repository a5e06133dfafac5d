/** The model of discrepancies: reports that contradict the books, and their settlement. */
import type { BooksModel, Change, Code } from './model.js'
import type { ModelPayout } from './payouts.js'

const CURRENCY = 'VND'

export interface ReportedMove {
  readonly status: 'executed' | 'returned'
  readonly transaction: string
  readonly amount: bigint
  readonly account: string
}

export type Report = ReportedMove | { readonly status: 'not_found' | 'refused' }

export const isMove = (report: Report): report is ReportedMove =>
  report.status === 'executed' || report.status === 'returned'

export const SETTLEMENTS = [
  'keep',
  'undo',
  'charge_partner',
  'credit_partner',
  'write_off',
] as const
export type Settlement = (typeof SETTLEMENTS)[number]

export interface ModelDiscrepancy {
  readonly payout: ModelPayout
  /** Null means that no money has moved. */
  readonly moved: 'paid' | 'returned' | null
  readonly amount: bigint
  settlement: Settlement | null
}

/** The same facts are one discrepancy. Money that moved is in suspense until it is settled. */
export function reportOf(model: BooksModel, payout: ModelPayout, report: Report): void {
  const facts = isMove(report) ? `${report.transaction} ${report.amount}` : ''
  const key = `${payout.number} ${report.status} ${facts}`
  if (model.discrepancies.has(key)) return
  const moved = !isMove(report) ? null : report.status === 'executed' ? 'paid' : 'returned'
  const amount = isMove(report) ? report.amount : 0n
  model.discrepancies.set(key, { payout, moved, amount, settlement: null })
  if (moved === 'paid') model.ledger.move(CURRENCY, 'suspense', 'rail_clearing', amount)
  if (moved === 'returned') model.ledger.move(CURRENCY, 'rail_clearing', 'suspense', amount)
}

/** Only a settlement that moves money of the partner or of ours needs a second operator. */
export const needsMoney = (settlement: Settlement): boolean =>
  settlement !== 'keep' && settlement !== 'undo'

export function settlementOf(
  model: BooksModel,
  id: string,
  discrepancy: ModelDiscrepancy,
  settlement: Settlement,
): Change {
  const { moved, amount } = discrepancy
  const refusal = (): Code | null => {
    const isKept = discrepancy.settlement === 'keep' && settlement !== 'keep'
    if (discrepancy.settlement !== null && !isKept) return 'discrepancy_settled'
    if (settlement === 'keep') return null
    const isOfOther =
      (settlement === 'charge_partner' && moved !== 'paid') ||
      (settlement === 'credit_partner' && moved !== 'returned')
    if (moved === null || isOfOther) return 'settlement_not_possible'
    const isCharge = settlement === 'charge_partner'
    if (isCharge && model.ledger.of(CURRENCY, 'prefund') < amount) return 'insufficient_balance'
    return null
  }
  const apply = (): void => {
    discrepancy.settlement = settlement
    if (settlement === 'keep' || moved === null) return
    const source = { undo: 'rail_clearing', write_off: 'funding' } as const
    const from = source[settlement as 'undo'] ?? ('prefund' as const)
    model.ledger.move(CURRENCY, from, 'suspense', moved === 'paid' ? amount : -amount)
  }
  return { key: `settle ${id} ${settlement}`, currency: CURRENCY, amount, refusal, apply }
}
