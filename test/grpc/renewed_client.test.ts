/** A peer that accepts a connection and sends nothing is not waited for. */
import { connect, createServer, type Socket } from 'node:net'
import { Client, connectivityState, credentials, Server } from '@grpc/grpc-js'
import t from 'tap'
import { createRenewedClient } from '../../src/grpc/renewed_client.js'
import { eventually } from '../support/eventually.js'
import { listenGrpc } from '../support/grpc_listen.js'
import { listen } from '../support/listen.js'

const LOOK_EVERY_MS = 50

t.test('a channel that does not connect is opened again, one that is ready stays', async (t) => {
  const server = new Server()
  const port = Number((await listenGrpc(server)).split(':')[1])
  const sockets: Socket[] = []
  const listener = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined))
    if (sockets.length > 1) socket.pipe(connect(port)).pipe(socket)
  })
  const address = `127.0.0.1:${await listen(t, listener)}`
  let looks = 0
  const opened: Client[] = []
  const client = createRenewedClient((options) => {
    const next = new Client(address, credentials.createInsecure(), options)
    const channel = next.getChannel()
    const stateOf = channel.getConnectivityState.bind(channel)
    channel.getConnectivityState = (connects) => (looks++, stateOf(connects))
    opened.push(next)
    return next
  }, LOOK_EVERY_MS)
  t.teardown(() => {
    client.close()
    for (const socket of sockets) socket.destroy()
    server.forceShutdown()
  })

  const isReady = (): boolean =>
    client.current().getChannel().getConnectivityState(false) === connectivityState.READY
  await eventually('it is connected', isReady)
  t.equal(client.current(), opened.at(-1))
  const former = opened[0]?.getChannel().getConnectivityState(false)
  t.equal(former, connectivityState.SHUTDOWN)
  const [before, count] = [looks, opened.length]
  await eventually('it is looked at again', () => looks > before + 3)
  t.equal(opened.length, count)
})
