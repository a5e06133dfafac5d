/**
 * Finds what an id, a reference, an idempotency key or a partner's user stands for, with its events
 * and their deliveries: the start of every support case.
 *
 * - Every text is tried as each of these, because a partner may use any text as a reference.
 * - A request id has its time: what the request created is read from that range of ids, first the
 *   seconds in which a request is decided, then wider, for clocks that differ. What else it changed
 *   is recorded under its id.
 * - The answer has ids, states, causes and codes; of attempts also the beginning of what the
 *   receiver answered.
 */
import type { DeliveryRecord__Output as DeliveryRecord } from '../../../protos/types/causeway/internal/v1/DeliveryRecord.js'
import { intentContextIn, type IntentContext } from '../../../actors/intent/context.js'
import { payoutContextIn, type PayoutContext } from '../../../actors/payout/context.js'
import { LIST_LIMIT_MAX } from '../../base/constants.js'
import { instant, MINUTE, SECOND, type Instant } from '../../base/clock.js'
import { invalid } from '../../base/errors.js'
import { instantOf, isIdOf, PREFIX, tenantOf, type TenantId } from '../../base/ids.js'
import { isWithin } from '../../base/text.js'
import type { Lists } from '../../store/lists.js'
import type { FoundActionRow, FoundEventRow, Period, Search } from '../../store/search.js'
import { asInteger, fingerprintOf } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'
import { lastIntentOf } from '../changes/user_intent_links.js'
import { answer } from '../cycle/answer.js'
import { idempotencyRowKey } from '../keys/vault.js'
import { mergePages } from './delivery_pages.js'
import type { Query, QueryContext } from './query.js'
import { marked, momentText } from './readable.js'
import type { WebhookPools } from './webhook_pools.js'

const TEXT_MAX = 256
const FOUND_MAX = 20
/** The last ones of a delivery, each with REPLY_MAX characters of its answer. */
const ATTEMPTS_MAX = 12
/** Requests to the pools for the deliveries of what is found. */
const POOL_REQUESTS_MAX = 40
const REPLY_MAX = 200

type FoundBy =
  | 'id'
  | 'request_id'
  | 'event_id'
  | 'delivery_id'
  | 'reference'
  | 'idempotency_key'
  | 'partner_user_id'

/** Entity ids, each with the way it was found first. */
type Hits = Map<string, FoundBy>

const INVALID_TEXT = invalid('/text', `must have 1 to ${TEXT_MAX} characters`)

export function find(pools: WebhookPools, memory: Memory, text: string): Query {
  return {
    name: 'find',
    queueKey: 'internal',
    run: async (ctx) => {
      if (text === '' || !isWithin(text, TEXT_MAX)) return INVALID_TEXT
      const { search } = ctx.lists
      const hits: Hits = new Map()
      const add = (ids: readonly string[], by: FoundBy): void => {
        for (const id of ids) if (!hits.has(id)) hits.set(id, by)
      }
      if (ID.test(text)) add([text], 'id')
      const actions = isIdOf('request', text) ? await search.actionsOf(text) : []
      if (isIdOf('request', text)) add(await causedBy(search, text, actions), 'request_id')
      if (isIdOf('event', text)) add(await entityOfEvent(search, text), 'event_id')
      if (isIdOf('delivery', text)) {
        for (const id of await eventOfDelivery(pools, text)) {
          add(await entityOfEvent(search, id), 'delivery_id')
        }
      }
      const tenants = [...memory.partners.keys()].flatMap((partner) => [
        tenantOf(partner, 'sandbox'),
        tenantOf(partner, 'production'),
      ])
      add(await search.payoutsByReference(tenants, text), 'reference')
      add(await boundTo(search, memory, tenants, text), 'idempotency_key')
      add(await intentsOfUser(ctx, memory, tenants, text), 'partner_user_id')

      const described = await describeAll(ctx, memory, hits)
      const deliveries = await deliveriesOf(pools, described)
      return answer({
        data: described.map((entity) => viewOf(entity, deliveries.records)),
        actions: actions.map(withTime),
        deliveries_unknown: !deliveries.isWhole || pools.missingPools.length > 0,
        missing_pools: pools.missingPools,
      })
    },
  }
}

