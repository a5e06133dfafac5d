/**
 * Compares the acknowledged requests with the databases after a load. The audit checks each row
 * afterwards.
 *
 * - A request without an answer has an unknown outcome, so the database may hold that many rows
 *   more than were acknowledged, and never fewer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPES, isSelected } from '../../src/base/event_types.js'
import { auditOf } from '../support/audit.js'
import { PAID, statusesOf } from '../support/lifecycle.js'
import type { Endpoint, Received } from './receivers.js'
import type { Accepted } from './scenarios/scenario.js'
import {
  DEFAULT_STORE,
  storedRows,
  type Source,
  type Sql,
  type StoreSettings,
} from '../support/stored_rows.js'

type ByState = Readonly<Record<string, number>>
type Counted = Readonly<{ name: string; n: number }>
export type Counts = Awaited<ReturnType<typeof countsOf>>
export type Accounts = Awaited<ReturnType<typeof checkAccounts>>

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
const NOT_AUDITED = { clean: true, report: 'not audited: the audit reads every row' }
const DELIVERY = ['delivered', 'dead', 'pending', 'waiting']

const sum = (counts: ByState, states: readonly string[] = Object.keys(counts)): number =>
  states.reduce((total, state) => total + (counts[state] ?? 0), 0)

const by = (name: string, from: string, n = 'count(*)'): string =>
  `SELECT ${name} AS name, ${n} AS n FROM ${from} GROUP BY 1`

const listOf = (texts: readonly string[]): string =>
  ["''", ...texts.map((text) => `'${text}'`)].join(', ')

/** @param filters of the endpoints; without an endpoint no event has to be in the pool */
export async function countsOf(
  dataDir: string,
  store: StoreSettings = DEFAULT_STORE,
  filters: readonly (readonly string[])[] = [],
) {
  const count = async (source: Source, sql: Sql): Promise<ByState> => {
    const counts: Record<string, number> = {}
    for (const { name, n } of await storedRows<Counted>(dataDir, store, source, sql))
      counts[name] = (counts[name] ?? 0) + n
    return counts
  }
  // First, so that the events of payments that have ended are all there.
  const intents = await count('processor', by('state', 'intents'))
  const payouts = await count('processor', by('state', 'payouts'))
  const newest = await count('processor', by('tenant', 'events', 'max(sequence)'))
  // Intents expire during the comparison, so later events are ignored on both sides.
  const upToNow = Object.entries(newest).map(
    ([tenant, sequence]) => `(tenant = '${tenant}' AND sequence <= ${sequence})`,
  )
  const where = `WHERE (${['false', ...upToNow].join(' OR ')})`
  const events = by('tenant', `events ${where}`)
  const openEvents: Sql = (dialect) => by('tenant', `${dialect.openEvents} ${where}`)
  const delivered = EVENT_TYPES.filter((type) => filters.some((one) => isSelected(one, type)))
  const subscribed = by('tenant', `events ${where} AND type IN (${listOf(delivered)})`)
  // Without a delivery it is a mark of the relay.
  const routed = by(
    'tenant',
    `events ${where} AND EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id)`,
  )
  const all = sum(await count('processor', events))
  const open = sum(await count('processor', openEvents))
  return {
    intents,
    payouts,
    events: { settled: all - open, open },
    subscribedEvents: sum(await count('processor', subscribed)),
    poolEvents: sum(await count('pool', routed)),
    deliveries: await count('pool', by('state', 'deliveries')),
    deliveredTo: await count('pool', by('endpoint_id', "deliveries WHERE state = 'delivered'")),
    /** Instructions executed by the rail. */
    executed: sum(await count('rail', by("'all'", 'instructions WHERE executions = 1'))),
  }
}

/** Waits until payments have ended and events are settled, or until nothing changes. */
export async function untilQuiet(...of: Parameters<typeof countsOf>): Promise<Counts> {
  const deadline = performance.now() + QUIET_WITHIN_MS
  let before = ''
  let since = performance.now()
  for (;;) {
    const counts = await countsOf(...of)
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

/**
 * @param audited whether the audit runs too: it reads every row
 * @returns no `faults` when everything adds up
 */
export async function checkAccounts(
  dataDir: string,
  store: StoreSettings,
  lines: ReturnType<typeof accountLines>,
  audited: boolean,
) {
  const faults = lines
    .filter(({ holds }) => !holds)
    .map(({ what, left, right }) => `${what}: ${left} and ${right} do not add up`)
  const { clean, report } = audited ? await auditOf(dataDir, store) : NOT_AUDITED
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
  /** In these states; all by default. */
  const payments = (intents?: readonly string[], payouts = intents): number =>
    since((counts) => sum(counts.intents, intents) + sum(counts.payouts, payouts))
  const stored = payments()
  const executed = since((counts) => counts.executed)
  const subscribed = since((counts) => counts.subscribedEvents)
  const poolEvents = since((counts) => counts.poolEvents)
  const deliveries = sum(after.deliveries)
  const invalid = received.reduce((all, { faults }) => all + faults, 0)
  return [
    equal('accepted = stored', accepted.intents + accepted.payouts, stored, unknown),
    equal('stored = ended + open', stored, payments(statusesOf('intent'), statusesOf('payout'))),
    equal('paid = executed by the rail', payments(PAID), executed),
    equal('subscribed events = stored by the pool', subscribed, poolEvents),
    equal('deliveries = delivered + dead + pending', deliveries, sum(after.deliveries, DELIVERY)),
    ...endpoints.map(({ id }, index) => {
      const [delivered = 0, answered = 0] = [after.deliveredTo[id], received[index]?.answered]
      return equal(`delivered = answered, endpoint ${index + 1}`, delivered, answered)
    }),
    equal('invalid webhooks at receivers', 0, invalid),
  ]
}
