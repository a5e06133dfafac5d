/** The processor's metrics of its work: what is read at each scrape, and the pipeline's meter. */
import { SECOND } from '../base/clock.js'
import type { FreeSpace } from '../files/free_space.js'
import type { Bus } from '../bus/nats.js'
import type { FamilyName } from '../metrics/families.js'
import type { Metrics } from '../metrics/metrics.js'
import type { ServerFigures, Store, Synchrony } from '../store/store.js'
import type { BooksClock } from './cycle/books_clock.js'
import type { Memory } from './cache/memory.js'
import type { ScreeningMeter } from './cycle/screened_pipeline.js'
import type { Pipeline, PipelineMeter, PipelineMetrics } from './cycle/pipeline.js'
import { routesNotCarried } from './changes/payment_rail.js'
import type { Rules } from './cycle/rules.js'
import type { OpenWorkMonitor } from './background/open_work_monitor.js'
import type { Recovery } from './background/recovery.js'
import type { RefusalLog } from './background/refusal_log.js'
import type { Relay } from './background/relay.js'
import type { Retention } from './background/retention.js'
import type { StuckPaymentMonitor } from './background/stuck_payment_monitor.js'
import type { Timers } from './background/timers.js'
import { registerPaymentMetrics } from './payment_metrics.js'

export interface MetricSources {
  readonly pipeline: Pick<Pipeline, 'metrics'>
  readonly memory: Memory
  readonly rules: Pick<Rules, 'rails'>
  readonly store: Pick<
    Store,
    'damage' | 'checkpoints' | 'synchrony' | 'clockOffsetMs' | 'serverFigures'
  >
  readonly bus: { status: Bus['status']; publisher: Pick<Bus['publisher'], 'published'> }
  /** Undefined means that nothing is relayed, as in recovery mode. */
  readonly backlog: () => ReturnType<Relay['backlog']> | undefined
  readonly stuckPaymentMonitor: Pick<StuckPaymentMonitor, 'overdue'>
  readonly openWork: Pick<OpenWorkMonitor, 'latest' | 'unnamedRails'>
  readonly timers: Pick<Timers, 'corruptActors' | 'waitingForRail'>
  readonly recovery: Pick<Recovery, 'refusedMarks'>
  readonly retention: Pick<Retention, 'deleted'>
  readonly backupAgeSeconds: () => number | null
  readonly disk: Pick<FreeSpace, 'isLow' | 'freeBytes'>
  readonly clock: Pick<BooksClock, 'now' | 'aheadMs'>
}

const NO_BACKLOG = { waiting: 0, catchingUp: false }

export function registerMetrics(metrics: Metrics, sources: MetricSources): void {
  const { memory, bus, timers, recovery, disk, openWork, clock, store } = sources
  const backlog = () => sources.backlog() ?? NO_BACKLOG
  registerPipeline(metrics, sources.pipeline.metrics, memory)
  registerPaymentMetrics(metrics, sources)
  registerModes(metrics, memory)
  metrics.read('causeway_marks_refused_total', () => recovery.refusedMarks())
  metrics.read('causeway_backup_age_seconds', sources.backupAgeSeconds)
  metrics.readAll('causeway_expired_rows_total', () => [
    [sources.retention.deleted.events, 'events'],
    [sources.retention.deleted.keys, 'idempotency_keys'],
    [sources.retention.deleted.requests, 'requests'],
  ])
  metrics.read('causeway_corrupt_actors', () => timers.corruptActors)
  metrics.read('causeway_timers_waiting_for_rail', () => timers.waitingForRail)
  metrics.readAll('causeway_rail_unnamed_payments', () =>
    [...openWork.unnamedRails()].map(([rail, count]) => [count, rail]),
  )
  metrics.readAll('causeway_submissions_paused', () =>
    [...memory.pauses.keys()].map((subject) => {
      const [scope = '', target = ''] = subject.split(' ')
      return [1, scope, target]
    }),
  )
  metrics.readAll('causeway_route_not_carried', () =>
    routesNotCarried(memory, sources.rules.rails).map(({ route, rail }) => [1, route, rail]),
  )
  metrics.read('causeway_bus_up', () => Number(bus.status() === 'up'))
  metrics.readAll('causeway_bus_published_total', () => [
    [bus.publisher.published.stored, 'stored'],
    [bus.publisher.published.unknown, 'unknown'],
  ])
  metrics.readAll('causeway_events_total', () => {
    const { events, unsubscribedEvents } = sources.pipeline.metrics
    return [
      [events - unsubscribedEvents, 'yes'],
      [unsubscribedEvents, 'no'],
    ]
  })
  metrics.read('causeway_relay_backlog', () => backlog().waiting)
  metrics.read('causeway_relay_catching_up', () => Number(backlog().catchingUp))
  metrics.read('causeway_outbox_oldest_age_seconds', () => {
    const open = openWork.latest()
    if (open === null) return null
    return open.oldestEvent === null ? 0 : (clock.now() - open.oldestEvent) / SECOND
  })
  metrics.read('causeway_disk_free_bytes', () => disk.freeBytes())
  metrics.read('causeway_disk_low', () => Number(disk.isLow()))
  metrics.read('causeway_store_damaged', () => Number(store.damage() !== null))
  const { checkpoints, synchrony, clockOffsetMs, serverFigures } = store
  if (checkpoints !== undefined) metrics.read('causeway_store_checkpoints_total', checkpoints)
  if (synchrony !== undefined) registerSynchrony(metrics, synchrony)
  if (serverFigures !== undefined) registerServer(metrics, serverFigures)
  metrics.read('causeway_clock_ahead_seconds', () => clock.aheadMs() / SECOND)
  metrics.read('causeway_clock_offset_seconds', () => {
    const offset = clockOffsetMs?.() ?? null
    return offset === null ? null : offset / SECOND
  })
}

