/** Lists of several shards, merged page by page. */
import t from 'tap'
import {
  mergedPage,
  type ListPage,
  type PageSource,
} from '../../src/operations/calls/merged_list.js'

interface Entry {
  readonly at: string
  readonly id: string
}

const order = {
  timeOf: (entry: object) => (entry as Entry).at,
  isNewestFirst: false,
}

/** A shard whose pages have `size` entries; the list may change between pages. */
const shardOf =
  (entries: readonly Entry[], size: number): PageSource =>
  (cursor) => {
    const start = cursor === undefined ? 0 : Number(cursor)
    const data = entries.slice(start, start + size) as unknown as ListPage['data']
    const end = start + size
    return Promise.resolve(end < entries.length ? { data, next_cursor: String(end) } : { data })
  }

const entriesOf = (shard: string, times: readonly number[]): Entry[] =>
  times.map((time) => ({ at: String(time).padStart(4, '0'), id: `${shard}${time}` }))

async function everyPage(
  sources: ReadonlyMap<string, PageSource>,
  listing = order,
): Promise<Entry[][]> {
  const pages: Entry[][] = []
  let cursor: string | undefined
  do {
    const page = await mergedPage(sources, listing, cursor)
    pages.push(page.data as unknown as Entry[])
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return pages
}

const even = Array.from({ length: 50 }, (_, i) => 2 * i)
const odd = Array.from({ length: 30 }, (_, i) => 2 * i + 1)

t.test('every entry is listed once, in order, for any page size', async (t) => {
  const [a, b, none] = [entriesOf('a', even), entriesOf('b', odd), [] as Entry[]]
  const expected = [...a, ...b].sort((one, other) => (one.at < other.at ? -1 : 1))
  for (const size of [1, 3, 7, 100]) {
    const sources = new Map(
      Object.entries({ a, b, none }).map(([name, list]) => [name, shardOf(list, size)]),
    )
    const pages = await everyPage(sources)
    t.same(pages.flat(), expected, `pages of ${size}`)
    t.ok(pages.every(({ length }) => length > 0))
    t.ok(pages.every(({ length }) => length <= 2 * size))
  }
})

t.test('entries are listed newest first, and equal times in the order of the shards', async (t) => {
  const [a, b] = [entriesOf('a', [9, 5, 5, 1]), entriesOf('b', [8, 5, 2])]
  const sources = new Map([
    ['a', shardOf(a, 2)],
    ['b', shardOf(b, 2)],
  ])
  const pages = await everyPage(sources, { ...order, isNewestFirst: true })
  t.same(
    pages.flat().map(({ id }) => id),
    ['a9', 'b8', 'a5', 'a5', 'b5', 'b2', 'a1'],
  )
})

t.test('a shard that does not answer continues later at its position', async (t) => {
  const entries = entriesOf('a', even)
  let isDown = false
  const sources = new Map<string, PageSource>([
    ['a', shardOf(entries, 10)],
    ['b', (cursor) => (isDown ? Promise.resolve(null) : shardOf(entriesOf('b', odd), 10)(cursor))],
  ])
  const first = await mergedPage(sources, order, undefined)
  isDown = true
  const second = await mergedPage(sources, order, first.next_cursor)
  t.ok((second.data as unknown as Entry[]).every(({ id }) => id.startsWith('a')))
  isDown = false
  const third = await mergedPage(sources, order, second.next_cursor)
  const seen = [...first.data, ...third.data] as unknown as Entry[]
  const ofB = seen.filter(({ id }) => id.startsWith('b')).map(({ id }) => id)
  t.same(
    ofB,
    entriesOf('b', odd)
      .slice(0, ofB.length)
      .map(({ id }) => id),
    'without a gap',
  )
})

t.test('an entry removed from the list leaves no gap', async (t) => {
  const times = [1, 2, 3, 4]
  let left = times
  const sources = new Map<string, PageSource>([
    ['a', (cursor) => shardOf(entriesOf('a', left), 4)(cursor)],
    ['b', shardOf(entriesOf('b', [2, 9, 10]), 1)],
  ])
  const first = await mergedPage(sources, order, undefined)
  const last = (first.data.at(-1) as unknown as Entry).id
  left = times.filter((time) => `a${time}` !== last)
  const listed = new Set((first.data as unknown as Entry[]).map(({ id }) => id))
  let cursor = first.next_cursor
  while (cursor !== undefined) {
    const page = await mergedPage(sources, order, cursor)
    for (const { id } of page.data as unknown as Entry[]) listed.add(id)
    cursor = page.next_cursor
  }
  t.ok(['a1', 'a2', 'a3', 'a4', 'b2', 'b9', 'b10'].every((id) => listed.has(id)))
})

t.test('a cursor of another list is refused', async (t) => {
  const sources = new Map([['a', shardOf(entriesOf('a', even), 10)]])
  const forged = [
    'null',
    '7',
    '[]',
    '{}',
    '{"a":null}',
    '"a"',
    '{"a":7}',
    '{"a":[]}',
    '{"a":{"page":7}}',
  ]
  const encoded = forged.map((text) => Buffer.from(text).toString('base64url'))
  for (const cursor of ['nonsense', ...encoded]) {
    await t.rejects(mergedPage(sources, order, cursor), {
      ...{ name: 'CommandFault', message: 'The cursor is not one of this list.' },
    })
  }
})
