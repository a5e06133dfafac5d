/**
 * One user's payment intents, newest first.
 *
 * - They are a linked list. A page follows at most SCANNED_MAX links to find its intents, as in the
 *   tenant's list; `created_after` ends the walk. The links of archived intents are passed over.
 * - A cursor names a link by its number and its intent. After the partner has moved to another
 *   shard the link of that number is another one, and the intent is looked for from the newest.
 */
import type { TenantId } from '../../base/ids.js'
import { intentContextIn, type IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { UserIntent, UserIntentFilter } from '../../store/user_intent_rows.js'
import type { Lists } from '../../store/lists.js'
import { answer } from '../cycle/answer.js'
import { filterOf, isUnfiltered, SCANNED_MAX, type IntentListRequest } from './intent_list.js'
import { INVALID_PAGE, pageOf, pageView } from './page.js'
import type { Query } from './query.js'
import { contextOf, viewed, type Viewed } from './readable.js'

/** Links of one read, which others wait for. */
const LINKS_A_READ = 250
/** Links that are followed to find the intent of a cursor of before a move. */
const MOVED_MAX = 10_000

/** @param last the number of the user's latest committed intent; 0 means none */
export function listUserIntents(
  tenant: TenantId,
  userId: string,
  request: IntentListRequest,
  last: number,
  scannedMax = SCANNED_MAX,
): Query {
  return {
    name: 'list_user_intents',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const filter = filterOf(tenant, request)
      const list = [tenant, userId, ...(isUnfiltered(request) ? [] : [filter])]
      const page = pageOf(vault, `user_intents ${JSON.stringify(list)}`, request)
      if (page === null) return INVALID_PAGE
      const from = page.after === null ? last : await linkAfter(lists, page.after, last)
      if (from === undefined) return INVALID_PAGE
      const wanted = page.limit + 1
      const firstLinks = isUnfiltered(request) ? wanted : LINKS_A_READ
      const found = await search(lists, filter, { from, wanted, firstLinks, scannedMax })
      const rows = viewed(found.intents, ctx, ({ id, state, context }) =>
        intentView(state as IntentState, contextOf(id, intentContextIn(context))),
      )
      const shape = {
        view: ({ view }: Viewed<Numbered>) => view ?? {},
        shows: ({ row, view }: Viewed<Numbered>) => view !== null && isOf(row, tenant, userId),
        positionOf: ({ row }: Viewed<Numbered>) => `${row.number} ${row.id}`,
      }
      return answer(pageView(vault, page, rows, shape, found.scanEnd))
    },
  }
}

/** An intent and the number of its link. */
type Numbered = UserIntent & { readonly number: number }

/** The rows of a walk from this number. */
const numbered = (from: number, rows: readonly UserIntent[]): Numbered[] =>
  rows.map((row, index) => ({ ...row, number: index === 0 ? from : rows[index - 1]!.before }))

/**
 * The number of the link after a cursor. A number alone, of an earlier version, is that of the next
 * link.
 *
 * @returns undefined when its intent is not among the newest MOVED_MAX
 */
async function linkAfter(
  lists: Pick<Lists, 'intentsOfUser'>,
  cursor: string,
  last: number,
): Promise<number | undefined> {
  const [number, id] = cursor.split(' ')
  if (id === undefined) return Number(number)
  const [link] = await lists.intentsOfUser(Number(number), 1)
  if (link?.id === id) return link.before
  const isArchived = link?.id === '' && link.before > 0 // no link has the number 0
  if (isArchived) return link.before
  let next = last
  for (let left = MOVED_MAX; left > 0 && next > 0; left -= LINKS_A_READ) {
    const read = await lists.intentsOfUser(next, LINKS_A_READ)
    const found = read.find((each) => each.id === id)
    if (found !== undefined) return found.before
    next = read.at(-1)?.before ?? 0
  }
  return undefined
}

interface FoundIntents {
  readonly intents: readonly Numbered[]
  /** Where the search ended before the end of the list. */
  readonly scanEnd?: string
}

interface Walk {
  readonly from: number
  readonly wanted: number
  /** Links of the first read. */
  readonly firstLinks: number
  readonly scannedMax: number
}

/** Follows the list until it has the wanted number of intents, or up to a number of links. */
async function search(
  lists: Pick<Lists, 'intentsOfUser'>,
  filter: UserIntentFilter,
  { from, wanted, firstLinks, scannedMax }: Walk,
): Promise<FoundIntents> {
  const intents: Numbered[] = []
  let next = from
  let links = firstLinks
  let scanned = from
  for (let left = scannedMax; left > 0 && next > 0; left -= links) {
    links = Math.min(left, next === from ? firstLinks : LINKS_A_READ)
    const read = await lists.intentsOfUser(next, links, filter)
    const rows = numbered(next, read)
    intents.push(...rows.filter(({ id }) => id !== ''))
    if (read.length < links || intents.length >= wanted)
      return { intents: intents.slice(0, wanted) }
    scanned = rows.at(-1)!.number
    next = read.at(-1)!.before
  }
  if (next === 0) return { intents }
  const [link] = await lists.intentsOfUser(scanned, 1)
  return { intents, scanEnd: `${scanned} ${link?.id ?? ''}` }
}

function isOf({ context }: UserIntent, tenant: TenantId, userId: string): boolean {
  const intent = intentContextIn(context)
  return intent?.tenant === tenant && intent.userId === userId
}
