/** Pages of lists: their cursors, and rows of any size. */
import t from 'tap'
import fc from 'fast-check'
import type { MasterKey } from '../../src/auth/master_key.js'
import { createCursors } from '../../src/processor/keys/cursors.js'
import { LIST_LIMIT_MAX, PAGE_BYTES } from '../../src/base/constants.js'
import type { Vault } from '../../src/processor/keys/vault.js'
import { pageOf, pageView } from '../../src/processor/queries/page.js'
import type { PageView } from './scenarios.js'

const key = (kid: string, byte: number): MasterKey => ({ kid, bytes: Buffer.alloc(32, byte) })
const cursors = createCursors([key('k1', 1)])

t.test('a cursor is valid only for its own list', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.string({ minLength: 1 }),
      fc.string(),
      (list, position, other) => {
        const cursor = cursors.make(list, position)
        const isOther = other !== list
        return (
          cursors.open(list, cursor) === position &&
          (!isOther || cursors.open(other, cursor) === undefined)
        )
      },
    ),
  )
  return Promise.resolve()
})

t.test('a cursor with one changed character is refused', async (t) => {
  const cursor = cursors.make('list', 'pout_01')
  for (let at = 0; at < cursor.length; at++) {
    const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
    t.equal(cursors.open('list', changed), undefined, changed)
  }
})

t.test('a cursor of a replaced key is valid, one of an unknown key is not', async (t) => {
  const cursor = cursors.make('list', 'here')
  t.equal(createCursors([key('k2', 2), key('k1', 1)]).open('list', cursor), 'here')
  t.equal(createCursors([key('k2', 2)]).open('list', cursor), undefined)
})

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
