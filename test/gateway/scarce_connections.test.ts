/**
 * One source holds thousands of unfinished requests open, more than the gateway has file
 * descriptors. Other sources are served; the source itself is rejected.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { bytesOf, createRequest, statusOf } from './signing_partner.js'

const FILES_MAX = 2_048
const HALF_SENT = 4_200
const BATCH = 200

const notLinux =
  process.platform !== 'linux' && 'only Linux has a loopback network of many addresses'

/** A gateway process limited to FILES_MAX open files, sockets included. */
async function limitedGateway(t: Test): Promise<number> {
  const script = fileURLToPath(new URL('./gateway_process.js', import.meta.url))
  const limited = `ulimit -n ${FILES_MAX}; exec "$0" "$1"`
  const child = spawn('/bin/sh', ['-c', limited, process.execPath, script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return port
}

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

/** The complete response; empty when nothing came within the client timeout. */
function askedFrom(localAddress: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    let text = ''
    const waits = patience(3_000)
    const looking = setInterval(() => {
      if (waits.isOver()) finish()
    }, 100)
    const finish = (): void => {
      clearInterval(looking)
      socket.destroy()
      resolve(text)
    }
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', finish)
    socket.on('close', finish)
    socket.write(bytesOf(createRequest()))
  })
}

t.test(
  'thousands of unfinished requests of one source do not block others',
  { skip: notLinux },
  async (t) => {
    const port = await limitedGateway(t)
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