function registerPipeline(metrics: Metrics, counts: PipelineMetrics, memory: Memory): void {
  metrics.read('causeway_commands_total', () => counts.commands)
  metrics.read('causeway_commits_total', () => counts.commits)
  metrics.readAll('causeway_commands_rejected_total', () => [
    [counts.refusedFull, 'queue_full'],
    [counts.dropped, 'deadline'],
    [counts.refusedDiskLow, 'disk_low'],
    [counts.refusedSettingsFault, 'settings_fault'],
    [counts.refusedInRecovery, 'recovery'],
    [counts.refusedUnverified, 'unverified'],
  ])
  metrics.read('causeway_commands_waiting', () => counts.waiting())
  metrics.readAll('causeway_cached_payments', () => [
    [memory.intents.size, 'payment_intent'],
    [memory.payouts.size, 'payout'],
  ])
  metrics.read('causeway_nonces', () => memory.nonces.size)
  metrics.read('causeway_corrupt_rows', () => memory.corruptRows.count)
}

function registerModes(metrics: Metrics, memory: Memory): void {
  const flag = (name: FlagName, isSet: () => boolean): void =>
    metrics.read(name, () => Number(isSet()))
  flag('causeway_recovery_mode', () => memory.recovery?.stops === 'writes')
  flag('causeway_submissions_stopped', () => memory.recovery !== null)
  flag('causeway_books_unverified', () => memory.isUnverified)
  metrics.read('causeway_orphan_executions', () => memory.orphans.open)
}

type FlagName = Extract<
  FamilyName,
  'causeway_recovery_mode' | 'causeway_submissions_stopped' | 'causeway_books_unverified'
>

function registerServer(metrics: Metrics, figures: () => ServerFigures | null): void {
  const read = (name: ServerGauge, valueIn: (found: ServerFigures) => number): void =>
    metrics.read(name, () => {
      const found = figures()
      return found === null ? null : valueIn(found)
    })
  read('causeway_postgres_connections', ({ connections }) => connections)
  read('causeway_postgres_connections_max', ({ connectionsMax }) => connectionsMax)
  read('causeway_postgres_database_bytes', ({ databaseBytes }) => databaseBytes)
  read('causeway_postgres_oldest_transaction_seconds', (found) => found.oldestTransactionSeconds)
  read('causeway_postgres_deadlocks_total', ({ deadlocks }) => deadlocks)
  metrics.readAll('causeway_postgres_checkpoints_total', () => {
    const found = figures()?.checkpoints
    if (found === undefined) return []
    return [
      [found.timed, 'timed'],
      [found.requested, 'requested'],
    ]
  })
  metrics.readAll('causeway_postgres_replay_lag_seconds', () =>
    (figures()?.standbys ?? []).map(({ name, lagSeconds }) => [lagSeconds, name]),
  )
}

type ServerGauge = Extract<
  FamilyName,
  | 'causeway_postgres_connections'
  | 'causeway_postgres_connections_max'
  | 'causeway_postgres_database_bytes'
  | 'causeway_postgres_oldest_transaction_seconds'
  | 'causeway_postgres_deadlocks_total'
>

/** The metrics of books on a PostgreSQL server. */
function registerSynchrony(metrics: Metrics, synchrony: () => Synchrony | null): void {
  metrics.read('causeway_store_synchronous', () => Number(synchrony()?.fault === null))
  metrics.read('causeway_store_synchronous_standbys', () => synchrony()?.standbys ?? null)
}

/** @param now in milliseconds, of a clock that is never set back */
export const createScreeningMeter = (metrics: Metrics, now: () => number): ScreeningMeter => ({
  now,
  screened: (purpose, outcome, ms) =>
    metrics.histogram('causeway_screening_duration_seconds', purpose, outcome).observe(ms / SECOND),
})

/** @param now in milliseconds, of a clock that is never set back */
export function createPipelineMeter(
  metrics: Metrics,
  now: () => number,
  refusalLog: Pick<RefusalLog, 'codeRefused'>,
): PipelineMeter {
  const wait = metrics.histogram('causeway_command_queue_wait_seconds')
  const duration = metrics.histogram('causeway_commit_duration_seconds')
  const size = metrics.histogram('causeway_commit_batch_commands')
  const refusals = metrics.counter('causeway_command_refusals_total')
  const codes = metrics.counter('causeway_qr_refusals_total')
  return {
    now,
    waited: (ms) => wait.observe(ms / SECOND),
    committed: (commands, ms) => {
      duration.observe(ms / SECOND)
      size.observe(commands)
    },
    refused: (work, { code, reason }) => {
      refusals.inc(work.command.name, code)
      if (reason === undefined) return
      codes.inc(reason)
      refusalLog.codeRefused(work, reason)
    },
  }
}