const ID = /^[a-z]{2,5}_[0-9A-HJKMNP-TV-Z]{26}$/

const entityOfEvent = async (search: Search, id: string): Promise<readonly string[]> => {
  const event = await search.eventById(id)
  return event === undefined ? [] : [entityIn(event.entity)]
}

/** The entity of a repeatable event is `{id}@{number}`. */
const entityIn = (entity: string): string => entity.replace(/@\d+$/, '')

async function eventOfDelivery(pools: WebhookPools, id: string): Promise<readonly string[]> {
  const found = await pools.requestAll('deliveries', { delivery_id: id, limit: 1 })
  if (!found.ok) return []
  return found.value.flatMap(({ deliveries }) => deliveries.map(({ event_id }) => event_id))
}

/** Seconds around the time of a request in which it is normally decided. */
const USUALLY: readonly (readonly [number, number])[] = [
  [-1, 1],
  [1, 3],
  [3, 6],
]
/** When the clocks of gateway and processor differ. */
const WIDER: readonly (readonly [number, number])[] = [
  [6, 20],
  [20, 60],
  [-20, -1],
  [-60, -20],
]
/** How long before its scan an intent may have been created. */
const SCAN_AFTER_MS = 30 * MINUTE

async function causedBy(
  search: Search,
  requestId: string,
  actions: readonly FoundActionRow[],
): Promise<readonly string[]> {
  const at = instantOf(requestId)
  const subjects = await subjectsOf(search, actions)
  for (const ranges of [USUALLY, WIDER]) {
    const found: string[] = []
    for (const [from, to] of ranges) {
      const period = periodOf(at + from * SECOND, at + to * SECOND)
      found.push(...(await search.ofRequest(requestId, period)))
      found.push(...(await search.intentsOfRequest(requestId, period)))
    }
    if (found.length + actions.length > 0) {
      return [...new Set([...subjects, ...found.map(entityIn)])]
    }
  }
  for (let to = at - MINUTE; to > at - SCAN_AFTER_MS; to -= MINUTE) {
    const found = await search.intentsOfRequest(requestId, periodOf(to - MINUTE, to))
    if (found.length > 0) return found
  }
  return []
}

async function subjectsOf(
  search: Search,
  actions: readonly FoundActionRow[],
): Promise<readonly string[]> {
  const ids = actions.flatMap(({ subject }) => subject.split(' ').filter((word) => ID.test(word)))
  const entities: string[] = []
  for (const id of ids) {
    entities.push(...(isIdOf('event', id) ? await entityOfEvent(search, id) : [id]))
  }
  return entities
}

const periodOf = (from: number, to: number): Period => ({
  from: instant(Math.max(from, 0)),
  to: instant(Math.max(to, 0)),
})

const PAYMENTS = ['create_intent', 'create_payout', 'refund_intent']
const OTHERS = [
  ...['create_fx_conversion', 'create_webhook_endpoint'],
  ...['create_deposit', 'deposit', 'correct_deposit', 'withdraw'],
]

/** Keys of confirms are not among them: their digest names the intent. */
async function boundTo(
  search: Search,
  memory: Memory,
  tenants: readonly TenantId[],
  key: string,
): Promise<readonly string[]> {
  const rowKeys = new Set<string>()
  const sequences: number[] = []
  const indexed: bigint[] = []
  for (const tenant of tenants) {
    for (const operation of [...PAYMENTS, ...OTHERS]) {
      const rowKey = idempotencyRowKey(tenant, operation, key)
      const fingerprint = fingerprintOf(rowKey)
      rowKeys.add(rowKey)
      sequences.push(...memory.keyIndex.candidates(fingerprint))
      if (memory.keyIndex.mayBeIndexed(fingerprint)) indexed.push(asInteger(fingerprint))
    }
  }
  if (sequences.length + indexed.length === 0) return []
  const rows = await search.keys(sequences, indexed)
  return rows.filter((row) => rowKeys.has(row.key)).map(({ entity }) => entity)
}

