/** Lists of the partner API, page by page. */
import type { Partner } from './partner.js'

export type AnyRow = { readonly id: string } & Readonly<Record<string, unknown>>

export interface ListPage<Row = AnyRow> {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}

export async function pageAt<Found = ListPage>(partner: Partner, path: string): Promise<Found> {
  const answer = await partner.request('GET', path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return answer.body as Found
}

/** @param path with a query */
export async function pagesOf<Row = AnyRow>(partner: Partner, path: string) {
  const pages: (readonly Row[])[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`
    const { data, next_cursor } = await pageAt<ListPage<Row>>(partner, from)
    pages.push(data)
    cursor = next_cursor
  }
  return pages
}

/** @param path with a query */
export const wholeList = async <Row = AnyRow>(partner: Partner, path: string): Promise<Row[]> =>
  (await pagesOf<Row>(partner, path)).flat()

export interface EventPage {
  readonly data: readonly {
    readonly sequence: number
    readonly event: { readonly id: string; readonly type: string }
  }[]
  readonly next_after: number
  readonly has_more: boolean
}

export const eventPage = (partner: Partner, after: number, limit = 100): Promise<EventPage> =>
  pageAt(partner, `/v1/events?after=${after}&limit=${limit}`)

/** All events after this sequence number. */
export async function eventsAfter(partner: Partner, after: number, limit = 100) {
  const events: EventPage['data'][number][] = []
  for (;;) {
    const page = await eventPage(partner, after, limit)
    events.push(...page.data)
    if (!page.has_more) return events
    after = page.next_after
  }
}
