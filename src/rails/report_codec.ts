/**
 * Encodes rail reports as messages, and decodes and checks those that a rail sends.
 *
 * - A malformed report is dropped and the instruction's outcome stays unknown. It is never read as
 *   a refusal.
 * - Each member is bounded (rails/wire_validators); the channel bounds the message as a whole.
 */
import type { Report, Report__Output } from '../../protos/types/causeway/rail/v1/Report.js'
import { REFUSALS, type RailReport } from './rail.js'
import {
  isCurrency,
  isEffectId,
  isName,
  isText,
  oneOf,
  readAmount,
  readEnvironment,
  readRouted,
} from './wire_validators.js'

export function writeReport(report: RailReport): Report {
  const { id, status, environment = '', shard, rail, route } = report
  const of = {
    ...(shard === undefined ? {} : { shard }),
    ...(rail === undefined ? {} : { rail }),
    ...(route === undefined ? {} : { route }),
  }
  const about = { id, status, report_id: report.reportId ?? '', environment, ...of }
  switch (status) {
    case 'accepted':
    case 'not_found':
    case 'recall_refused':
      return about
    case 'refused':
      return { ...about, refusal: report.refusal }
    case 'executed':
    case 'returned':
      return {
        ...about,
        transaction_id: report.transactionId,
        amount: report.amount.toString(),
        currency: report.currency,
        destination_account: report.destinationAccount,
        destination_bank: report.destinationBank ?? '',
      }
  }
}

/** @returns undefined when any member violates the contract */
export function readReport(wire: Report__Output): RailReport | undefined {
  const { id, status, report_id: reportId, currency } = wire
  const environment = readEnvironment(wire.environment)
  if (!isEffectId(id) || environment === undefined) return undefined
  if (reportId !== '' && !isName(reportId)) return undefined
  const { shard } = wire
  const routed = readRouted(wire)
  if ((shard !== '' && !isName(shard)) || routed === undefined) return undefined
  const about = {
    id,
    reportId: reportId === '' ? null : reportId,
    ...(wire.environment === '' ? {} : { environment }),
    ...(shard === '' ? {} : { shard }),
    ...routed,
  }

  switch (status) {
    case 'accepted':
    case 'not_found':
    case 'recall_refused':
      return { ...about, status }
    case 'refused': {
      const refusal = oneOf(REFUSALS, wire.refusal)
      return refusal && { ...about, status, refusal }
    }
    case 'executed':
    case 'returned': {
      const amount = readAmount(wire.amount)
      const { transaction_id: transactionId, destination_account: destinationAccount } = wire
      const { destination_bank: bank } = wire
      if (amount === undefined || !isCurrency(currency)) return undefined
      if (!isName(transactionId) || !isText(destinationAccount)) return undefined
      if (bank !== '' && !isName(bank)) return undefined
      return {
        ...{ ...about, status, transactionId, amount, currency, destinationAccount },
        ...(bank === '' ? {} : { destinationBank: bank }),
      }
    }
    default:
      return undefined
  }
}
