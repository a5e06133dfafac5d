import { Registry } from 'prom-client'
import t from 'tap'
import { registerMetrics } from '../../src/processor/metrics.js'
import { createWorld } from '../support/world.js'

void t.test('relay metrics show the backlog and the catch-up state', async (t) => {
  const world = await createWorld(t)
  const registry = new Registry()
  let backlog = { waiting: 0, catchingUp: true }
  registerMetrics(registry, {
    pipeline: {
      metrics: {
        commands: 0,
        commits: 0,
        dropped: 0,
        refusedFull: 0,
        refusedDiskLow: 0,
        refusedInRecovery: 0,
        waiting: () => 0,
      },
    },
    memory: world.memory(),
    timers: { corruptActors: 0 },
    relay: { backlog: () => backlog },
    stuckPaymentMonitor: { overdue: () => ({ intents: 0, payouts: 0, recalls: 0 }) },
  })
  const measured = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('causeway_relay_'))
  t.same(await measured(), ['causeway_relay_backlog 0', 'causeway_relay_catching_up 1'])
  backlog = { waiting: 7, catchingUp: false }
  t.same(await measured(), ['causeway_relay_backlog 7', 'causeway_relay_catching_up 0'])
})
