/** Pagination with rows of any size. */
import fc from 'fast-check'
import t from 'tap'
import { LIST_LIMIT_MAX, PAGE_BYTES } from '../../src/base/constants.js'
import { createCursors } from '../../src/processor/keys/cursors.js'
import type { Vault } from '../../src/processor/keys/vault.js'
import { pageOf, pageView } from '../../src/processor/queries/page.js'
import type { PageView } from './scenarios.js'

const cursors = createCursors([{ kid: 'k1', bytes: Buffer.alloc(32, 7) }])
const vault = { cursors } as unknown as Vault

interface Sized {
  readonly at: number
  readonly bytes: number
}

/** All pages in order. */
function pagesOf(rows: readonly Sized[], limit: number): (readonly Sized[])[] {
  const pages: (readonly Sized[])[] = []
  for (let request: { cursor?: string } = {}; ;) {
    const page = pageOf(vault, 'sized', { limit, ...request })!
    const from = page.after === null ? 0 : Number(page.after) + 1
    const { data, next_cursor } = pageView(vault, page, rows.slice(from, from + limit + 1), {
      view: (row) => row,
      positionOf: ({ at }) => String(at),
      bytesOf: ({ bytes }) => bytes,
    }) as PageView<Sized>
    pages.push(data)
    if (next_cursor === null) return pages
    request = { cursor: next_cursor }
  }
}

const sum = (rows: readonly Sized[]): number => rows.reduce((all, { bytes }) => all + bytes, 0)

t.test('every row is on exactly one page, and every page is as full as possible', async (t) => {
  const size = fc.oneof(fc.nat(100), fc.nat(2 * PAGE_BYTES))
  fc.assert(
    fc.property(
      fc.array(size, { maxLength: 30 }),
      fc.integer({ min: 1, max: 10 }),
      (sizes, limit) => {
        const rows = sizes.map((bytes, at) => ({ at, bytes }))
        const pages = pagesOf(rows, limit)
        t.same(pages.flat(), rows)
        for (const [i, page] of pages.entries()) {
          t.ok(page.length === 1 || sum(page) <= PAGE_BYTES)
          const next = pages[i + 1]?.slice(0, 1)
          if (next === undefined) continue
          t.ok(page.length === limit || sum([...page, ...next]) > PAGE_BYTES)
        }
      },
    ),
  )
})

t.test('rows that fill a page exactly are on one page', async (t) => {
  const rows = [PAGE_BYTES - 1, 1, 0, 1].map((bytes, at) => ({ at, bytes }))
  t.same(
    pagesOf(rows, LIST_LIMIT_MAX).map(({ length }) => length),
    [3, 1],
  )
})
