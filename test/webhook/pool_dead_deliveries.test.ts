/** A pool reports its dead deliveries again after a restart of either side. */
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { someEvents } from '../bus/bus_events.js'
import { aPoolWorld } from './pool_process.js'

t.setTimeout(0)

t.test('dead deliveries are reported after each connection', async (t) => {
  const world = await aPoolWorld(t)
  const { processor } = world
  const { id } = world.endpoint('/hook')
  world.answers.set('/hook', 400)
  await world.start()
  const isReported = async (): Promise<void> => {
    const count = () => processor.dead.get(1)?.find((one) => one.endpoint_id === id)?.count
    await eventually('the pool reports', () => count() === 3)
  }
  await world.publish(someEvents(3))
  await isReported()
  processor.dead.clear()
  processor.cut()
  await isReported()
  processor.dead.clear()
  await world.stop()
  await world.start()
  await isReported()
})
