/**
 * Pagination: the limit and cursor of a list request, and the page in its answer.
 *
 * - A page reads one row more than it shows, to find out whether there is a next page.
 * - A page of long rows ends early, but holds at least one row. The next page begins after its last
 *   row.
 */
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, PAGE_BYTES } from '../../base/constants.js'
import { invalid } from '../../base/errors.js'
import { answer, type Answer } from '../cycle/answer.js'
import type { Vault } from '../keys/vault.js'

/** As received. */
export interface PageRequest {
  readonly limit?: number
  readonly cursor?: string
}

/** A page request that is valid for its list. */
export interface CheckedPage {
  /** The list: operation, tenant and filters. */
  readonly list: string
  readonly limit: number
  /** The last position of the previous page; null on the first page. */
  readonly after: string | null
}

/** The gateway checks the limit, so a partner's request has a wrong cursor. */
export const INVALID_PAGE: Answer = invalid(
  'query/cursor',
  'must be the next_cursor of the same list with the same filters',
)

/** @returns null when the limit is out of range or the cursor is not valid for this list */
export function pageOf(
  vault: Vault,
  list: string,
  { limit, cursor }: PageRequest,
): CheckedPage | null {
  const size = limit ?? LIST_LIMIT_DEFAULT
  if (size < 1 || size > LIST_LIMIT_MAX) return null
  if (cursor === undefined) return { list, limit: size, after: null }
  const after = vault.cursors.open(list, cursor)
  return after === undefined ? null : { list, limit: size, after }
}

/** @param rows up to one more than the page's limit */
export const answerPage = <R>(
  vault: Vault,
  page: CheckedPage,
  rows: readonly R[],
  shape: Shape<R>,
): Answer => answer(pageView(vault, page, rows, shape))

export interface Shape<R> {
  view(row: R): object
  positionOf(row: NoInfer<R>): string
  /** False means that the row counts toward the page but is omitted from it. */
  shows?(row: NoInfer<R>): boolean
  /** Approximate size of a row. Omit it when 100 rows are far below PAGE_BYTES. */
  bytesOf?(row: NoInfer<R>): number
}

/** @param scanEnd where a bounded search ended without a full page, undefined if at the end */
export function pageView<R>(
  vault: Vault,
  { list, limit }: CheckedPage,
  rows: readonly R[],
  { view, positionOf, shows = () => true, bytesOf = () => 0 }: Shape<R>,
  scanEnd?: string,
): object {
  const shown = firstOf(rows.slice(0, limit), bytesOf)
  const last = shown.at(-1)
  const hasMore = rows.length > shown.length && last !== undefined
  const next = hasMore ? positionOf(last) : (scanEnd ?? null)
  return {
    data: shown.filter(shows).map(view),
    next_cursor: next === null ? null : vault.cursors.make(list, next),
  }
}

/** The leading rows that fit into PAGE_BYTES, at least one. */
export function firstOf<R>(rows: readonly R[], bytesOf: (row: R) => number): readonly R[] {
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += bytesOf(row)) > PAGE_BYTES)
  return end === -1 ? rows : rows.slice(0, Math.max(end, 1))
}

export const jsonBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))
