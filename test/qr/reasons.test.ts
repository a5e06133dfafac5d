/** The public code of each reason for a rejected code. */
import t from 'tap'
import { isErrorCode } from '../../src/base/errors.js'
import { wireCodeOf, type QrReason } from '../../src/qr/reasons.js'

/** Written out a second time: a change of a public code must change this table. */
const CODES: Readonly<Record<QrReason, string>> = {
  payload_empty: 'qr_malformed',
  payload_too_long: 'qr_malformed',
  payload_whitespace: 'qr_malformed',
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
  scheme_mismatch: 'qr_scheme_unsupported',
  service_unsupported: 'qr_scheme_unsupported',
  destination_invalid: 'qr_scheme_unsupported',
  destination_ambiguous: 'qr_scheme_unsupported',
  currency_missing: 'qr_currency_mismatch',
  currency_mismatch: 'qr_currency_mismatch',
  country_missing: 'qr_country_mismatch',
  country_mismatch: 'qr_country_mismatch',
  mcc_invalid: 'qr_malformed',
  fee_inconsistent: 'qr_malformed',
  fee_unsupported: 'qr_scheme_unsupported',
  language_name_missing: 'qr_malformed',
  amount_malformed: 'qr_malformed',
  amount_decimals: 'qr_malformed',
  amount_zero: 'qr_malformed',
  dynamic_amount_missing: 'qr_malformed',
  amount_mismatch: 'qr_amount_mismatch',
  amount_required: 'local_amount_required',
}

t.test('each reason has its public code', async (t) => {
  for (const [reason, code] of Object.entries(CODES)) {
    t.equal(wireCodeOf(reason as QrReason), code, reason)
    t.ok(isErrorCode(code), code)
  }
})
