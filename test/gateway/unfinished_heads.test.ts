/** Connections with an unfinished first head, while few connections are free. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { eventually } from '../support/eventually.js'
import { head, statusesIn } from './echo_server.js'
import { heldClock } from './held_clock.js'
import { openClient, type RawClient } from './open_client.js'
import { startGateway } from './running_gateway.js'

/** Scarce above a quarter of this. */
const CAPACITY = 40
const SCARCE_ABOVE = CAPACITY / 4
const WITHIN_MS = 300

const notLinux =
  process.platform !== 'linux' && 'only Linux has a loopback network of many addresses'

/** Resolves when it is connected and the bytes are sent. */
async function client(t: Test, port: number, from: string, bytes: string): Promise<RawClient> {
  const opened = openClient(t, port, bytes, from)
  await once(opened.socket, 'connect')
  return opened
}

const start = (t: Test, clock: Clock = systemClock): Promise<{ port: number }> =>
  startGateway(t, { connectionCapacity: CAPACITY, headWithinMs: WITHIN_MS, clock })

const several = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

const HALF = 'POST /v1/payment_intents HTTP/1.1\r\nHost: api.localhost\r\nX-'
const WHOLE = head('GET /nowhere')

t.test('unfinished heads get 503 after the shorter deadline', { skip: notLinux }, async (t) => {
  const { port } = await start(t)
  const early = await several(SCARCE_ABOVE, () => client(t, port, '127.0.0.3', HALF))
  const late = await several(4, () => client(t, port, '127.0.0.4', HALF))
  await eventually('all connections are closed', () => late.every((one) => one.isClosed()))
  for (const one of late) {
    t.same(statusesIn(one.received()), ['503'])
    t.match(one.received(), /^retry-after: 1\r$/im)
  }
  t.notOk(
    early.some((one) => one.isClosed()),
    'earlier connections are not closed',
  )
})

t.test('clients may disconnect first, after any byte', async (t) => {
  const { port } = await start(t)
  await several(SCARCE_ABOVE, () => client(t, port, '127.0.0.3', HALF))
  for (let length = 1; length < HALF.length; length += 3) {
    const { socket } = await client(t, port, '127.0.0.4', HALF.slice(0, length))
    socket.resetAndDestroy()
  }
  const last = await client(t, port, '127.0.0.4', HALF)
  await eventually('all deadlines have passed', () => last.isClosed())
  const { received } = await client(t, port, '127.0.0.5', WHOLE)
  await eventually('the gateway still serves', () => statusesIn(received())[0] === '404')
})

t.test(
  'an address that has completed a head keeps the longer deadline',
  { skip: notLinux },
  async (t) => {
    const clock = heldClock()
    const { port } = await start(t, clock)
    await several(SCARCE_ABOVE, () => client(t, port, '127.0.0.3', HALF))
    const slow = await client(t, port, '127.0.0.4', HALF)
    const kept = await client(t, port, '127.0.0.4', WHOLE)
    await eventually('the request is answered', () => statusesIn(kept.received())[0] === '404')
    const other = await client(t, port, '127.0.0.5', HALF)
    const last = await client(t, port, '127.0.0.6', WHOLE)
    await eventually('all heads have been read', () => statusesIn(last.received())[0] === '404')
    clock.pass(WITHIN_MS)
    await eventually('a later connection is closed', () => other.isClosed())
    t.notOk(slow.isClosed(), 'the slow connection has the longer deadline')
    t.notOk(kept.isClosed(), 'a connection between two requests stays open')
    slow.socket.write('A: b\r\nContent-Length: 0\r\n\r\n')
    kept.socket.write(WHOLE)
    await eventually('both connections are served', () => {
      return (
        /HTTP\/1.1 401/.test(slow.received()) &&
        /HTTP\/1.1 404.*HTTP\/1.1 404/s.test(kept.received())
      )
    })
  },
)
