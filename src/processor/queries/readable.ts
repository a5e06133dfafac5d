/** Views of stored rows; a corrupt row has none and does not fail the page. */
import { instant, isMoment, toRfc3339 } from '../../base/clock.js'
import { CorruptRow, named } from '../../base/corrupt_row.js'
import type { QueryContext } from './query.js'

/** @throws CorruptRow when it is null or belongs to another row */
export function contextOf<Context extends { readonly id: string }>(
  id: string,
  context: Context | null,
): Context {
  if (context?.id === id) return context
  throw new CorruptRow(id, 'its context cannot be read')
}

export interface Viewed<R, View extends object = object> {
  readonly row: R
  /** Null means that the row is corrupt. */
  readonly view: View | null
}

/** A view depends on its row only, so a view that throws has a corrupt row. */
export const viewed = <R extends { readonly id: string }, View extends object>(
  rows: readonly R[],
  { reportCorrupt }: Pick<QueryContext, 'reportCorrupt'>,
  viewOf: (row: R) => View,
): readonly Viewed<R, View>[] =>
  rows.map((row) => {
    try {
      return { row, view: viewOf(row) }
    } catch (error) {
      reportCorrupt(row.id, error)
      return { row, view: null }
    }
  })

/** Empty when the moment is impossible; what it is of is marked as corrupt (`marked`). */
export const momentText = (at: number): string => (isMoment(at) ? toRfc3339(instant(at)) : '')

/** `captured, corrupt` when the moment of the row is impossible. */
export const marked = (text: string, at: number): string =>
  isMoment(at) ? text : [text, 'corrupt'].filter((each) => each !== '').join(', ')

/** The view of a row of an operators' list; a corrupt row is only named, as `action 17`. */
export const viewOrName =
  <R>(
    { reportCorrupt }: Pick<QueryContext, 'reportCorrupt'>,
    viewOf: (row: R) => object,
    nameOf: (row: R) => string,
  ): ((row: R) => object) =>
  (row) => {
    try {
      return viewOf(row)
    } catch (error) {
      reportCorrupt(nameOf(row), error)
      return named(nameOf(row))
    }
  }

/** @param corruptView the view of a corrupt row; without it corrupt rows are omitted */
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
