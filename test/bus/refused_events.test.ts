/** A stream that is there and refuses events: the log says why, and so does the bus. */
import { connect, DiscardPolicy } from 'nats'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { Logger } from '../../src/base/log.js'
import { EVENT_STREAM } from '../../src/base/subjects.js'
import { connectBus, type Bus } from '../../src/bus/nats.js'
import { eventually } from '../support/eventually.js'
import { readableLog, SILENT_LOG } from '../support/logs.js'
import { startNats, type NatsServer } from '../support/nats_server.js'
import { someEvents } from './bus_events.js'

async function aBus(t: Test, { url }: NatsServer, log: Logger): Promise<Bus> {
  const bus = connectBus({ url, consumes: false, clock: systemClock, log })
  t.teardown(() => bus.close())
  await eventually('bus up', () => bus.status() === 'up')
  return bus
}

t.test('the log says why the stream refuses events', async (t) => {
  const server = await startNats(t, 'jetstream { max_file_store: 20000 }')
  const { lines, log } = readableLog('warn')
  const bus = await aBus(t, server, log)
  const stored: boolean[] = []
  await eventually('its storage is used up', async () => {
    const [event] = someEvents(1)
    stored.push(await bus.publisher.publish(event!, event!.id))
    return lines.length > 0
  })
  t.equal(stored[0], true)
  t.equal(stored.at(-1), false)
  t.match(lines, [/"reason":"insufficient .*"message":"bus refuses events"/])
  t.match(bus.refusal(), /^insufficient /)
  const [another] = someEvents(1)
  t.equal(await bus.publisher.publish(another!, another!.id), false)
  t.equal(lines.length, 1, 'each reason once')
})

t.test('a refusal ends with the next event that is stored', async (t) => {
  const server = await startNats(t)
  const bus = await aBus(t, server, SILENT_LOG)
  const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
  t.teardown(() => link.close())
  const { streams } = await link.jetstreamManager()
  t.equal(bus.refusal(), null)
  await streams.update(EVENT_STREAM, { max_bytes: 1, discard: DiscardPolicy.New })
  const [event] = someEvents(1)
  t.equal(await bus.publisher.publish(event!, event!.id), false)
  t.equal(bus.refusal(), 'maximum bytes exceeded')
  await streams.update(EVENT_STREAM, { max_bytes: -1 })
  t.equal(await bus.publisher.publish(event!, event!.id), true)
  t.equal(bus.refusal(), null)

  await streams.update(EVENT_STREAM, { max_bytes: 1 })
  t.equal(await bus.publisher.publish(event!, `${event!.id}:sweep1`), false)
  t.not(bus.refusal(), null)
  await server.kill()
  await eventually('the loss is seen', () => bus.status() === 'down')
  t.equal(bus.refusal(), null, 'a bus that is down refuses nothing')
})
