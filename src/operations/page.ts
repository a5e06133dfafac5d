/**
 * Lists, a page at a time: how one is asked for and shown.
 */
import { table } from './terminal.js'

/** What every list takes. */
export const PAGE = ['cursor'] as const

/** What a list is asked with. */
export const page = (cursor: string | undefined): { cursor?: string } =>
  cursor === undefined ? {} : { cursor }

export interface Listing {
  readonly rows: readonly (readonly string[])[]
  /** Columns that are set to the right. */
  readonly toTheRight: readonly number[]
  /** What is said of no rows. */
  readonly empty: string
}

/** The rows, and where the next page begins. */
export function pageLines(
  { rows, toTheRight, empty }: Listing,
  next: string | undefined,
): string[] {
  if (rows.length === 0) return [empty]
  return [table(rows, toTheRight), ...(next === undefined ? [] : [`more: --cursor ${next}`])]
}
