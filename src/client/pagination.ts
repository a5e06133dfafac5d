/**
 * Lists as async iterators: items one by one or page by page, requested as they are read.
 */

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

/** One page per iteration; a page can be short or empty without being the last one. */
export interface List<Item, P> extends AsyncIterable<Item> {
  pages(): AsyncIterable<P>
  /** The first items, at most so many. Iterating reads all of them, page after page. */
  take(count: number): Promise<readonly Item[]>
}

/** The parameters of every list with cursors. */
export interface PageFilter {
  /** Page size, 1 to 100. */
  readonly limit?: number
  /** `next_cursor` of a page, to continue after it. */
  readonly cursor?: string
}

type Filter = Readonly<Record<string, string | number | undefined>>

type Get = <T>(path: string) => Promise<T>

export interface DataPage<Item> {
  readonly data: readonly Item[]
}

/** A list with cursors. */
export const cursorList = <Item>(get: Get, path: string, filter: object): List<Item, Page<Item>> =>
  listOf<Item, Page<Item>>(get, path, filter, ({ next_cursor }) =>
    next_cursor === null ? null : ['cursor', next_cursor],
  )

/** A list by numbers; it ends at the newest item. */
export const numberedList = <Item, P extends NumberedPage<Item>>(
  get: Get,
  path: string,
  filter: object,
): List<Item, P> =>
  listOf<Item, P>(get, path, filter, ({ has_more, next_after }) =>
    has_more ? ['after', String(next_after)] : null,
  )

export interface NumberedPage<Item> extends DataPage<Item> {
  readonly next_after: number
  readonly has_more: boolean
}

/** A list that is one page. */
export const onlyPage = <Item>(get: Get, path: string): List<Item, DataPage<Item>> =>
  listOf<Item, DataPage<Item>>(get, path, {}, () => null)

/** @param nextOf the parameter that names the next page; null after the last one */
function listOf<Item, P extends DataPage<Item>>(
  get: Get,
  path: string,
  filter: object,
  nextOf: (page: P) => readonly [parameter: string, value: string] | null,
): List<Item, P> {
  async function* pages(): AsyncGenerator<P> {
    const query = queryOf(filter as Filter)
    for (;;) {
      const text = query.toString()
      const page = await get<P>(text === '' ? path : `${path}?${text}`)
      yield page
      const next = nextOf(page)
      if (next === null) return
      query.set(...next)
    }
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const { data } of pages()) yield* data
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    take: async (count) => {
      const taken: Item[] = []
      if (count <= 0) return taken
      for await (const item of items()) if (taken.push(item) >= count) break
      return taken
    },
  }
}

function queryOf(filter: Filter): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query
}
