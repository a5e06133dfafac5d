/**
 * Encodes rail reports as messages, and decodes and checks those that a rail sends.
 *
 * - A malformed report is dropped and the instruction's outcome stays unknown. It is never read as
 *   a refusal.
 * - Each member is bounded (rails/wire_validators); the channel bounds the message as a whole.
 */
import type { Report, Report__Output } from '../../protos/types/causeway/rail/v1/Report.js'
import { REFUSALS, type Execution, type RailReport, type Unfinished } from './rail.js'
import {
  addRouted,
  isCurrency,
  isEffectId,
  isName,
  isRouted,
  isText,
  oneOf,
  readAmount,
  readEnvironment,
} from './wire_validators.js'

export function writeReport(report: RailReport): Report {
  const { id, status, environment = '', shard, rail, route } = report
  const wire: Report = { id, status, report_id: report.reportId ?? '', environment }
  if (shard !== undefined) wire.shard = shard
  if (rail !== undefined) wire.rail = rail
  if (route !== undefined) wire.route = route
  switch (report.status) {
    case 'accepted':
    case 'not_found':
    case 'recall_refused':
      break
    case 'refused':
      wire.refusal = report.refusal
      break
    case 'executed':
    case 'returned':
      wire.transaction_id = report.transactionId
      wire.amount = report.amount.toString()
      wire.currency = report.currency
      wire.destination_account = report.destinationAccount
      wire.destination_bank = report.destinationBank ?? ''
  }
  return wire
}

/** @returns undefined when any member violates the contract */
export function readReport(wire: Report__Output): RailReport | undefined {
  const { id, report_id: reportId } = wire
  const environment = readEnvironment(wire.environment)
  if (!isEffectId(id) || environment === undefined) return undefined
  if (reportId !== '' && !isName(reportId)) return undefined
  const { shard } = wire
  if ((shard !== '' && !isName(shard)) || !isRouted(wire)) return undefined
  const report = readStatus(wire, { id, reportId: reportId === '' ? null : reportId })
  if (report === undefined) return undefined
  if (wire.environment !== '') report.environment = environment
  if (shard !== '') report.shard = shard
  addRouted(report, wire)
  return report
}

type Named = Pick<RailReport, 'id' | 'reportId'>

/** The members that go with its status. */
function readStatus(
  wire: Report__Output,
  { id, reportId }: Named,
): Unfinished<RailReport> | undefined {
  const { status, currency } = wire

  switch (status) {
    case 'accepted':
    case 'not_found':
    case 'recall_refused':
      return { id, reportId, status }
    case 'refused': {
      const refusal = oneOf(REFUSALS, wire.refusal)
      return refusal && { id, reportId, status, refusal }
    }
    case 'executed':
    case 'returned': {
      const amount = readAmount(wire.amount)
      const { transaction_id: transactionId, destination_account: destinationAccount } = wire
      const { destination_bank: bank } = wire
      if (amount === undefined || !isCurrency(currency)) return undefined
      if (!isName(transactionId) || !isText(destinationAccount)) return undefined
      if (bank !== '' && !isName(bank)) return undefined
      const report: Unfinished<Extract<RailReport, Execution>> = {
        id,
        reportId,
        status,
        transactionId,
        amount,
        currency,
        destinationAccount,
      }
      if (bank !== '') report.destinationBank = bank
      return report
    }
    default:
      return undefined
  }
}
