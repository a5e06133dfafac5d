/** The connection limit: counts of the gateway and the kernel, and both at a real server. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  createConnectionCap,
  type OpenConnections,
} from '../../gateway/admission/connection_limit.js'
import { openConnections } from '../../gateway/admission/socket_count.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { openClient } from './open_client.js'
import { bytesOf, createRequest, roundTrip, statusOf } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const CAPACITY = 1_000_000
const capOf = (max: number, countOpen: () => Promise<OpenConnections>) =>
  createConnectionCap({ max, countOpen, log })

t.test('a source is rejected at its limit, and another one is not', async (t) => {
  const cap = capOf(4, () => Promise.resolve(new Map([['a', 4]])))
  for (let i = 0; i < 4; i++) t.equal(cap('a', CAPACITY), true)
  await setImmediatePassed()
  t.equal(cap('a', CAPACITY), false)
  t.equal(cap('b', CAPACITY), true)
})

t.test('closed connections do not count after a recount', async (t) => {
  let open = new Map([['a', 1]])
  const cap = capOf(4, () => Promise.resolve(open))
  for (let i = 0; i < 4; i++) t.equal(cap('a', CAPACITY), true)
  await setImmediatePassed()
  t.equal(cap('a', CAPACITY), true, 'one counted by the kernel, and two opened since')
  t.equal(cap('a', CAPACITY), false)
  open = new Map()
  await eventually('the table was read again', () => cap('a', CAPACITY))
})

t.test('a source that closes all connections is not rejected by an old count', async (t) => {
  let open = new Map([['a', 4]])
  let counts = 0
  const countOpen = (): Promise<OpenConnections> => {
    counts += 1
    return Promise.resolve(open)
  }
  const cap = capOf(4, countOpen)
  for (let i = 0; i < 4; i++) t.equal(cap('a', CAPACITY), true)
  await setImmediatePassed()
  t.equal(cap('a', CAPACITY), false)
  open = new Map()
  const before = counts
  await eventually('the table is read again without a new connection', () => counts > before)
  await setImmediatePassed()
  t.equal(cap('a', CAPACITY), true, 'the next connection is accepted')
})

t.test('the table may have more sources than a function call takes arguments', async (t) => {
  let counts = 0
  const countOpen = (): Promise<OpenConnections> => {
    counts += 1
    const sources = Array.from({ length: 300_000 }, (_, i): [string, number] => [`s${i}`, 1])
    return Promise.resolve(new Map([...sources, ['a', 4]]))
  }
  const cap = capOf(4, countOpen)
  for (let i = 0; i < 4; i++) cap('a', CAPACITY)
  await eventually('the table is read again without a new connection', () => counts > 1)
  t.equal(cap('a', CAPACITY), false)
})

t.test('for any sequence no source holds more than the limit', async (t) => {
  const MAX = 6
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('open', 'end', 'counted', 'reported'), { maxLength: 200 }),
      async (steps) => {
        let held = 0
        let answer: ((counts: OpenConnections) => void) | undefined
        let counted: OpenConnections = new Map()
        const countOpen = (): Promise<OpenConnections> =>
          new Promise((resolve) => {
            counted = new Map([['a', held]])
            answer = resolve
          })
        const cap = capOf(MAX, countOpen)
        for (const step of steps) {
          if (step === 'open' && cap('a', CAPACITY)) held += 1
          if (step === 'end') held = Math.max(0, held - 1)
          // The recount may read the table at any time before it resolves.
          if (step === 'counted') counted = new Map([['a', held]])
          if (step === 'reported') {
            answer?.(counted)
            await setImmediatePassed()
          }
          if (held > MAX) return false
        }
        return true
      },
    ),
  )
  t.pass()
})

t.test('without a socket table no connection is rejected', async (t) => {
  const cap = capOf(2, () => Promise.reject(new Error('no such file')))
  cap('a', CAPACITY)
  cap('a', CAPACITY)
  await setImmediatePassed()
  for (let i = 0; i < 10; i++) t.equal(cap('a', CAPACITY), true)
})

const noKernelList = process.platform !== 'linux' && 'only Linux has the list'

t.test('the socket table lists the connections to a port', { skip: noKernelList }, async (t) => {
  for (const host of ['127.0.0.1', '::']) {
    const server = createServer()
    await once(server.listen(0, host), 'listening')
    const { port } = server.address() as AddressInfo
    t.equal((await openConnections(port)).size, 0)
    const sockets = await opened(t, port, 3)
    // A connection is in the table once the kernel has handled the client's last packet.
    const found = await eventually(`three connections to ${host}`, async () => {
      const counts = [...(await openConnections(port))]
      return counts.some(([, count]) => count >= 3) && counts
    })
    t.same(found, [['127.0.0.1', 3]], `listening on ${host}`)
    for (const socket of sockets) socket.destroy()
    await eventually('no connection is open', async () => (await openConnections(port)).size === 0)
    server.close()
  }
})

t.test('a gateway closes connections above the limit, then serves again', async (t) => {
  const gateway = await startGateway(t, { connectionsMax: 8 })
  const sockets = await opened(t, gateway.port, 8)
  await eventually(
    'one more is rejected',
    async () => statusOf(await answerOf(gateway.port)) === 429,
  )
  t.match(await gateway.metrics(), /causeway_http_limited_total\{limit="connections"\} [1-9]/)
  for (const socket of sockets) socket.destroy()
  await eventually(
    'connections are accepted again',
    async () => statusOf(await answerOf(gateway.port)) === 201,
  )
})

t.test('a source gets at most half of the free connections', async (t) => {
  for (const count of [1, 2, 3, 9]) {
    const cap = capOf(4_000, () => new Promise(() => {}))
    const all = 1_000
    const held = new Map<string, number>()
    let open = 0
    for (let turn = 0; turn < all; turn++) {
      for (let source = 0; source < count; source++) {
        const name = `s${source}`
        if (!cap(name, all - open - 1)) continue
        open += 1
        held.set(name, (held.get(name) ?? 0) + 1)
      }
    }
    const share = all / (count + 1)
    for (const one of held.values()) t.ok(Math.abs(one - share) <= 2, `${one} of ${share}`)
    t.ok(cap('newcomer', all - open - 1), 'another source is accepted')
  }
})

t.test('without capacity every new connection is answered 503', async (t) => {
  const gateway = await startGateway(t, {
    connectionCapacity: 2,
    environment: { RATE_LIMIT: 'off' },
  })
  const sockets = await opened(t, gateway.port, 2)
  const refused = await answerOf(gateway.port)
  t.equal(statusOf(refused), 503)
  t.match(refused, /^retry-after: 1\r$/im)
  for (const socket of sockets) socket.destroy()
  await eventually(
    'connections are accepted again',
    async () => statusOf(await answerOf(gateway.port)) === 201,
  )
})

t.test('RATE_LIMIT=off and trusted proxies have no connection limit', async (t) => {
  for (const environment of [{ RATE_LIMIT: 'off' }, { TRUSTED_PROXIES: '127.0.0.0/8' }]) {
    const gateway = await startGateway(t, { connectionsMax: 2, environment })
    await opened(t, gateway.port, 6)
    t.equal(statusOf(await answerOf(gateway.port)), 201)
  }
})

const answerOf = async (port: number): Promise<string> =>
  (await roundTrip(port, bytesOf(createRequest()))).text

/** Lets resolved promises run. */
function setImmediatePassed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function opened(t: Test, port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => openClient(t, port).socket)
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}
