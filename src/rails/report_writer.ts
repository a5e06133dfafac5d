/**
 * Reports in the words of the wire: the side of a rail process.
 *
 * Owns: the mapping of a RailReport to its message. Does not own: batching (rails/batching_writer).
 */
import type { Report } from '../../protos/types/causeway/rail/v1/Report.js'
import type { RailReport } from './rail.js'

export function writeReport(report: RailReport): Report {
  const { id, status, environment = '' } = report
  const about = { id, status, report_id: report.reportId ?? '', environment }
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
      }
  }
}
