/** Requests and output of paginated lists. */
import { table } from './terminal.js'

/** Options of every list. */
export const PAGE = ['cursor'] as const

/** Pagination of a list request. */
export const page = (cursor: string | undefined): { cursor?: string } =>
  cursor === undefined ? {} : { cursor }

export interface Listing {
  readonly rows: readonly (readonly string[])[]
  /** Column indexes. */
  readonly rightAligned: readonly number[]
  /** Printed when there are no rows. */
  readonly empty: string
}

/** A corrupt row is named, in place of its cells. */
export const rowOrName =
  <Entry extends { readonly corrupt?: string }>(rowOf: (entry: Entry) => string[]) =>
  (entry: Entry): string[] =>
    entry.corrupt === undefined ? rowOf(entry) : [`${entry.corrupt}: corrupt row`]

/** The rows, and where the next page begins. */
export function pageLines(
  { rows, rightAligned, empty }: Listing,
  next: string | undefined,
): string[] {
  if (rows.length === 0 && next === undefined) return [empty]
  const more = next === undefined ? [] : [`more: --cursor ${next}`]
  return rows.length === 0 ? more : [table(rows, rightAligned), ...more]
}