async function intentsOfUser(
  { lists }: QueryContext,
  memory: Memory,
  tenants: readonly TenantId[],
  user: string,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const tenant of tenants) {
    const last = lastIntentOf(memory, tenant, user)
    if (last === 0) continue
    for (const { id, context } of await lists.intentsOfUser(last, FOUND_MAX)) {
      const intent = intentContextIn(context)
      if (intent?.tenant === tenant && intent.userId === user) ids.push(id)
    }
  }
  return ids
}

interface Described {
  readonly id: string
  readonly kind: string
  readonly tenant: string
  readonly state: string
  readonly at: Instant
  readonly requestId: string | null
  readonly failure: string | null
  /** The file that has it. Absent means that the books do. */
  readonly archive?: string
}

interface Entity extends Described {
  readonly foundBy: FoundBy
  readonly events: readonly FoundEventRow[]
}

async function describeAll(ctx: QueryContext, memory: Memory, hits: Hits): Promise<Entity[]> {
  const described: Entity[] = []
  for (const [id, foundBy] of hits) {
    if (described.length === FOUND_MAX) break
    const events = await ctx.lists.search.eventsOf(id)
    const found = await describe(ctx.lists, memory, id, events)
    if (found !== null) described.push({ ...found, foundBy, events })
  }
  return described
}

async function describe(
  lists: Lists,
  memory: Memory,
  id: string,
  events: readonly FoundEventRow[],
): Promise<Described | null> {
  const { search } = lists
  if (isIdOf('intent', id)) return ofActor(lists, 'intents', id)
  if (isIdOf('payout', id)) return ofActor(lists, 'payouts', id)
  if (isIdOf('beneficiary', id)) return ofBeneficiary(search, id)
  if (isIdOf('fxQuote', id)) return ofFxQuote(search, id)
  const endpoint = [...memory.endpoints.values()].find((known) => known.id === id)
  if (endpoint !== undefined) {
    const { tenant, status, createdAt, isCorrupt } = endpoint
    const state = isCorrupt ? `${status}, corrupt` : status
    return { ...BARE, id, kind: kindOf(id), tenant, state, at: createdAt }
  }
  const entry = await search.entry(id)
  if (entry !== undefined) {
    const tenant = entry.account.slice(0, entry.account.indexOf(':'))
    return { ...BARE, id, kind: kindOf(id), tenant, state: '', at: entry.at }
  }
  const [first] = events
  if (first === undefined) return null
  const { tenant, at, requestId } = first
  return { ...BARE, id, kind: kindOf(id), tenant, state: '', at, requestId }
}

const BARE = { requestId: null, failure: null }

const KINDS: Readonly<Record<string, string>> = {
  [PREFIX.intent]: 'payment_intent',
  [PREFIX.payout]: 'payout',
  [PREFIX.beneficiary]: 'beneficiary',
  [PREFIX.endpoint]: 'webhook_endpoint',
  [PREFIX.deposit]: 'deposit',
  [PREFIX.withdrawal]: 'withdrawal',
  [PREFIX.conversion]: 'fx_conversion',
  [PREFIX.fxQuote]: 'fx_quote',
}
const kindOf = (id: string): string => KINDS[id.slice(0, id.indexOf('_') + 1)] ?? 'account'

/** The ledger has its tenant, if it moved money. */
async function archived({ archive, search }: Lists, id: string): Promise<Described | null> {
  const found = await archive.archiveOf(id)
  if (found === undefined) return null
  const { account = '' } = (await search.entry(id)) ?? {}
  const tenant = account.slice(0, Math.max(0, account.indexOf(':')))
  const common = { ...BARE, id, kind: kindOf(id), tenant, state: 'archived', at: instantOf(id) }
  return { ...common, archive: found.path }
}

async function ofActor(
  lists: Lists,
  table: 'intents' | 'payouts',
  id: string,
): Promise<Described | null> {
  const row = await lists.search.actor(table, id)
  if (row === undefined) return archived(lists, id)
  const { tenant, state } = row
  const facts = factsIn(table, row.context)
  const kind = kindOf(id)
  if (facts === null)
    return { ...BARE, id, kind, tenant, state: `${state}, corrupt`, at: instantOf(id) }
  const { createdAt: at, requestId = null, failure } = facts
  return { id, kind, tenant, state, at, requestId, failure: failure?.code ?? null }
}

