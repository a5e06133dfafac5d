/**
 * Does it add up? What was acknowledged, against what is there when all is quiet.
 *
 * Owns: counting the rows of a stack's databases, before and after, and comparing. Does not own:
 * whether each row is right (src/audit, which runs afterwards).
 *
 * - accepted = ended + open, events = settled + open, deliveries = delivered + dead + pending,
 *   and the receivers have answered as many events as the pool says were delivered.
 * - Requests whose answer was lost have an unknown outcome: what is there may be more than what
 *   was acknowledged by as many, and never less.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../../src/base/protos.js'
import { FILES } from '../../../src/base/subjects.js'
import { openDatabase, type Database } from '../../../src/store/database.js'
import type { Endpoint, Seen } from './webhook_receivers.js'
import type { Acknowledged } from '../scenarios/scenario.js'

/** Rows by state, all together. */
export interface Counts {
  readonly intents: ByState
  readonly payouts: ByState
  readonly events: { readonly settled: number; readonly open: number }
  readonly poolEvents: number
  readonly deliveries: ByState
  /** By endpoint. */
  readonly deliveredTo: ByState
  /** Instructions that the rail has carried out. */
  readonly executed: number
}

type ByState = Readonly<Record<string, number>>

export interface Line {
  readonly what: string
  readonly left: number
  readonly right: number
  readonly holds: boolean
}

export interface FinalAccounts {
  readonly lines: readonly Line[]
  readonly audit: string
  /** In words; empty when everything adds up. */
  readonly faults: readonly string[]
}

export interface Claims {
  readonly acknowledged: Acknowledged
  /** Creates whose outcome nobody knows. */
  readonly unknown: number
  readonly endpoints: readonly Endpoint[]
  readonly seen: readonly Seen[]
}

const QUIET_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 250
/** When nothing has moved for so long, nothing will. */
const RESTS_MS = 3_000
const OPEN_INTENT = ['created', 'authorized']
const OPEN_PAYOUT = ['created', 'processing']
const OPEN_DELIVERY = ['pending', 'waiting']
const ENDED = ['captured', 'failed', 'expired', 'cancelled', 'refunded', 'completed', 'reversed']
const PAID = ['captured', 'refunded', 'completed', 'reversed']

const sum = (counts: ByState, states = Object.keys(counts)): number =>
  states.reduce((total, state) => total + (counts[state] ?? 0), 0)

export async function countsOf(dataDir: string): Promise<Counts> {
  const byState = async (file: string, sql: string): Promise<ByState> => {
    if (!existsSync(join(dataDir, file))) return {}
    const database = await openDatabase(join(dataDir, file), { readOnly: true })
    const counts = await grouped(database, sql)
    await database.close()
    return counts
  }
  const of = (table: string): string =>
    `SELECT state AS name, count(*) AS n FROM ${table} GROUP BY state`
  const { processorDatabase, webhookDatabase, railDatabase } = FILES
  const told = await byState(
    processorDatabase,
    'SELECT tenant AS name, max(sequence) AS n FROM events GROUP BY tenant',
  )
  const events = await byState(
    processorDatabase,
    `SELECT iif(settled_at IS NULL, 'open', 'settled') AS name, count(*) AS n
       FROM events WHERE ${upTo(told)} GROUP BY 1`,
  )
  return {
    intents: await byState(processorDatabase, of('intents')),
    payouts: await byState(processorDatabase, of('payouts')),
    events: { settled: events['settled'] ?? 0, open: events['open'] ?? 0 },
    poolEvents: sum(
      await byState(
        webhookDatabase,
        `SELECT 'all' AS name, count(*) AS n FROM events WHERE ${upTo(told)}`,
      ),
    ),
    deliveries: await byState(webhookDatabase, of('deliveries')),
    deliveredTo: await byState(webhookDatabase, DELIVERED_TO),
    executed: sum(
      await byState(
        railDatabase,
        "SELECT 'all' AS name, count(*) AS n FROM instructions WHERE executions = 1",
      ),
    ),
  }
}

