/** The processor's metrics, read at each scrape. */
import { Counter, Gauge, type Registry } from 'prom-client'
import { SECOND } from '../base/clock.js'
import type { Synchrony } from '../store/store.js'
import type { Memory } from './cache/memory.js'
import type { Pipeline } from './cycle/pipeline.js'
import type { RailLink } from './background/rail_link.js'
import type { Relay } from './background/relay.js'
import type { Timers } from './background/timers.js'
import type { Recovery } from './background/recovery.js'
import { COUNTED_MAX, type StuckPaymentMonitor } from './background/stuck_payment_monitor.js'

interface MetricSources {
  readonly pipeline: Pick<Pipeline, 'metrics'>
  readonly memory: Memory
  readonly rail: Pick<RailLink, 'downForMs'>
  /** Undefined: nothing is relayed, as in recovery mode. */
  readonly backlog: () => ReturnType<Relay['backlog']> | undefined
  readonly stuckPaymentMonitor: Pick<StuckPaymentMonitor, 'overdue'>
  readonly timers: Pick<Timers, 'corruptActors' | 'waitingForRail'>
  readonly recovery: Pick<Recovery, 'refusedMarks'>
}

const EMPTY_BACKLOG = { waiting: 0, catchingUp: false }

export function registerMetrics(
  registry: Registry,
  {
    pipeline,
    memory,
    rail,
    backlog: backlogNow,
    timers,
    stuckPaymentMonitor,
    recovery,
  }: MetricSources,
): void {
  const { metrics } = pipeline
  const backlog = () => backlogNow() ?? EMPTY_BACKLOG
  const counter = (name: string, help: string, read: () => number): void => {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  counter('causeway_commands_total', 'Commands decided', () => metrics.commands)
  counter('causeway_commits_total', 'Batches committed, one fsync each', () => metrics.commits)
  counter(
    'causeway_dropped_total',
    'Commands dropped because their deadline had passed',
    () => metrics.dropped,
  )
  counter(
    'causeway_rejected_queue_full_total',
    'Commands rejected because the queue was full',
    () => metrics.refusedFull,
  )
  counter(
    'causeway_refused_disk_low_total',
    'Commands refused because free disk space is below the reserve',
    () => metrics.refusedDiskLow,
  )
  counter(
    'causeway_refused_settings_fault_total',
    'Commands refused because a setting for all shards cannot be applied',
    () => metrics.refusedSettingsFault,
  )
  gauge('causeway_recovery_mode', '1 in recovery mode: writes are refused', () =>
    Number(memory.recovery?.stops === 'writes'),
  )
  gauge('causeway_submissions_stopped', '1 while nothing is submitted to the rail', () =>
    Number(memory.recovery !== null),
  )
  gauge('causeway_books_unverified', '1 while writes wait for a word of the rail or the bus', () =>
    Number(memory.isUnverified),
  )
  counter(
    'causeway_refused_unverified_total',
    'Commands refused because the books were not verified',
    () => metrics.refusedUnverified,
  )
  counter(
    'causeway_refused_marks_total',
    'Marks of the bus or a webhook pool that cannot exist',
    () => recovery.refusedMarks(),
  )
  counter(
    'causeway_refused_in_recovery_total',
    'Commands refused in recovery mode',
    () => metrics.refusedInRecovery,
  )
  gauge('causeway_orphan_executions', 'Open orphan executions', () => memory.orphans.open)
  gauge('causeway_waiting', 'Commands in the queue', () => metrics.waiting())
  gauge('causeway_warm_intents', 'Intents in memory', () => memory.intents.size)
  gauge('causeway_warm_payouts', 'Payouts in memory', () => memory.payouts.size)
  gauge('causeway_corrupt_actors', 'Actors with a corrupt snapshot', () => timers.corruptActors)
  gauge(
    'causeway_rail_down_seconds',
    'Seconds since the link to the rail was lost; 0 while it is up',
    () => rail.downForMs() / SECOND,
  )
  gauge(
    'causeway_timers_waiting_for_rail',
    'Payments whose next instruction or inquiry waits for the rail',
    () => timers.waitingForRail,
  )
  gauge(
    'causeway_corrupt_rows',
    'Corrupt rows found since the start',
    () => memory.corruptRows.count,
  )
  gauge('causeway_nonces', 'Nonces held in memory', () => memory.nonces.size)
  gauge(
    'causeway_relay_backlog',
    'Events in memory that the bus has not accepted',
    () => backlog().waiting,
  )
  gauge('causeway_relay_catching_up', '1 while events are published from the outbox', () =>
    Number(backlog().catchingUp),
  )
  new Gauge({
    name: 'causeway_unknown_outcomes',
    help: `Instructions without a final outcome, by age (capped at ${COUNTED_MAX})`,
    labelNames: ['entity', 'age'],
    registers: [registry],
    collect() {
      const { intents, payouts, recalls } = stuckPaymentMonitor.overdue()
      this.set({ entity: 'payment_intent', age: 'over_24h' }, intents)
      this.set({ entity: 'payout', age: 'over_24h' }, payouts)
      this.set({ entity: 'recall', age: 'over_24h' }, recalls)
    },
  })
}

/** Of books on a PostgreSQL server. */
export function registerSynchrony(registry: Registry, synchrony: () => Synchrony | null): void {
  const registers = [registry]
  new Gauge({
    name: 'causeway_store_synchronous',
    help: '1 while commits wait for a standby, 0 while what is answered is on one server only',
    registers,
    collect() {
      this.set(Number(synchrony()?.fault === null))
    },
  })
  new Gauge({
    name: 'causeway_synchronous_standbys',
    help: 'Connected synchronous standbys; absent without the role pg_monitor',
    registers,
    collect() {
      this.reset()
      const standbys = synchrony()?.standbys ?? null
      if (standbys === null) this.remove()
      else this.set(standbys)
    },
  })
}
