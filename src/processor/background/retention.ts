/**
 * Deletes events, idempotency keys and the actions of requests once their retention has ended.
 *
 * Owns: when, how many at a time, and which rows may go. Does not own: finding and deleting them
 * (store/retention), payments, ledger entries and operators' actions, which are kept for good.
 *
 * - A setting of 0 keeps all rows of its kind.
 * - A commit deletes at most ROWS_MAX rows and is followed by a pause, because payments use the
 *   same commits.
 * - A tenant's events are deleted in the order of their numbers, up to the first one that is needed
 *   or young: what is left has no gap. The newest event of a tenant stays: numbers go on from it.
 * - Keys have no time of their own: once a day the newest key is recorded with the time, and keys
 *   up to it are at least as old. So the retention of a key begins when its day has ended. A clock
 *   that was set back meanwhile, as that of a machine that has just started, makes no key older.
 */
import { DAY, HOUR, instant, MINUTE, plus, type Clock, type Instant } from '../../base/clock.js'
import { instantOf, isId, type TenantId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { SteadyClock } from '../../base/steady_clock.js'
import type { Lists } from '../../store/lists.js'
import type { ExpiredRows, StoredKeyAge } from '../../store/retention.js'
import type { Row } from '../../store/tables.js'
import { asInteger, fingerprintOf } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'
import { expireRows, recordKeyAge, type Expiry } from '../commands/retention/rows_expire.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

/** Days. 0 means for good. */
export interface KeptDays {
  readonly events: number
  readonly payoutKeys: number
  readonly otherKeys: number
  readonly requests: number
}

export type ExpiredKind = 'events' | 'keys' | 'requests'

export interface Retention {
  start(): void
  stop(): Promise<void>
  /** Deletes what may go now. */
  run(): Promise<void>
  /** Rows deleted since the start, by kind. */
  readonly deleted: Readonly<Record<ExpiredKind, number>>
}

export interface RetentionDependencies {
  readonly keep: KeptDays
  readonly clock: Clock
  /** False means that nothing is deleted now (base/steady_clock). */
  readonly isSteady: SteadyClock['isSteady']
  readonly lists: Pick<Lists, 'retention'>
  readonly memory: Pick<Memory, 'sequences' | 'lastKeySequence'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
  readonly rowsMax?: number
  readonly pauseMs?: number
}

const ROWS_MAX = 200
const PAUSE_MS = 100
const FIRST_AFTER_MS = MINUTE
const EVERY_MS = HOUR
const EVER = instant(Number.MAX_SAFE_INTEGER)

export function createRetention(dependencies: RetentionDependencies): Retention {
  const { keep, clock, isSteady, memory, pipeline, log } = dependencies
  const { rowsMax = ROWS_MAX, pauseMs = PAUSE_MS } = dependencies
  const { retention } = dependencies.lists
  const deleted = { events: 0, keys: 0, requests: 0 }
  let timer: NodeJS.Timeout | undefined
  let endPause: () => void = () => undefined
  let running: Promise<void> | undefined
  let isStopped = false

  const run = async (): Promise<void> => {
    if (!isSteady()) return
    const before = { ...deleted }
    await recordAge()
    if (keep.events > 0) {
      for (const tenant of memory.sequences.keys()) await expireEvents(tenant)
    }
    await expireKeys()
    if (keep.requests > 0) await expireRequests()
    const count = (kind: ExpiredKind): number => deleted[kind] - before[kind]
    const [events, keys, requests] = [count('events'), count('keys'), count('requests')]
    if (events + keys + requests > 0) log.info({ events, keys, requests }, 'old rows deleted')
  }

  /** Before this moment: what is older is deleted. */
  const endOf = (days: number): Instant => plus(clock.now(), -days * DAY)

  const recordAge = async (): Promise<void> => {
    const now = clock.now()
    const recent = await retention.lastKeyBy(now, now)
    const ofDay = await retention.lastKeyBy(plus(now, -DAY), now)
    const newest = await retention.lastKeyBy(EVER, EVER)
    const isDue = recent === ofDay && memory.lastKeySequence > newest
    if (isDue) await commit(recordKeyAge())
  }

  const expireEvents = async (tenant: TenantId): Promise<void> => {
    const end = endOf(keep.events)
    let after = (await retention.eventEdge(tenant))?.sequence ?? 0
    while (!isStopped) {
      const page = await retention.events(tenant, after, rowsMax + 1)
      const stays = page.findIndex((event, at) => {
        const isLast = at === page.length - 1
        return isLast || event.isNeeded === 1 || event.createdAt >= end
      })
      const gone = page.slice(0, stays)
      const last = gone.at(-1)
      if (last === undefined) return
      const { sequence, position, createdAt } = last
      const isDone = await expire({
        rows: { events: gone.map((event) => event.position) },
        events: { tenant, sequence, position, created_at: createdAt },
      })
      if (!isDone || gone.length < rowsMax) return
      after = sequence
    }
  }

  /** Keys of both kinds are in one sequence; each kind has its own end. */
  const expireKeys = async (): Promise<void> => {
    const edges = new Map((await retention.keyEdges()).map(({ kind, through }) => [kind, through]))
    for (const [kind, days] of [
      ['payouts', keep.payoutKeys],
      ['others', keep.otherKeys],
    ] as const) {
      if (days === 0) continue
      const end = endOf(days)
      const through = await retention.lastKeyBy(end, clock.now())
      await expireKeysOf(kind, { after: edges.get(kind) ?? 0, through, end })
    }
  }

  const expireKeysOf = async (
    kind: Row<'keyRetention'>['kind'],
    { after: from, through, end }: OldKeys,
  ): Promise<void> => {
    let after = from
    while (after < through && !isStopped) {
      const page = await retention.keys(after, through, rowsMax)
      const ofKind = page.filter(({ entity }) => isPayout(entity) === (kind === 'payouts'))
      const stays = (key: StoredKeyAge): boolean =>
        key.isNeeded === 1 || isBetween(key.entity, end, clock.now())
      const needed = ofKind.find(stays)?.sequence
      const gone = ofKind.filter(({ sequence }) => needed === undefined || sequence < needed)
      const isLast = page.length < rowsMax
      const seen = isLast ? through : page.at(-1)!.sequence
      const next = needed === undefined ? seen : needed - 1
      if (next <= after) return
      const isDone = await expire({
        rows: { keys: gone.map(expiredKey) },
        keys: [{ kind, through: next }],
      })
      if (!isDone || needed !== undefined) return
      after = next
    }
  }

  const expireRequests = async (): Promise<void> => {
    const end = endOf(keep.requests)
    while (!isStopped) {
      const requests = await retention.requests(end, rowsMax)
      if (requests.length === 0) return
      const isDone = await expire({ rows: { requests } })
      if (!isDone || requests.length < rowsMax) return
    }
  }

  /** False while the books are read-only, and after a step of the clock. */
  const expire = async (expiry: Expiry): Promise<boolean> => {
    if (!isSteady() || !(await commit(expireRows(expiry)))) return false
    for (const kind of ['events', 'keys', 'requests'] as const) {
      deleted[kind] += expiry.rows[kind]?.length ?? 0
    }
    await pause()
    return true
  }

  const commit = (command: Command): Promise<boolean> =>
    new Promise((resolve) => {
      pipeline.submit(internalWork(command, 'service', ({ ok }) => resolve(ok)))
    })

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      endPause = resolve
      timer = setTimeout(resolve, pauseMs)
    })

  const runAgain = (): void => {
    running = run()
      .catch((error: unknown) => log.error({ error }, 'old rows cannot be deleted'))
      .finally(() => {
        running = undefined
        if (!isStopped) timer = setTimeout(runAgain, EVERY_MS)
      })
  }

  return {
    start: () => {
      timer = setTimeout(runAgain, FIRST_AFTER_MS)
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      endPause()
      await running
    },
    run,
    deleted,
  }
}

/** Keys that were bound before `end`, as far as the recorded ages say. */
interface OldKeys {
  readonly after: number
  readonly through: number
  readonly end: Instant
}

const isPayout = (entity: string): boolean => entity.startsWith('pout_')

/**
 * Whether the entity, `{id}` or `{id}@{number}`, was created in this time: then its key is at most
 * as old, whatever the clock was when ages were recorded. A later one is of a clock that was ahead.
 */
function isBetween(entity: string, from: Instant, to: Instant): boolean {
  const [id = ''] = entity.split('@')
  const at = isId(id) ? instantOf(id) : 0
  return at >= from && at <= to
}

const expiredKey = ({ sequence, key }: StoredKeyAge): ExpiredRows['keys'][number] => ({
  sequence,
  key,
  fingerprint: asInteger(fingerprintOf(key)),
})