/** Intents expire while we count: events that come meanwhile are left out on both sides. */
const upTo = (told: ByState): string =>
  ['false', ...Object.entries(told).map(([tenant, last]) => sequencesTo(tenant, last))].join(' OR ')
const sequencesTo = (tenant: string, last: number): string =>
  `(tenant = '${tenant}' AND sequence <= ${last})`

const DELIVERED_TO = `SELECT endpoint_id AS name, count(*) AS n
   FROM deliveries WHERE state = 'delivered' GROUP BY endpoint_id`

async function grouped(database: Database, sql: string): Promise<ByState> {
  const rows = await database.all<{ name: string; n: number }>(sql)
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

/** Until payments have ended and their webhooks are delivered; or nothing moves any more. */
export async function untilQuiet(dataDir: string): Promise<Counts> {
  const deadline = performance.now() + QUIET_WITHIN_MS
  let before = ''
  let since = performance.now()
  for (;;) {
    const counts = await countsOf(dataDir)
    const { intents, payouts, events } = counts
    const underWay = (intents['authorized'] ?? 0) + (payouts['processing'] ?? 0)
    if (underWay + events.open === 0) return counts
    const now = performance.now()
    const text = JSON.stringify(counts)
    if (text !== before) since = now
    before = text
    if (now - since > RESTS_MS || now > deadline) return counts
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** @param claims asked for once all is quiet */
export async function reckon(
  dataDir: string,
  before: Counts,
  claims: () => Promise<Claims>,
): Promise<FinalAccounts> {
  const after = await untilQuiet(dataDir)
  const lines = linesOf(before, after, await claims())
  const broken = lines
    .filter(({ holds }) => !holds)
    .map(({ what, left, right }) => `${what}: ${left} and ${right} do not add up`)
  const { clean, text } = await audit(dataDir)
  return { lines, audit: text, faults: clean ? broken : [...broken, text] }
}

export function linesOf(before: Counts, after: Counts, claims: Claims): Line[] {
  const { acknowledged, unknown, endpoints, seen } = claims
  const equal = (what: string, left: number, right: number): Line => ({
    what,
    left,
    right,
    holds: left === right,
  })
  const accepted = acknowledged.intents + acknowledged.payouts
  const since = (of: (counts: Counts) => number): number => of(after) - of(before)
  const there = since(({ intents, payouts }) => sum(intents) + sum(payouts))
  const endedOrOpen = since(
    ({ intents, payouts }) =>
      sum(intents, [...OPEN_INTENT, ...ENDED]) + sum(payouts, [...OPEN_PAYOUT, ...ENDED]),
  )
  const paid = since(({ intents, payouts }) => sum(intents, PAID) + sum(payouts, PAID))
  const { deliveries } = after
  return [
    {
      what: 'accepted = there',
      left: accepted,
      right: there,
      holds: there >= accepted && there <= accepted + unknown,
    },
    equal('there = ended + open', there, endedOrOpen),
    equal(
      'paid = executed by the rail',
      paid,
      since(({ executed }) => executed),
    ),
    equal(
      'events = known to the pool',
      since(({ events }) => events.settled + events.open),
      since(({ poolEvents }) => poolEvents),
    ),
    equal(
      'deliveries = delivered + dead + pending',
      sum(deliveries),
      sum(deliveries, ['delivered', 'dead', ...OPEN_DELIVERY]),
    ),
    ...endpoints.map(({ id }, index) =>
      equal(
        `delivered = answered, endpoint ${index + 1}`,
        after.deliveredTo[id] ?? 0,
        seen[index]?.answered ?? 0,
      ),
    ),
    equal(
      'wrong signatures at receivers',
      seen.reduce((all, { faults }) => all + faults, 0),
      0,
    ),
  ]
}

function audit(dataDir: string): Promise<{ readonly clean: boolean; readonly text: string }> {
  const main = join(projectRoot(), '.build/src/audit/main.js')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, '--data-dir', dataDir], (error, stdout, stderr) => {
      const lines = (stdout + stderr).trim().split('\n')
      const from = lines.findIndex((line) => line.startsWith('audit '))
      resolve({ clean: error === null, text: lines.slice(Math.max(0, from)).join('\n') })
    })
  })
}
