/**
 * Lists of several shards merged into one, page by page.
 *
 * - Each shard's own order is kept; of the next entries the one with the first time comes first.
 * - A page ends where the page of a shard ends: later entries of that shard may precede the next
 *   entry of another one.
 * - The cursor has the position in each shard: its page, and the last entry of that page that was
 *   listed. An entry that has left the list since may be followed by repeated ones, never by a gap.
 */
import { createHash } from 'node:crypto'
import { CommandFault } from './command_fault.js'

type Entry = Readonly<Record<string, unknown>>

export interface ListPage {
  readonly data: readonly Entry[]
  readonly next_cursor?: string
}

export interface ListOrder {
  readonly timeOf: (entry: Entry) => string
  readonly isNewestFirst: boolean
}

/** One shard's list. @returns null when the shard does not answer */
export type PageSource = (cursor: string | undefined) => Promise<ListPage | null>

/** Where a shard's list continues. Null at its end. */
type Position = { readonly page?: string; readonly after?: string } | null
type Positions = Readonly<Record<string, Position>>

interface Arrived {
  readonly shard: string
  readonly position: NonNullable<Position>
  readonly page: ListPage
  /** Index of the next entry. */
  at: number
}

export async function mergedPage(
  sources: ReadonlyMap<string, PageSource>,
  order: ListOrder,
  cursor: string | undefined,
): Promise<ListPage> {
  let positions = cursor === undefined ? {} : positionsIn(cursor)
  for (;;) {
    const arrived = await pagesAt(sources, positions)
    const data = merged(arrived, order)
    positions = { ...positions, ...positionsAfter(arrived) }
    const isEnd = arrived.every(({ shard }) => positions[shard] === null)
    if (isEnd) return { data }
    if (data.length > 0) return { data, next_cursor: cursorOf(positions) }
  }
}

async function pagesAt(
  sources: ReadonlyMap<string, PageSource>,
  positions: Positions,
): Promise<readonly Arrived[]> {
  const open = [...sources].filter(([shard]) => positions[shard] !== null)
  const pages = await Promise.all(
    open.map(async ([shard, read]) => {
      const position = positions[shard] ?? {}
      const page = await read(position.page)
      if (page === null) return []
      const listed = page.data.findIndex((entry) => digestOf(entry) === position.after)
      return [{ shard, position, page, at: listed + 1 }]
    }),
  )
  return pages.flat()
}

function merged(arrived: readonly Arrived[], { timeOf, isNewestFirst }: ListOrder): Entry[] {
  const data: Entry[] = []
  for (;;) {
    let first: Arrived | undefined
    for (const each of arrived) {
      const entry = each.page.data[each.at]
      if (entry === undefined) {
        if (each.page.next_cursor !== undefined) return data
        continue
      }
      const best = first?.page.data[first.at]
      if (best === undefined || precedes(timeOf(entry), timeOf(best), isNewestFirst)) first = each
    }
    if (first === undefined) return data
    data.push(first.page.data[first.at]!)
    first.at += 1
  }
}

const precedes = (one: string, other: string, isNewestFirst: boolean): boolean =>
  isNewestFirst ? one > other : one < other

const positionsAfter = (arrived: readonly Arrived[]): Positions =>
  Object.fromEntries(arrived.map((each) => [each.shard, positionAfter(each)]))

function positionAfter({ position, page, at }: Arrived): Position {
  if (at >= page.data.length) {
    return page.next_cursor === undefined ? null : { page: page.next_cursor }
  }
  const last = page.data[at - 1]
  return last === undefined ? position : { ...position, after: digestOf(last) }
}

const digestOf = (entry: Entry): string =>
  createHash('sha256').update(JSON.stringify(entry)).digest('base64url').slice(0, 16)

const cursorOf = (positions: Positions): string =>
  Buffer.from(JSON.stringify(positions)).toString('base64url')

/** @throws CommandFault when a merged list has no such cursor */
function positionsIn(cursor: string): Positions {
  const given = parsed(Buffer.from(cursor, 'base64url').toString())
  const positions = isObject(given) ? Object.values(given) : []
  // The last page has no cursor: one of ours has a list that goes on.
  const goesOn = positions.some((position) => position !== null)
  if (goesOn && positions.every(isPosition)) return given as Positions
  throw new CommandFault('The cursor is not one of this list.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (given: unknown): given is object =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

const isPosition = (given: unknown): boolean =>
  given === null ||
  (isObject(given) && Object.values(given).every((text) => typeof text === 'string'))
