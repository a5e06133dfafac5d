/** A port that one process has chosen, or that a program has, is not given to another. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { readSettings } from '../../src/settings/settings_reader.js'
import { consolePort, freePort, portOrFree, requireFreePorts } from '../../src/supervisor/ports.js'

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

t.test('a preferred port is kept and claimed, unless it is taken or reserved', async (t) => {
  const preferred = await unclaimed()
  t.not(await portOrFree(HOST, preferred, [1, preferred]), preferred, 'reserved')
  t.equal(await portOrFree(HOST, preferred, [1]), preferred)
  t.not(await portOrFree(HOST, preferred, []), preferred, 'claimed')
  const port = await taken()
  t.not(await portOrFree(HOST, port, []), port, 'taken')
})

t.test('the default port of the console gives way, another one does not', async (t) => {
  const settings = readSettings(
    { HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' },
    '',
  )
  const { CONSOLE_PORT: standard } = settings
  t.not(await consolePort({ ...settings, HTTP_PORT: standard }), standard)
  t.not(await consolePort({ ...settings, CONSOLE_PORT: 0 }), 0)
  const port = await taken()
  const chosen = { ...settings, CONSOLE_PORT: port }
  t.equal(await consolePort(chosen), port)
  await t.rejects(requireFreePorts(chosen), {
    message: new RegExp(`^CONSOLE_PORT=${port} is taken`),
  })
  await requireFreePorts({ ...chosen, CONSOLE: 'off' })
  await t.rejects(requireFreePorts({ ...chosen, HTTP_PORT: port }), { message: /are both/ })
})

async function taken(): Promise<number> {
  const server = createServer().listen(0, HOST)
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Neither bound nor claimed when this returns. */
async function unclaimed(): Promise<number> {
  const socket = createSocket('udp4').bind({ address: HOST, port: 0, exclusive: true })
  await once(socket, 'listening')
  const { port } = socket.address()
  await new Promise<void>((done) => socket.close(done))
  return port
}
