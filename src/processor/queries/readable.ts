/**
 * Views of stored rows, of which some may be corrupt: those have none, and the page goes on.
 */
import { CorruptRow } from '../../base/corrupt_row.js'
import type { Reading } from './query.js'

/** @param context parsed; @throws CorruptRow when it is not that of the row */
export function contextIn<Context extends { readonly id: string }>(
  id: string,
  context: unknown,
): Context {
  const found = context as Context | null
  if (found?.id === id) return found
  throw new CorruptRow(id, 'its context cannot be read')
}

export interface Viewed<R> {
  readonly row: R
  /** Null: the row is corrupt. */
  readonly view: object | null
}

/** A view reads nothing but its row: one that throws has a corrupt row. */
export const viewed = <R extends { readonly id: string }>(
  rows: readonly R[],
  { reportCorrupt }: Pick<Reading, 'reportCorrupt'>,
  viewOf: (row: R) => object,
): readonly Viewed<R>[] =>
  rows.map((row) => {
    try {
      return { row, view: viewOf(row) }
    } catch (error) {
      reportCorrupt(row.id, error)
      return { row, view: null }
    }
  })

/** What a page shows of them. @param corruptView what stands for a corrupt row; none: nothing */
export const shapeOfViewed = <R extends { readonly id: string }>(
  corruptView?: (row: R) => object,
): {
  view(viewed: Viewed<R>): object
  shows(viewed: Viewed<R>): boolean
  positionOf(viewed: Viewed<R>): string
} => ({
  view: ({ row, view }) => view ?? corruptView?.(row) ?? {},
  shows: ({ view }) => view !== null || corruptView !== undefined,
  positionOf: ({ row }) => row.id,
})
