/**
 * The reasons for which a QR code is rejected, and the wire code of each.
 *
 * - A reason is a constant without any part of a payload, so it may go to logs and metrics.
 * - Every reason has exactly one wire code; the compiler checks it.
 */
import type { ErrorCode } from '../base/errors.js'

const WIRE_CODES = {
  payload_empty: 'qr_malformed',
  payload_too_long: 'qr_malformed',
  /** White space or controls before or after the code, which the checksum does not cover. */
  payload_whitespace: 'qr_malformed',
  /** Characters that could misrepresent a receipt, or code points that are not characters. */
  payload_charset: 'qr_malformed',
  payload_format_missing: 'qr_malformed',
  payload_format_unsupported: 'qr_malformed',

  checksum_missing: 'qr_checksum_invalid',
  checksum_mismatch: 'qr_checksum_invalid',

  tlv_malformed: 'qr_malformed',
  tlv_length_zero: 'qr_malformed',
  tlv_truncated: 'qr_malformed',
  tlv_duplicate_tag: 'qr_malformed',

  poi_invalid: 'qr_malformed',

  scheme_missing: 'qr_scheme_unsupported',
  scheme_unsupported: 'qr_scheme_unsupported',
  /** A valid code of the other corridor. */
  scheme_mismatch: 'qr_scheme_unsupported',
  service_unsupported: 'qr_scheme_unsupported',
  destination_invalid: 'qr_scheme_unsupported',
  destination_ambiguous: 'qr_scheme_unsupported',

  currency_missing: 'qr_currency_mismatch',
  currency_mismatch: 'qr_currency_mismatch',
  country_missing: 'qr_country_mismatch',
  country_mismatch: 'qr_country_mismatch',
  mcc_invalid: 'qr_malformed',

  /** The fee objects contradict each other. */
  fee_inconsistent: 'qr_malformed',
  /** The merchant adds a fee: paying without it underpays, paying it exceeds the amount. */
  fee_unsupported: 'qr_scheme_unsupported',

  /** The language template without its name. */
  language_name_missing: 'qr_malformed',

  amount_malformed: 'qr_malformed',
  amount_decimals: 'qr_malformed',
  amount_zero: 'qr_malformed',
  dynamic_amount_missing: 'qr_malformed',

  /** The caller's amount is not the one in the code. */
  amount_mismatch: 'qr_amount_mismatch',
  /** Neither the code nor the caller states an amount. */
  amount_required: 'local_amount_required',
} as const satisfies Record<string, ErrorCode>

export type QrReason = keyof typeof WIRE_CODES

export const wireCodeOf = (reason: QrReason): ErrorCode => WIRE_CODES[reason]

export interface Rejected<Reason extends QrReason = QrReason> {
  readonly ok: false
  readonly reason: Reason
}

/** The result of a parsing step: its value, or the reason for a rejection. */
export type Step<Value> = { readonly ok: true; readonly value: Value } | Rejected

export const found = <Value>(value: Value): Step<Value> => ({ ok: true, value })

export const rejected = <Reason extends QrReason>(reason: Reason): Rejected<Reason> => ({
  ok: false,
  reason,
})
