/** The pause of the system: an answer that has arrived is read before it is judged late. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { systemPause } from '../../src/base/clock.js'

const SUSPENDED_MS = 50

t.test('a pause ends after input that arrived while the process did not run', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [typeof client]
  t.teardown(() => {
    client.destroy()
    socket.destroy()
    server.close()
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
