/**
 * First pages as they were last written, for those who ask again and again.
 *
 * Owns: what was written, beside the rows it was written of. Does not own: reading, writing.
 *
 * - Rows are read every time. Only the same rows of the same list are the same page, so nothing
 *   that is kept is ever out of date.
 * - Bounded in number and size: the page that was asked for longest ago is forgotten first.
 */

export interface FirstPageCache {
  /**
   * @param list names all that a page depends on besides its rows
   * @param rows as text
   */
  page(list: string, rows: string, write: () => string): string
}

const PAGES_MAX = 128
/** Characters of its rows: a hundred usual payouts take some seventy thousand. */
const ROWS_MAX = 96 * 1024

export function createFirstPageCache(): FirstPageCache {
  /** In the order in which they were asked for. */
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
