/**
 * Keeps an event with one pool: asks the other pools before events of a repeated message are taken,
 * and answers their questions.
 *
 * Does not own: what is stored (store/store), the way to the other pools (the processor's control
 * streams).
 *
 * - Only repeated messages are asked about. Those published and delivered for the first time cost
 *   nothing, and a pool that is alone gets its answer from the processor.
 * - A pool takes an event only when every other pool has answered that it does not have it; until
 *   then its message stays in the stream.
 * - A pool that has answered so ignores the first copy of the event when it arrives later: the
 *   asking pool has a copy that it acknowledges only once some pool has stored the event. It
 *   ignores the first copy from before it looks at what it has: one that arrives during the look is
 *   not stored by both.
 * - Of two pools that ask at the same time the one with the lower number takes the event. That
 *   holds until it is stored: a pool with many messages may be asked long before it stores them.
 * - A processor that does not know the number of a stream yet asks the pool about its own question.
 *   A pool holds nothing against itself.
 */
import type { ClaimedEvents__Output as ClaimedEvents } from '../../../protos/types/causeway/internal/v1/ClaimedEvents.js'
import type { WebhookControlClient } from '../../../protos/types/causeway/internal/v1/WebhookControl.js'
import { bearer } from '../../../src/grpc/bearer.js'
import { plus, SECOND, type Clock, type Instant } from '../../../src/base/clock.js'
import { grouped } from '../../../src/base/grouped.js'
import type { EventId, TenantId } from '../../../src/base/ids.js'
import type { TenantEvent, WebhookStore } from '../store/store.js'

/** Together with the commit less than the bus waits for an acknowledgement. */
const ASK_FOR_MS = 3 * SECOND
const REPEAT_AFTER_MS = 200
/** Longer than another pool asks. */
const YIELD_FOR_MS = 5 * SECOND
/** The first copies of older ones have arrived long ago. */
const YIELDED_MAX = 20_000

/** What a processor answers. */
type Claimed = Pick<ClaimedEvents, 'held_ids' | 'complete'>
const NO_ANSWER: Claimed = { held_ids: [], complete: false }

export interface EventClaimsOptions {
  /** The number of this pool. */
  readonly pool: number
  /** The client of the tenant's processor. Undefined if it is away, or no processor has it. */
  readonly clientOf: (tenant: TenantId) => WebhookControlClient | undefined
  /** Whether the tenants of every processor are known. */
  readonly isAllSynced: () => boolean
  readonly token: string
  readonly store: Pick<WebhookStore, 'dedupWindow'>
  readonly clock: Clock
  readonly pause: (milliseconds: number) => Promise<void>
}

export interface EventClaims {
  /**
   * Finds out which of these events another pool has, and calls `take` with them. While a pool that
   * may have them does not answer, it asks again, and gives up after some seconds.
   *
   * @param take `heldElsewhere` grows until it resolves, by the events that are left to others
   */
  ask(
    events: readonly TenantEvent[],
    take: (heldElsewhere: ReadonlySet<EventId>) => Promise<void>,
  ): Promise<void>
  /** The events that this pool has, or is about to take, of those that another pool asks for. */
  answer(pool: number, ids: readonly EventId[]): Promise<readonly EventId[]>
  /** Whether this pool has left the event to another one. */
  isYielded(id: EventId): boolean
}

/** Until its events are stored. */
interface Question {
  readonly ids: ReadonlySet<EventId>
  readonly heldElsewhere: Set<EventId>
}

export function createEventClaims(options: EventClaimsOptions): EventClaims {
  const { pool, clientOf, isAllSynced, token, store, clock, pause } = options
  const asked = new Set<Question>()
  /** When, oldest first. */
  const yielded = new Map<EventId, number>()
  /** One question at a time, because the processor bounds requests in flight. */
  let tail: Promise<unknown> = Promise.resolve()

  const isAsked = (id: EventId): boolean => [...asked].some(({ ids }) => ids.has(id))

  const ask: EventClaims['ask'] = async (events, take) => {
    const question = { ids: new Set(events.map(({ id }) => id)), heldElsewhere: new Set<EventId>() }
    asked.add(question)
    try {
      const held = await heldElsewhere(events)
      if (held === undefined) return
      for (const id of held) question.heldElsewhere.add(id)
      await take(question.heldElsewhere)
    } finally {
      asked.delete(question)
    }
  }

  const heldElsewhere = async (
    events: readonly TenantEvent[],
  ): Promise<ReadonlySet<EventId> | undefined> => {
    const until = plus(clock.now(), ASK_FOR_MS)
    for (;;) {
      const held = events.some(({ id }) => isJustYielded(id))
        ? undefined
        : await inTurn(events, until)
      if (held !== undefined || clock.now() >= until) return held
      await pause(REPEAT_AFTER_MS)
    }
  }

  /** The bus delivers again what waited too long for its turn: that is another question. */
  const inTurn = (
    events: readonly TenantEvent[],
    until: Instant,
  ): Promise<ReadonlySet<EventId> | undefined> => {
    const answer = tail.then(() => (clock.now() >= until ? undefined : askOnce(events)))
    tail = answer
    return answer
  }

  const askOnce = async (
    events: readonly TenantEvent[],
  ): Promise<ReadonlySet<EventId> | undefined> => {
    const held = new Set<EventId>()
    for (const [client, its] of grouped(events, ({ tenant }) => clientOf(tenant))) {
      const ids = its.map(({ id }) => id)
      const answer = client === undefined ? ofNoProcessor() : await send(client, ids)
      if (!answer.complete) return undefined
      for (const id of answer.held_ids) held.add(id as EventId)
    }
    return held
  }

  /** A tenant that no processor has, has no endpoint. */
  const ofNoProcessor = (): Claimed => ({ held_ids: [], complete: isAllSynced() })

  /**
   * Incomplete when the call fails, also because its service is not known: the processor may have
   * become a candidate, which has none and knows no pools. A client that was closed throws.
   */
  const send = (client: WebhookControlClient, event_ids: readonly EventId[]): Promise<Claimed> =>
    new Promise((resolve) => {
      const options = { deadline: plus(clock.now(), ASK_FOR_MS) }
      const request = { pool, event_ids: [...event_ids] }
      try {
        client.Claim(request, bearer(token), options, (_error, answer) =>
          resolve(answer ?? NO_ANSWER),
        )
      } catch {
        resolve(NO_ANSWER)
      }
    })

  /** The pool that it was left to may not have stored it yet. Also after a step of the clock. */
  const isJustYielded = (id: EventId): boolean => {
    const at = yielded.get(id)
    return at !== undefined && Math.abs(clock.now() - at) < YIELD_FOR_MS
  }

  const yieldTo = (id: EventId): void => {
    yielded.delete(id)
    yielded.set(id, clock.now())
    for (const { ids, heldElsewhere } of asked) if (ids.has(id)) heldElsewhere.add(id)
  }

  const forgetOldest = (): void => {
    for (const id of yielded.keys()) {
      if (yielded.size <= YIELDED_MAX) return
      yielded.delete(id)
    }
  }

  const answer: EventClaims['answer'] = async (other, ids) => {
    if (other === pool) return []
    const mayYield = other < pool
    const own = new Set(mayYield ? [] : ids.filter(isAsked))
    for (const id of ids) if (!own.has(id)) yieldTo(id)
    const here = await store.dedupWindow(ids)
    for (const id of here) yielded.delete(id)
    forgetOldest()
    return ids.filter((id) => own.has(id) || here.has(id))
  }

  return { ask, answer, isYielded: (id) => yielded.has(id) }
}
