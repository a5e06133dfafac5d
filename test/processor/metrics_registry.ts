/** The processor's metrics registry, for a world without traffic. */
import { Registry } from 'prom-client'
import { registerMetrics } from '../../src/processor/metrics.js'
import type { World } from '../support/world.js'

type Sources = Parameters<typeof registerMetrics>[1]

export function metricsOf(world: World, sources: Partial<Sources>): Registry {
  const registry = new Registry()
  registerMetrics(registry, {
    pipeline: {
      metrics: {
        ...{ commands: 0, commits: 0, dropped: 0, waiting: () => 0 },
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
    rail: { downForMs: () => 0 },
    timers: { corruptActors: 0, waitingForRail: 0 },
    backlog: () => ({ waiting: 0, catchingUp: false }),
    recovery: { refusedMarks: () => 0 },
    stuckPaymentMonitor: { overdue: () => ({ intents: 0, payouts: 0, recalls: 0 }) },
    ...sources,
  })
  return registry
}
