/**
 * Compares the acknowledged requests with the databases after a load. The audit checks each row
 * afterwards.
 *
 * - A request without an answer has an unknown outcome, so the database may hold that many rows
 *   more than were acknowledged, and never fewer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dialect } from '../../src/store/dialect.js'
import { auditOf } from '../support/audit.js'
import type { Endpoint, Received } from './receivers.js'
import type { Accepted } from './scenarios/scenario.js'
import { DEFAULT_STORE, readStored, type Source, type StoreSettings } from './stored.js'

type ByState = Readonly<Record<string, number>>
export type Counts = Awaited<ReturnType<typeof countsOf>>

export interface Accounts {
  readonly lines: ReturnType<typeof accountLines>
  readonly audit: string
  /** Empty when everything adds up. */
  readonly faults: readonly string[]
}

export interface Claims {
  readonly accepted: Accepted
  /** Creates whose outcome is unknown. */
  readonly unknown: number
  readonly endpoints: readonly Endpoint[]
  readonly received: readonly Received[]
}

const QUIET_WITHIN_MS = 120_000
const POLL_MS = 250
/** Time without a change after which the system counts as idle. */
const STABLE_MS = 3_000
const OPEN_INTENT = ['created', 'authorized']
const OPEN_PAYOUT = ['created', 'processing']
const ENDED = ['captured', 'failed', 'expired', 'cancelled', 'refunded', 'completed', 'reversed']
const PAID = ['captured', 'refunded', 'completed', 'reversed']
const DELIVERY = ['delivered', 'dead', 'pending', 'waiting']

const sum = (counts: ByState, states = Object.keys(counts)): number =>
  states.reduce((total, state) => total + (counts[state] ?? 0), 0)

export async function countsOf(dataDir: string, store: StoreSettings = DEFAULT_STORE) {
  const grouped = async (
    source: Source,
    sql: string | ((dialect: Dialect) => string),
  ): Promise<ByState> => {
    const stored = await readStored(dataDir, store, source, (reader) =>
      reader.all<{ name: string; n: number }>(typeof sql === 'string' ? sql : sql(reader.dialect)),
    )
    const counts: Record<string, number> = {}
    for (const { name, n } of stored.flat()) counts[name] = (counts[name] ?? 0) + n
    return counts
  }
  const by = (column: string, table: string, where = 'true'): string =>
    `SELECT ${column} AS name, count(*) AS n FROM ${table} WHERE ${where} GROUP BY 1`
  const newest = 'SELECT tenant AS name, max(sequence) AS n FROM events GROUP BY tenant'
  const last = await grouped('processor', newest)
  // Intents expire during the comparison, so later events are ignored on both sides.
  const upToNow = Object.entries(last).map(
    ([tenant, sequence]) => `(tenant = '${tenant}' AND sequence <= ${sequence})`,
  )
  const where = ['false', ...upToNow].join(' OR ')
  const all = sum(await grouped('processor', by("'all'", 'events', where)))
  const open = sum(await grouped('processor', ({ openEvents }) => by("'all'", openEvents, where)))
  return {
    intents: await grouped('processor', by('state', 'intents')),
    payouts: await grouped('processor', by('state', 'payouts')),
    events: { settled: all - open, open },
    poolEvents: sum(await grouped('pool', by("'all'", 'events', where))),
    deliveries: await grouped('pool', by('state', 'deliveries')),
    deliveredTo: await grouped('pool', by('endpoint_id', 'deliveries', "state = 'delivered'")),
    /** Instructions executed by the rail. */
    executed: sum(await grouped('rail', by("'all'", 'instructions', 'executions = 1'))),
  }
}

/** Waits until payments have ended and events are settled, or until nothing changes. */
export async function untilQuiet(dataDir: string, store: StoreSettings): Promise<Counts> {
  const deadline = performance.now() + QUIET_WITHIN_MS
  let before = ''
  let since = performance.now()
  for (;;) {
    const counts = await countsOf(dataDir, store)
    const { intents, payouts, events } = counts
    const inProgress = (intents['authorized'] ?? 0) + (payouts['processing'] ?? 0) + events.open
    const now = performance.now()
    const text = JSON.stringify(counts)
    if (text !== before) since = now
    before = text
    if (inProgress === 0 || now - since > STABLE_MS || now > deadline) return counts
    await sleep(POLL_MS)
  }
}

/** @param audited whether the audit runs too: it reads every row */
export async function checkAccounts(
  dataDir: string,
  store: StoreSettings,
  before: Counts,
  claims: () => Promise<Claims>,
  audited: boolean,
): Promise<Accounts> {
  const after = await untilQuiet(dataDir, store)
  const lines = accountLines(before, after, await claims())
  const faults = lines
    .filter(({ holds }) => !holds)
    .map(({ what, left, right }) => `${what}: ${left} and ${right} do not add up`)
  if (!audited) return { lines, audit: 'not audited: the audit reads every row', faults }
  const { clean, report } = await auditOf(dataDir, store)
  const text = report.trim().split('\n')
  const from = text.findIndex((line) => /^(audit|union) broken/.test(line))
  const audit = text.slice(from).join('\n') // the last line when nothing is broken
  return { lines, audit, faults: clean ? faults : [...faults, audit] }
}

export function accountLines(before: Counts, after: Counts, claims: Claims) {
  const { accepted, unknown, endpoints, received } = claims
  const equal = (what: string, left: number, right: number, tolerance = 0) => {
    const holds = right >= left && right <= left + tolerance
    return { what, left, right, holds }
  }
  const since = (of: (counts: Counts) => number): number => of(after) - of(before)
  const stored = since(({ intents, payouts }) => sum(intents) + sum(payouts))
  const endedOrOpen = since(
    ({ intents, payouts }) =>
      sum(intents, [...OPEN_INTENT, ...ENDED]) + sum(payouts, [...OPEN_PAYOUT, ...ENDED]),
  )
  const paid = since(({ intents, payouts }) => sum(intents, PAID) + sum(payouts, PAID))
  const executed = since((counts) => counts.executed)
  const events = since((counts) => counts.events.settled + counts.events.open)
  const poolEvents = since((counts) => counts.poolEvents)
  const deliveries = sum(after.deliveries)
  const invalid = received.reduce((all, { faults }) => all + faults, 0)
  return [
    equal('accepted = stored', accepted.intents + accepted.payouts, stored, unknown),
    equal('stored = ended + open', stored, endedOrOpen),
    equal('paid = executed by the rail', paid, executed),
    equal('events = stored by the pool', events, poolEvents),
    equal('deliveries = delivered + dead + pending', deliveries, sum(after.deliveries, DELIVERY)),
    ...endpoints.map(({ id }, index) => {
      const [delivered = 0, answered = 0] = [after.deliveredTo[id], received[index]?.answered]
      return equal(`delivered = answered, endpoint ${index + 1}`, delivered, answered)
    }),
    equal('invalid webhooks at receivers', 0, invalid),
  ]
}
