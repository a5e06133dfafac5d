/**
 * Pages: what a caller asks of a list, and the answer's shape.
 *
 * - A page reads one row more than it shows: whether there is a next page is known without
 *   counting.
 * - A page of long rows ends early, behind its first row at the earliest. The next one begins
 *   behind the last row that it shows.
 */
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, PAGE_BYTES } from '../../base/constants.js'
import { answer, type Answer } from '../cycle/answer.js'
import type { Vault } from '../keys/vault.js'

/** As it comes from the wire. */
export interface PageRequest {
  readonly limit?: number
  readonly cursor?: string
}

export interface Page {
  /** Which list: operation, tenant and filters. */
  readonly place: string
  readonly limit: number
  /** Where the page before ended; null: at the beginning. */
  readonly after: string | null
}

/** The page, or null when the limit or the cursor is none of this list. */
export function pageOf(vault: Vault, place: string, { limit, cursor }: PageRequest): Page | null {
  const size = limit ?? LIST_LIMIT_DEFAULT
  if (size < 1 || size > LIST_LIMIT_MAX) return null
  if (cursor === undefined) return { place, limit: size, after: null }
  const after = vault.cursors.open(place, cursor)
  return after === undefined ? null : { place, limit: size, after }
}

/** @param rows one more than the page's limit where there are as many */
export const answerPage = <R>(
  vault: Vault,
  page: Page,
  rows: readonly R[],
  shape: Shape<R>,
): Answer => answer(pageView(vault, page, rows, shape))

export interface Shape<R> {
  view(row: R): object
  positionOf(row: NoInfer<R>): string
  /** Rows that are walked past are of the page, but not in it. */
  shows?(row: NoInfer<R>): boolean
  /** What a row takes, near enough. Left out: a hundred of them are far below PAGE_BYTES. */
  bytesOf?(row: NoInfer<R>): number
}

export function pageView<R>(
  vault: Vault,
  { place, limit }: Page,
  rows: readonly R[],
  { view, positionOf, shows = () => true, bytesOf = () => 0 }: Shape<R>,
): object {
  const shown = firstOf(rows.slice(0, limit), bytesOf)
  const last = shown.at(-1)
  const next = rows.length > shown.length && last !== undefined ? positionOf(last) : null
  return {
    data: shown.filter(shows).map(view),
    next_cursor: next === null ? null : vault.cursors.make(place, next),
  }
}

/** As many rows as a page may hold, and at least one. */
export function firstOf<R>(rows: readonly R[], bytesOf: (row: R) => number): readonly R[] {
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += bytesOf(row)) > PAGE_BYTES)
  return end === -1 ? rows : rows.slice(0, Math.max(end, 1))
}

export const jsonBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))
