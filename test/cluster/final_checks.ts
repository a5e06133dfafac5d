/**
 * The checks of a cluster after the load: every acknowledged payment is in one shard, with its
 * outcome and its webhooks, no client saw a contradiction, and the audits of all shards and of
 * their union are clean.
 *
 * - Each part is checked once it cannot change any more, so nothing in progress passes for a fault.
 */
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { patience } from '../support/patience.js'
import type { TestReceiver } from '../support/receiver.js'
import { DEFAULT_STORE, storedRows, type Sql } from '../support/stored_rows.js'
import { alternating } from '../support/trial_cluster.js'
import { openPaymentsOf, repeated, undeliveredOf } from '../workload/final_checks.js'
import type { Payers } from '../workload/payers.js'
import type { CheckedClient } from '../workload/checked_client.js'
import type { EventReader } from './event_reader.js'
import type { History } from './histories.js'
import { auditShards, type ClusterAudit, type ClusterData } from './shard_audit.js'

/** A partner that pays, and receives its webhooks. */
export interface PayingTenant {
  readonly name: string
  /** One to each gateway. */
  readonly connections: readonly Partner[]
  readonly receiver: TestReceiver
  readonly payers: Payers
}

export interface ClusterLoad {
  readonly tenants: readonly PayingTenant[]
  readonly histories: readonly History[]
  readonly readers: readonly EventReader[]
  readonly others: readonly CheckedClient[]
}

export interface ClusterChecks extends ClusterAudit {
  readonly acknowledged: readonly string[]
  /** Failures, one per line. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  /** Contradictions that clients saw. */
  readonly violations: readonly string[]
  /** Tenants whose events have gaps. */
  readonly gaps: readonly string[]
  readonly isFaultless: boolean
}

const ENDED_WITHIN_MS = 150_000
/** Each look connects to the server. */
const LOOK_EVERY_MS = 1_000
const OPEN_EVENT: Sql = ({ openEvents }) => `SELECT id FROM ${openEvents} LIMIT 1`
/** Those that endpoints get by default. */
const EVENTS_BY_DEFAULT = `SELECT id, tenant, entity || ' ' || type AS what FROM events
  WHERE type <> 'payment_intent.authorized'`

interface ShardEvent {
  readonly id: string
  readonly tenant: string
  readonly what: string
}

/** Ends the load. */
export async function checkCluster(
  { tenants, histories, readers, others }: ClusterLoad,
  data: ClusterData,
): Promise<ClusterChecks> {
  const clients = [...histories, ...readers, ...others]
  await Promise.all([...clients, ...tenants.map(({ payers }) => payers)].map((each) => each.stop()))
  const deadline = patience(ENDED_WITHIN_MS)
  const lost: string[] = []
  for (const { connections, payers } of tenants)
    lost.push(...(await openPaymentsOf(alternating(connections), payers.payments, deadline)))
  const receivers = new Map(tenants.map(({ name, receiver }) => [`${name}_sandbox`, receiver]))
  // The partners that were only made to move have no endpoint.
  const events = (await inAllShards<ShardEvent>(data, EVENTS_BY_DEFAULT)).filter(({ tenant }) =>
    receivers.has(tenant),
  )
  lost.push(...(await undeliveredOf(events, ({ tenant }) => receivers.get(tenant), deadline)))
  await eventually(
    'every delivery is reported',
    async () => (await inAllShards(data, OPEN_EVENT)).length === 0,
    ENDED_WITHIN_MS,
    LOOK_EVERY_MS,
  )
  for (const reader of readers) await reader.readToEnd()

  const { shards, union } = await auditShards(data)
  const stored = shards.flatMap(({ entities }) => entities)
  const known = new Set(stored)
  const acknowledged = [
    ...histories.flatMap((history) => history.acknowledged),
    ...tenants.flatMap(({ payers }) => payers.payments.map(({ id }) => id)),
  ]
  lost.push(...acknowledged.filter((id) => !known.has(id)).map((id) => `${id} is in no shard`))
  const doubled = [...repeated(acknowledged), ...repeated(stored)]
  const stops = shards.flatMap(({ shard, stops }) =>
    stops.map((cause) => `submissions of ${shard} were stopped: ${cause}`),
  )
  const violations = [...clients.flatMap((client) => client.violations), ...stops]
  const gaps = shards.flatMap((shard) => shard.gaps)
  const faults = [lost, doubled, violations, union, gaps].flat().length
  const isFaultless = faults === 0 && shards.every(({ clean }) => clean)
  return { shards, union, acknowledged, lost, doubled, violations, gaps, isFaultless }
}

const inAllShards = <Row>({ url, dataDir }: ClusterData, sql: Sql): Promise<readonly Row[]> =>
  storedRows(dataDir, { ...DEFAULT_STORE, STORE_URL: url }, 'processor', sql)
