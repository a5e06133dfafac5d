/** A port that one process has chosen is not given to another before it is bound. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import { freePort } from '../../src/supervisor/ports.js'

const HOST = '127.0.0.1'

/** As another process would claim it. */
function claim(port: number): Socket {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  return socket.bind({ address: HOST, port, exclusive: true })
}

t.test('a chosen port stays claimed', async (t) => {
  await t.rejects(once(claim(await freePort(HOST)), 'listening'), { code: 'EADDRINUSE' })
})

t.test('a port that another process has claimed is passed over', async (t) => {
  const next = (await freePort(HOST)) + 1
  await once(claim(next), 'listening').catch(() => undefined) // another test may have it already
  t.not(await freePort(HOST), next)
})
