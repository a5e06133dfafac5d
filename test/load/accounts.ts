/**
 * Accounts that must add up: what was acknowledged against what the databases hold once all is
 * quiet. Whether each row is right is the audit's job, which runs afterwards.
 *
 * - A request whose answer was lost has an unknown outcome: the database may hold that many more
 *   than was acknowledged, and never less.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/database.js'
import { auditOf } from '../support/audit.js'
import type { Endpoint, Received } from './receivers.js'
import type { Accepted } from './scenarios/scenario.js'

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
/** When nothing changes for this long, nothing will. */
const STABLE_MS = 3_000
const OPEN_INTENT = ['created', 'authorized']
const OPEN_PAYOUT = ['created', 'processing']
const ENDED = ['captured', 'failed', 'expired', 'cancelled', 'refunded', 'completed', 'reversed']
const PAID = ['captured', 'refunded', 'completed', 'reversed']
const DELIVERY = ['delivered', 'dead', 'pending', 'waiting']

const sum = (counts: ByState, states = Object.keys(counts)): number =>
  states.reduce((total, state) => total + (counts[state] ?? 0), 0)

export async function countsOf(dataDir: string) {
  const grouped = async (file: string, sql: string): Promise<ByState> => {
    if (!existsSync(join(dataDir, file))) return {}
    const database = await openDatabase(join(dataDir, file), { readOnly: true })
    const rows = await database.all<{ name: string; n: number }>(sql)
    await database.close()
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
  }
  const by = (column: string, table: string, where = 'true'): string =>
    `SELECT ${column} AS name, count(*) AS n FROM ${table} WHERE ${where} GROUP BY 1`
  const { processorDatabase: processor, webhookDatabase: pool, railDatabase: rail } = FILES
  const newest = 'SELECT tenant AS name, max(sequence) AS n FROM events GROUP BY tenant'
  const last = await grouped(processor, newest)
  // Intents expire meanwhile: later events are left out on both sides.
  const upToNow = Object.entries(last).map(
    ([tenant, sequence]) => `(tenant = '${tenant}' AND sequence <= ${sequence})`,
  )
  const where = ['false', ...upToNow].join(' OR ')
  const settled = "iif(settled_at IS NULL, 'open', 'settled')"
  const events = await grouped(processor, by(settled, 'events', where))
  return {
    intents: await grouped(processor, by('state', 'intents')),
    payouts: await grouped(processor, by('state', 'payouts')),
    events: { settled: events['settled'] ?? 0, open: events['open'] ?? 0 },
    poolEvents: sum(await grouped(pool, by("'all'", 'events', where))),
    deliveries: await grouped(pool, by('state', 'deliveries')),
    deliveredTo: await grouped(pool, by('endpoint_id', 'deliveries', "state = 'delivered'")),
    /** Instructions that the rail has carried out. */
    executed: sum(await grouped(rail, by("'all'", 'instructions', 'executions = 1'))),
  }
}

/** Waits until payments have ended and events are settled, or until nothing changes any more. */
export async function untilQuiet(dataDir: string): Promise<Counts> {
  const deadline = performance.now() + QUIET_WITHIN_MS
  let before = ''
  let since = performance.now()
  for (;;) {
    const counts = await countsOf(dataDir)
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
  before: Counts,
  claims: () => Promise<Claims>,
  audited: boolean,
): Promise<Accounts> {
  const after = await untilQuiet(dataDir)
  const lines = accountLines(before, after, await claims())
  const faults = lines
    .filter(({ holds }) => !holds)
    .map(({ what, left, right }) => `${what}: ${left} and ${right} do not add up`)
  if (!audited) return { lines, audit: 'not audited: the audit reads every row', faults }
  const { clean, report } = await auditOf(dataDir)
  const text = report.trim().split('\n')
  const from = text.findIndex((line) => line.startsWith('audit '))
  const audit = text.slice(Math.max(0, from)).join('\n')
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
    equal('events = known to the pool', events, poolEvents),
    equal('deliveries = delivered + dead + pending', deliveries, sum(after.deliveries, DELIVERY)),
    ...endpoints.map(({ id }, index) => {
      const [delivered = 0, answered = 0] = [after.deliveredTo[id], received[index]?.answered]
      return equal(`delivered = answered, endpoint ${index + 1}`, delivered, answered)
    }),
    equal('invalid webhooks at receivers', 0, invalid),
  ]
}
