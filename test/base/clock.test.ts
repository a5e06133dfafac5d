/** Texts of instants; the pause: an answer that has arrived is read before it is judged late. */
import { getEventListeners, once } from 'node:events'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { instant, systemPause, toRfc3339 } from '../../src/base/clock.js'
import { listen } from '../support/listen.js'

const SUSPENDED_MS = 50

t.test('a pause ends after input that arrived while the process did not run', async (t) => {
  const server = createServer()
  const client = connect(await listen(t, server), '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [typeof client]
  t.teardown(() => {
    client.destroy()
    socket.destroy()
  })
  const order: string[] = []
  client.once('data', () => order.push('input'))
  await new Promise((resolve) => setImmediate(resolve)) // timers are next, then input
  const paused = systemPause(1).then(() => order.push('pause'))
  socket.write('answer')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SUSPENDED_MS)
  await paused
  t.same(order, ['input', 'pause'])
})

t.test('a signal ends a pause, and keeps nothing of one that has ended', async (t) => {
  const signal = new AbortController()
  await systemPause(1, signal.signal)
  t.equal(getEventListeners(signal.signal, 'abort').length, 0)
  const paused = systemPause(2 ** 31 - 1, signal.signal)
  signal.abort()
  await paused
  await systemPause(2 ** 31 - 1, signal.signal)
  t.pass('also one that begins later')
})

t.test('every instant has its own text, also beside kept ones', async (t) => {
  const first = Date.UTC(2026, 10, 21, 4, 35, 40, 123)
  const instants = [0, 512, 1, 1_024, 513, 0].map((ms) => first + ms)
  for (const at of [...instants, ...instants, -1, 0, 511 - 512, 2 ** 41, 2 ** 41 + 512]) {
    t.equal(toRfc3339(instant(at)), new Date(at).toISOString())
  }
  t.throws(() => toRfc3339(instant(Number.NaN)), RangeError)
})
