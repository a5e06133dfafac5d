/** The tables of error codes in the guides, from the registry. */
import {
  OPERATOR_ERROR_HELP,
  PARTNER_ERROR_HELP,
  type ErrorHelp,
} from '../../src/base/error_reference.js'
import { ERRORS, isErrorCode } from '../../src/base/errors.js'
import { withTable } from './guide_table.js'

const PARTNER_HEAD = '| Code | HTTP | When | What to do | Retry |'
const OPERATOR_HEAD = '| Code | HTTP | gRPC status | When | What to do | Retry |'

export const withPartnerErrors = (guide: string): string =>
  withErrors(guide, PARTNER_HEAD, PARTNER_ERROR_HELP, (code, [cause, action]) => [
    ...[`\`${code}\``, String(ERRORS[code].http), cause, action, retryOf(code)],
  ])

export const withOperatorErrors = (guide: string): string =>
  withErrors(guide, OPERATOR_HEAD, OPERATOR_ERROR_HELP, (code, [cause, action]) => [
    ...[`\`${code}\``, String(ERRORS[code].http), ERRORS[code].grpc],
    ...[cause, action, retryOf(code)],
  ])

const retryOf = (code: keyof typeof ERRORS): string => (ERRORS[code].retryable ? 'yes' : 'no')

function withErrors(
  guide: string,
  head: string,
  help: Readonly<Record<string, ErrorHelp>>,
  rowOf: (code: keyof typeof ERRORS, help: ErrorHelp) => readonly string[],
): string {
  const rows = Object.entries(help).map(([code, of]) => {
    if (!isErrorCode(code)) throw new Error(`${code} is not in the registry`)
    return rowOf(code, of)
  })
  return withTable(guide, head, rows)
}
