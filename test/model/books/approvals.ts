/**
 * The model of changes that need a second operator.
 *
 * - What an operator has moved alone in a currency since the UTC day began counts.
 * - A request lasts a day, and equal requests are one.
 */
import type { BooksModel, Change, Code } from './model.js'

const DAY = 86_400_000
/** Minor units from which one operator is not enough. */
export const SECOND_OPERATOR_FROM: Readonly<Record<string, bigint>> = {
  USD: 100_000n,
  VND: 12_000_000n,
}

export interface ModelRequest {
  readonly change: Change
  readonly by: string
  readonly at: number
  /** The id that the product has chosen. */
  readonly id: string
  status: 'pending' | 'approved' | 'rejected'
}

export interface ApprovalsModel {
  readonly requests: ModelRequest[]
  /** By `operator currency`, on `day`. */
  readonly alone: Map<string, bigint>
  day: number
}

export const noApprovals = (): ApprovalsModel => ({ requests: [], alone: new Map(), day: 0 })

const isPending = ({ now }: BooksModel, { status, at }: ModelRequest): boolean =>
  status === 'pending' && now < at + DAY

function aloneSums(model: BooksModel): Map<string, bigint> {
  const { approvals, now } = model
  const day = Math.floor(now / DAY)
  if (day > approvals.day) approvals.alone.clear()
  approvals.day = Math.max(approvals.day, day)
  return approvals.alone
}

/** The answer to a change of one operator, which is made if it may be. */
export function changeBy(model: BooksModel, operator: string, change: Change): Code {
  const refusal = change.refusal()
  if (refusal === 'replayed') return 'ok'
  if (refusal !== null) return refusal
  const sums = aloneSums(model)
  const key = `${operator} ${change.currency}`
  const sum = (sums.get(key) ?? 0n) + change.amount
  if (sum >= (SECOND_OPERATOR_FROM[change.currency] ?? 0n)) return 'second_operator_required'
  change.apply()
  sums.set(key, sum)
  return 'ok'
}

/** Called with the id of the request that the product names. @returns why it is wrong, or null */
export function noteRequest(
  model: BooksModel,
  operator: string,
  change: Change,
  id: string,
): string | null {
  const { requests } = model.approvals
  const known = requests.find((each) => each.change.key === change.key && isPending(model, each))
  if (known !== undefined) return known.id === id ? null : `${id} repeats ${known.id}`
  if (requests.some((each) => each.id === id)) return `${id} is of another request`
  requests.push({ change, by: operator, at: model.now, id, status: 'pending' })
  return null
}

export function approve(model: BooksModel, operator: string, request: ModelRequest): Code {
  if (request.status !== 'pending') return 'approval_request_decided'
  if (!isPending(model, request)) return 'approval_request_expired'
  if (request.by === operator) return 'approver_is_requester'
  const refusal = request.change.refusal()
  if (refusal !== null && refusal !== 'replayed') return refusal
  if (refusal === null) request.change.apply()
  request.status = 'approved'
  return 'ok'
}

export function reject(model: BooksModel, request: ModelRequest): Code {
  if (request.status !== 'pending') return 'approval_request_decided'
  if (!isPending(model, request)) return 'approval_request_expired'
  request.status = 'rejected'
  return 'ok'
}
