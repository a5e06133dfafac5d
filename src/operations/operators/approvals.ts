/** Commands about changes that a second operator must approve. */
import type { ApprovalRequest__Output as ApprovalRequest } from '../../../protos/types/causeway/operator/v1/ApprovalRequest.js'
import type { ApprovedRequest__Output as Approved } from '../../../protos/types/causeway/operator/v1/ApprovedRequest.js'
import { CHANGE, deciderOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { callerReport } from './callers.js'
import { issuedReport } from '../partners/changes.js'
import { dismissElsewhere } from './approved_match.js'
import type { CliCommand, Context, Report } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { settingReport } from '../shards/shared_settings.js'
import { table } from '../cli/terminal.js'

export const approvalsList: CliCommand = {
  usage: 'approvals list',
  about: 'changes that wait for a second operator; --resolved: decided and expired ones',
  options: ['resolved'],
  run: async ({ approvals, flags }) => {
    const list = await approvals.call('List', { resolved: flags.resolved ?? false })
    const head = ['id', 'change', 'amount', 'requested by', 'until', 'status', 'reason']
    const lines = list.data.length === 0 ? ['There are no requests.'] : [tableOf(head, list.data)]
    return { value: list, lines }
  },
}

const tableOf = (head: string[], requests: readonly ApprovalRequest[]): string =>
  table([head, ...requests.map(rowOrName(rowOf))], [2])

function rowOf(request: ApprovalRequest): string[] {
  const { id, operation, subject, requested_by, expires_at, reason } = request
  const { status, decided_by: decidedBy } = request
  const { evidence } = JSON.parse(request.arguments) as { evidence?: string }
  return [
    ...[id, `${operation} ${subject}`, moneyOf(request), requested_by, expires_at],
    decidedBy === undefined ? status : `${status} by ${decidedBy}`,
    evidence === undefined ? reason : `${reason} (${evidence})`,
  ]
}

const moneyOf = ({ currency, amount }: ApprovalRequest): string =>
  currency === undefined || amount === undefined ? '' : formatWireAmount(currency, amount)

/** `apr_…: approved, deposit demo_sandbox wire-7, USD 2,500.00` */
function decidedLine(request: ApprovalRequest): string {
  const { id, status, operation, subject } = request
  const parts = [`${id}: ${status}`, `${operation} ${subject}`, moneyOf(request)]
  return parts.filter((part) => part !== '').join(', ')
}

export const approvalsApprove: CliCommand = {
  usage: 'approvals approve REQUEST',
  about: 'make a change that another operator has requested',
  options: [...CHANGE, 'token-file'],
  run: async (context, [id = '']) => {
    const actor = deciderOf(context)
    const done = await context.approvals.call('Approve', { actor, id })
    const report = approvedReport(context, done)
    if (done.orphan !== null && context.access.shards !== undefined) {
      const left = await dismissElsewhere(context.recovery, actor, done)
      const lines = [...report.lines, ...left]
      return { ...report, lines, exitCode: left.length === 0 ? 0 : 1 }
    }
    const set = done.rate ?? done.route ?? done.route_rail ?? done.submission_pause ?? done.caller
    const version = set?.settings_version
    if (version === undefined) return report
    const applied = await settingReport(context, version)
    return {
      ...applied,
      value: { ...report.value, ...applied.value },
      lines: [...report.lines, ...applied.lines],
      exitCode: Math.max(report.exitCode ?? 0, applied.exitCode ?? 0),
    }
  },
}

function approvedReport(context: Context, done: Approved): Report {
  const { request, release, caller, key } = done
  const head = request === null ? '' : decidedLine(request)
  if (caller !== null) {
    const issued = callerReport(context, caller)
    return {
      ...issued,
      value: { ...done, caller: issued.value },
      lines: [head, ...issued.lines],
    }
  }
  if (key !== null) {
    const issued = issuedReport(key)
    return { value: { ...done, key: issued.value }, lines: [head, ...issued.lines] }
  }
  if (release !== null) {
    const loss = release.loss.map((text) => `Accepted: ${text}.`)
    const restarts = `Recovery ${release.recovery} is released; the processor restarts.`
    return { value: done, lines: [head, restarts, ...loss] }
  }
  return { value: done, lines: [head] }
}

export const approvalsReject: CliCommand = {
  usage: 'approvals reject REQUEST',
  about: 'reject a request; also withdraws your own',
  options: CHANGE,
  run: async (context, [id = '']) => {
    const rejected = await context.approvals.call('Reject', { actor: deciderOf(context), id })
    return { value: rejected, lines: [decidedLine(rejected)] }
  },
}
