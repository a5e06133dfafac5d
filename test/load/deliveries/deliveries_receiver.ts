/**
 * The receivers of a measurement of webhooks: one process, a port for each endpoint.
 *
 * Owns: reading requests off keep-alive connections, answering, noting who got what and when. Does
 * not own: signatures and bodies (test/webhook checks those), what is sent (deliveries).
 *
 * - It is light on purpose, a cut and a fixed answer: what is measured is the sender, and both
 *   share the machine.
 * - An event counts when it is answered 2xx for the first time; its latency is from the moment
 *   that stands at the end of its body.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** `refuses`: nobody listens. `slow`: answers after 5 s. `flaps`: fails every other 3 s. */
export type Manner = 'prompt' | 'refuses' | 'slow' | 'flaps'

export type ToReceivers =
  | { readonly kind: 'manner'; readonly endpoint: number; readonly manner: Manner }
  | { readonly kind: 'report' }

export type FromReceivers =
  | { readonly kind: 'ports'; readonly ports: readonly number[] }
  | { readonly kind: 'count'; readonly accepted: number }
  | { readonly kind: 'report'; readonly receivers: readonly Got[] }

/** Since the report before. */
export interface Got {
  /** Of events that were accepted for the first time. */
  readonly latenciesMs: Float64Array
  /** Accepted once more. */
  readonly again: number
  readonly refused: number
}

/** What a body ends with: `"number":1000000001,"at":1790000000000123}`. */
export const bodyEnd = (number: number, atMicros: number): string =>
  `"number":${FIRST_NUMBER + number},"at":${atMicros}}`
/** Each number and each time has as many digits as every other. */
const FIRST_NUMBER = 1_000_000_000
const NUMBER_DIGITS = 10
const AT_DIGITS = 16
const AT_FROM_END = AT_DIGITS + 1
const NUMBER_FROM_END = AT_FROM_END + ',"at":'.length + NUMBER_DIGITS

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
const UNAVAILABLE = Buffer.from('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: *([0-9]+)/i
const SLOW_MS = 5_000
const FLAP_MS = 3_000
const COUNT_EVERY_MS = 5

export const nowMicros = (): number =>
  Math.round((performance.timeOrigin + performance.now()) * 1_000)

interface Receiver {
  readonly port: number
  behave(manner: Manner): Promise<void>
  accepted(): number
  report(): Got
}

async function openReceiver(): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const seen = new Set<number>()
  let manner: Manner = 'prompt'
  let latenciesMs: number[] = []
  let again = 0
  let refused = 0

  const answer = (socket: Socket, body: Buffer): void => {
    if (manner === 'slow') setTimeout(() => accept(socket, body), SLOW_MS)
    else if (manner === 'flaps' && Math.floor(performance.now() / FLAP_MS) % 2 === 1) {
      refused += 1
      socket.write(UNAVAILABLE)
    } else accept(socket, body)
  }

  const accept = (socket: Socket, body: Buffer): void => {
    if (socket.destroyed) return
    const end = body.length
    const at = Number(body.toString('latin1', end - AT_FROM_END, end - 1))
    const from = end - NUMBER_FROM_END
    const number = Number(body.toString('latin1', from, from + NUMBER_DIGITS))
    if (seen.has(number)) again += 1
    else latenciesMs.push((nowMicros() - at) / 1_000)
    seen.add(number)
    socket.write(OK)
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on(
      'data',
      requestReader((body) => answer(socket, body)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    behave: async (wanted) => {
      if (wanted === 'refuses') await shut(server, sockets)
      else if (manner === 'refuses') await listenAgain(server, port)
      manner = wanted
    },
    accepted: () => seen.size,
    report: () => {
      const got = { latenciesMs: Float64Array.from(latenciesMs), again, refused }
      latenciesMs = []
      again = 0
      refused = 0
      return got
    },
  }
}

/** Cuts a connection's bytes into requests; tells the body of each. */
function requestReader(told: (body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const head = rest.indexOf(HEAD_END)
      if (head < 0) return
      const from = head + HEAD_END.length
      const end = from + Number(LENGTH.exec(rest.toString('latin1', 0, head))?.[1] ?? 0)
      if (rest.length < end) return
      told(rest.subarray(from, end))
      rest = rest.subarray(end)
    }
  }
}

async function shut(server: Server, sockets: Set<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await closed
}

async function listenAgain(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

const tell = (message: FromReceivers): void => void process.send?.(message)

async function serve(count: number): Promise<void> {
  const receivers = await Promise.all(Array.from({ length: count }, openReceiver))
  process.on('message', (message: ToReceivers) => {
    if (message.kind === 'manner') void receivers[message.endpoint]?.behave(message.manner)
    else tell({ kind: 'report', receivers: receivers.map((one) => one.report()) })
  })
  process.on('disconnect', () => process.exit(0))
  let told = 0
  setInterval(() => {
    const accepted = receivers.reduce((sum, one) => sum + one.accepted(), 0)
    if (accepted !== told) tell({ kind: 'count', accepted })
    told = accepted
  }, COUNT_EVERY_MS)
  tell({ kind: 'ports', ports: receivers.map(({ port }) => port) })
}

if (process.send !== undefined && process.argv[2] !== undefined)
  await serve(Number(process.argv[2]))
