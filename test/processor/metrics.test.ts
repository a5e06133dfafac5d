/** The processor's metrics. */
import t from 'tap'
import { createWorld } from '../support/world.js'
import { metricsOf } from './metrics_registry.js'

t.test('relay metrics show the backlog and the catch-up state', async (t) => {
  const world = await createWorld(t)
  let backlog = { waiting: 0, catchingUp: true }
  const metrics = metricsOf(world, { backlog: () => backlog })
  const measured = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('causeway_relay_'))
  t.same(await measured(), ['causeway_relay_backlog 0', 'causeway_relay_catching_up 1'])
  backlog = { waiting: 7, catchingUp: false }
  t.same(await measured(), ['causeway_relay_backlog 7', 'causeway_relay_catching_up 0'])
})
