/** The processor's metrics, for a world without traffic. */
import { createMetrics, type Metrics } from '../../src/metrics/metrics.js'
import { registerMetrics, type MetricSources } from '../../src/processor/metrics.js'
import { RULES, type World } from '../support/world.js'

export function metricsOf(world: World, sources: Partial<MetricSources>): Metrics {
  const metrics = createMetrics()
  registerMetrics(metrics, {
    pipeline: {
      metrics: {
        ...{ commands: 0, commits: 0, dropped: 0, waiting: () => 0 },
        ...{ events: 0, unsubscribedEvents: 0 },
        ...{
          refusedFull: 0,
          refusedDiskLow: 0,
          refusedSettingsFault: 0,
          refusedInRecovery: 0,
          refusedUnverified: 0,
        },
      },
    },
    memory: world.memory(),
    rules: RULES,
    store: world.store,
    bus: { status: () => 'up', publisher: { published: { stored: 0, unknown: 0 } } },
    timers: { corruptActors: 0, waitingForRail: 0 },
    backlog: () => ({ waiting: 0, catchingUp: false }),
    recovery: { refusedMarks: () => 0 },
    retention: { deleted: { events: 0, keys: 0, requests: 0 } },
    backupAgeSeconds: () => Infinity,
    stuckPaymentMonitor: { overdue: () => ({ intents: 0, payouts: 0, recalls: 0 }) },
    openWork: { latest: () => null, unnamedRails: () => new Map() },
    disk: { isLow: () => false, freeBytes: () => null },
    clock: { now: world.clock.now, aheadMs: () => 0 },
    ...sources,
  })
  return metrics
}
