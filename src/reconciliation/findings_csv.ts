/**
 * Findings as CSV for spreadsheets: one finding per line with both sides. Amounts are minor units.
 */
import { csvLine } from '../base/csv.js'
import { toRfc3339 } from '../base/clock.js'
import type { Finding } from './compare.js'
import type { BookedMovement, StatementLine } from './movement.js'
import type { BadLine } from './statement.js'

export const FINDINGS_HEAD = csvLine([
  'status',
  'instruction_id',
  ...[
    'stated_movement',
    'stated_currency',
    'stated_amount',
    'stated_time',
    'transaction_id',
    'line',
  ],
  ...['booked_movement', 'booked_currency', 'booked_amount', 'booked_time'],
  'remark',
])

export function findingLine(finding: Finding | BadLine): string {
  if ('fault' in finding) {
    const cells = ['', '', '', '', '', String(finding.line), '', '', '', '']
    return csvLine(['bad_line', '', ...cells, finding.fault])
  }
  const stated = 'stated' in finding ? finding.stated : null
  const booked = 'booked' in finding ? finding.booked : null
  return csvLine([
    finding.status,
    stated?.instruction ?? booked?.instruction ?? '',
    ...cellsOf(stated),
    stated?.transactionId ?? '',
    stated === null ? '' : String(stated.line),
    ...cellsOf(booked),
    'differs' in finding ? `other ${finding.differs.join(', ')}` : '',
  ])
}

function cellsOf(moved: StatementLine | BookedMovement | null): readonly string[] {
  if (moved === null) return ['', '', '', '']
  return [moved.movement, moved.currency, moved.amount.toString(), toRfc3339(moved.at)]
}
