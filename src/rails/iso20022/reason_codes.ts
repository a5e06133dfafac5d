/**
 * The reason codes of ISO 20022 in the rail's words.
 *
 * - A code that is not here, or none, is `rejected`. The code itself is kept for operators.
 * - Only a rejection of the payment itself is looked up here. `NOT_KNOWN` and `DUPLICATE` are
 *   none: they say nothing about the payment.
 */
import type { RailRefusal } from '../rail.js'

const CODES: Readonly<Record<string, readonly string[]>> = {
  account_not_found: ['AC01', 'AC03'],
  account_closed: ['AC04'],
  destination_refused: ['AC06', 'AG01', 'AG03'],
  name_mismatch: ['BE01', 'BE04', 'BE05'],
  unsupported_destination: ['RC01', 'RC03', 'RC04'],
  amount_refused: ['AM02', 'AM03', 'AM14'],
  rail_unavailable: ['AM04', 'AB05', 'AB06', 'AB07', 'AB08', 'AB09', 'AB10', 'TM01'],
  compliance_rejected: ['FR01', 'RR04'],
  rejected: ['MS02', 'MS03', 'NARR'],
} satisfies Partial<Record<RailRefusal, readonly string[]>>

const REFUSALS = new Map(
  Object.entries(CODES).flatMap(([refusal, codes]) =>
    codes.map((code) => [code, refusal as RailRefusal] as const),
  ),
)

/** The bank does not know the payment. */
export const NOT_KNOWN = 'NOOR'
/** The bank had the message before. */
const DUPLICATE = ['AM05', 'DUPL', 'DU01', 'DU03', 'DU04', 'DU05']
/** Our own account at the bank has too little. */
export const NO_FUNDS = 'AM04'
/** In an answer to a recall: the money was returned before. */
export const ALREADY_RETURNED = 'ARDT'

export const refusalOf = (code: string | undefined): RailRefusal =>
  REFUSALS.get(code ?? '') ?? 'rejected'

export const isKnownRefusal = (code: string | undefined): boolean => REFUSALS.has(code ?? '')
export const saysDuplicate = (code: string | undefined): boolean => DUPLICATE.includes(code ?? '')
