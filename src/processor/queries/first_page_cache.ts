/**
 * Cache of serialized first pages, which clients poll.
 *
 * Does not own: reading rows, serializing them.
 *
 * - Rows are read on every request. A page is reused only for the same rows of the same list, so it
 *   is never stale.
 * - Bounded in number and size; the least recently requested page is evicted first.
 */

export interface FirstPageCache {
  /**
   * @param list identifies everything but the rows that the page depends on
   * @param rows as text
   */
  page(list: string, rows: string, write: () => string): string
}

const PAGES_MAX = 128
/** Characters of the rows of a page: 100 typical payouts take about 70,000. */
const ROWS_MAX = 96 * 1024

export function createFirstPageCache(): FirstPageCache {
  /** Least recently requested first. */
  const known = new Map<string, { readonly rows: string; readonly written: string }>()
  return {
    page: (list, rows, write) => {
      const last = known.get(list)
      known.delete(list)
      const page = last?.rows === rows ? last : { rows, written: write() }
      if (rows.length <= ROWS_MAX) known.set(list, page)
      if (known.size > PAGES_MAX) known.delete(known.keys().next().value!)
      return page.written
    },
  }
}
