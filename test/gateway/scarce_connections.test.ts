/**
 * One source holds thousands of unfinished requests open, more than the gateway has file
 * descriptors. Other sources are served; the source itself is rejected.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { bytesOf, createRequest, roundTrip, statusOf } from './signing_partner.js'
import { spawnGateway } from './spawned_gateway.js'

/** The files that the gateway may open, sockets included. */
const FILES_MAX = 2_048
const HALF_SENT = 4_200
const BATCH = 200

const notLinux =
  process.platform !== 'linux' && 'only Linux has a loopback network of many addresses'

/** Starts a request without finishing it. Resolves when connected. */
function halfSent(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write('POST /v1/payment_intents HTTP/1.1\r\nHost: api.localhost\r\nX-')
      resolve(socket)
    })
    socket.on('error', () => resolve(socket))
    socket.resume()
  })
}

const LISTENS = '0A'

/**
 * Connections that the kernel holds until the gateway takes them (proc_net_tcp(5)): with a full
 * queue those of every source wait for the kernel's retries.
 */
function waitingIn(port: number): number {
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'latin1').split('\n'),
  )
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === LISTENS && portIn(local) === port)
    .reduce((sum, [, , , , queues = '']) => sum + parseInt(queues.split(':')[1] ?? '0', 16), 0)
}

const portIn = (address: string): number => parseInt(address.split(':').at(-1) ?? '', 16)

const askedFrom = async (localAddress: string, port: number): Promise<string> =>
  (await roundTrip(port, bytesOf(createRequest()), 3_000, localAddress)).text

t.test(
  'thousands of unfinished requests of one source do not block others',
  { skip: notLinux },
  async (t) => {
    const { port } = await spawnGateway(t, FILES_MAX)
    const open: Socket[] = []
    t.teardown(() => {
      for (const socket of open) socket.destroy()
    })
    const openMore = async (count: number): Promise<void> => {
      for (let opened = 0; opened < count; opened += BATCH) {
        open.push(...(await Promise.all(Array.from({ length: BATCH }, () => halfSent(port)))))
        await eventually('the gateway has taken them', () => waitingIn(port) === 0)
      }
    }
    await openMore(HALF_SENT)
    for (let call = 1; call <= 5; call++) {
      t.equal(statusOf(await askedFrom('127.0.0.2', port)), 201, `another source, call ${call}`)
    }
    const refused = await eventually('the source itself is rejected', async () => {
      const answer = await askedFrom('127.0.0.1', port)
      if (statusOf(answer) === 429) return answer
      await openMore(FILES_MAX) // on a busy machine the gateway has closed the first ones
      return false
    })
    t.match(refused, /^retry-after: 1\r$/im)
    t.match(refused, /"code":"rate_limited"/)

    for (const socket of open) socket.destroy()
    await eventually('the source is served again', async () => {
      return statusOf(await askedFrom('127.0.0.1', port)) === 201
    })
  },
)