/** Null when the row is corrupt. */
function factsIn(
  table: 'intents' | 'payouts',
  context: string,
): Pick<IntentContext | PayoutContext, 'createdAt' | 'requestId' | 'failure'> | null {
  try {
    const stored: unknown = JSON.parse(context)
    return table === 'intents' ? intentContextIn(stored) : payoutContextIn(stored)
  } catch {
    return null
  }
}

async function ofBeneficiary(search: Search, id: string): Promise<Described | null> {
  const row = await search.beneficiary(id)
  if (row === undefined) return null
  const { tenant, status: state, at, requestId } = row
  return { id, kind: 'beneficiary', tenant, state, at, requestId, failure: null }
}

/** An expired quote that was not used is deleted. */
async function ofFxQuote(search: Search, id: string): Promise<Described | null> {
  const row = await search.fxQuote(id)
  if (row === undefined) return null
  const { tenant, conversion, requestId } = row
  const state = conversion === null ? 'open' : 'used'
  return { ...BARE, id, kind: kindOf(id), tenant, state, at: instantOf(id), requestId }
}

interface FoundDeliveries {
  readonly records: readonly DeliveryRecord[]
  /** False means that a pool did not answer, or there are too many. */
  readonly isWhole: boolean
}

/** What does not fit into one answer of a pool is asked for again, for half of the events each. */
async function deliveriesOf(
  pools: WebhookPools,
  entities: readonly Entity[],
): Promise<FoundDeliveries> {
  const ids = entities.flatMap(({ events }) => events.map(({ id }) => id))
  const pending = pagesOf(ids)
  const records: DeliveryRecord[] = []
  let isWhole = true
  for (let requests = 0; pending.length > 0; requests++) {
    const event_ids = pending.shift()!
    const page = { event_ids: [...event_ids], limit: LIST_LIMIT_MAX }
    if (requests === POOL_REQUESTS_MAX) return { records, isWhole: false }
    const found = await pools.requestAll('deliveries', page)
    if (!found.ok) return { records, isWhole: false }
    const isCut = found.value.some(({ more }) => more)
    const middle = Math.ceil(event_ids.length / 2)
    if (isCut && event_ids.length > 1) {
      pending.unshift(event_ids.slice(0, middle), event_ids.slice(middle))
      continue
    }
    if (isCut) isWhole = false
    records.push(...mergePages(found.value, Number.POSITIVE_INFINITY).deliveries)
  }
  return { records, isWhole }
}

function pagesOf(ids: readonly string[]): (readonly string[])[] {
  const pages: (readonly string[])[] = []
  for (let from = 0; from < ids.length; from += LIST_LIMIT_MAX) {
    pages.push(ids.slice(from, from + LIST_LIMIT_MAX))
  }
  return pages
}

function viewOf(entity: Entity, deliveries: readonly DeliveryRecord[]): object {
  const { id, kind, tenant, state, at, foundBy, requestId, failure, events, archive } = entity
  return {
    ...{ id, kind, tenant, state: marked(state, at), at: momentText(at), found_by: foundBy },
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(failure === null ? {} : { failure_code: failure }),
    ...(archive === undefined ? {} : { archive }),
    events: events.map((event) => ({
      ...{ id: event.id, type: marked(event.type, event.at), at: momentText(event.at) },
      cause: event.cause ?? '',
      ...(event.requestId === null ? {} : { request_id: event.requestId }),
      deliveries: deliveries.filter((one) => one.event_id === event.id).map(deliveryOf),
    })),
  }
}

const deliveryOf = ({ id, endpoint_id, state, attempts, reason }: DeliveryRecord): object => ({
  ...{ id, endpoint_id, state, attempts: attempts.length },
  reason: reason === '' ? (attempts.at(-1)?.reason ?? '') : reason,
  last_attempts: attempts.slice(-ATTEMPTS_MAX).map(({ at, reply, ...attempt }) => ({
    ...attempt,
    at: momentText(Number(at)),
    reply: cut(reply),
  })),
})

/** No half of a surrogate pair at the end. */
const cut = (reply: string): string => reply.slice(0, REPLY_MAX).replace(/[\ud800-\udbff]$/, '')

const withTime = (row: FoundActionRow): object => ({
  ...row,
  action: marked(row.action, row.at),
  at: momentText(row.at),
})
