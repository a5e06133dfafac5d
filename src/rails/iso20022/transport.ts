/**
 * Signed messages over HTTPS with certificates of both sides: sending them, and taking the peer's.
 *
 * Does not own: what is in a body (codec), what it means (bank).
 *
 * - Only a body with a valid signature of the peer leaves this file, in both directions.
 * - Bodies are bounded while they are read, and every call and request in time.
 */
import { Agent, createServer, request, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SECOND } from '../../base/clock.js'
import { joinAddress, splitAddress } from '../../base/network.js'
import { MESSAGE_BOUNDS, STATEMENT_BOUNDS } from './codec.js'
import type { TlsMaterial } from './membership_file.js'
import { SIGNATURE_HEADER, type Signer, type Verifier } from './signature.js'

export interface TransportOptions {
  readonly tls: TlsMaterial
  readonly signer: Signer
  readonly verifier: Verifier
}

/** Less than the adapter waits for a call (bank_calls). */
const ANSWERED_WITHIN_MS = 20 * SECOND
const RECEIVED_WITHIN_MS = 10 * SECOND
const SOCKETS_MAX = 64
const CONNECTIONS_MAX = 256
const HEADERS_MAX = 32
const CONTENT_TYPE = 'application/xml; charset=utf-8'
const MINIMUM_TLS = { minVersion: 'TLSv1.2' } as const

/** The peer's answer cannot be used. The text has no value of a message. */
class TransportFault extends Error {
  override name = 'TransportFault'
}

export class SignatureFault extends TransportFault {
  override name = 'SignatureFault'
}

export interface Sender {
  /**
   * The peer's answer. Undefined means that it took the message and answers later. @throws Error
   */
  send(body: Uint8Array): Promise<Buffer | undefined>
  close(): void
}

export function createSender(url: string, { tls, signer, verifier }: TransportOptions): Sender {
  const agent = new Agent({ ...tls, ...MINIMUM_TLS, keepAlive: true, maxSockets: SOCKETS_MAX })
  return {
    send: async (body) => {
      const signature = await signer.sign(body)
      const { status, answer, header } = await posted(url, agent, body, signature)
      if (status === 202 || status === 204) return undefined
      if (status !== 200) throw new TransportFault(`the switch answered ${status}`)
      if (await verifier.verify(answer, header)) return answer
      throw new SignatureFault('the answer has no valid signature')
    },
    close: () => agent.destroy(),
  }
}

interface Posted {
  readonly status: number
  readonly answer: Buffer
  readonly header: string | undefined
}

function posted(url: string, agent: Agent, body: Uint8Array, signature: string): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      ...{ agent, method: 'POST', signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) },
      headers: {
        ...{ 'content-type': CONTENT_TYPE, 'content-length': body.length },
        [SIGNATURE_HEADER]: signature,
      },
    })
    call.on('error', reject) // a destroyed call can have a second one
    call.once('response', (response) => {
      const status = response.statusCode ?? 0
      const header = signatureIn(response)
      bodyOf(response, MESSAGE_BOUNDS.bytes).then(
        (answer) => resolve({ status, answer, header }),
        (error: Error) => {
          call.destroy()
          reject(error)
        },
      )
    })
    call.end(body)
  })
}

const signatureIn = ({ headers }: IncomingMessage): string | undefined => {
  const found = headers[SIGNATURE_HEADER]
  return typeof found === 'string' ? found : undefined
}

/** @throws TransportFault as soon as there are more bytes */
async function bodyOf(message: IncomingMessage, max: number): Promise<Buffer> {
  if (Number(message.headers['content-length'] ?? 0) > max) throw new TooLarge()
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message) {
    length += (chunk as Buffer).length
    if (length > max) throw new TooLarge()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

class TooLarge extends TransportFault {
  constructor() {
    super('the body is too large')
  }
}

export interface Reply {
  readonly status: number
  readonly body?: Uint8Array
  /** Instead of ours, for trials. */
  readonly signature?: string
}

export interface ReceiverOptions extends TransportOptions {
  /** `host:port`; port 0 takes a free one. */
  readonly address: string
  /** Gets a body with a valid signature. `cut` ends the connection without an answer. */
  readonly take: (body: Buffer) => Promise<Reply | 'cut'>
  /** A body without a valid signature, or one that is not read. */
  readonly onRefused: (fault: 'unsigned' | 'too_large') => void
}

export interface Receiver {
  readonly address: string
  close(): Promise<void>
}

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { tls, address } = options
  const server = createServer(
    {
      ...{ ...tls, ...MINIMUM_TLS, requestCert: true, rejectUnauthorized: true },
      ...{ requestTimeout: RECEIVED_WITHIN_MS, headersTimeout: RECEIVED_WITHIN_MS },
      ...{ handshakeTimeout: RECEIVED_WITHIN_MS },
    },
    (incoming, response) => void answer(incoming, response, options),
  )
  server.maxConnections = CONNECTIONS_MAX
  server.maxHeadersCount = HEADERS_MAX
  const { host, port } = splitAddress(address)
  await listening(server, host, port)
  const bound = (server.address() as AddressInfo).port
  return {
    address: joinAddress({ host, port: bound }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
): Promise<void> {
  const { socket } = incoming // a request whose connection has ended has none
  try {
    const reply = await replyTo(incoming, options)
    if (reply === 'cut') return void socket.destroy()
    const { status, body, signature } = reply
    if (body === undefined) return void response.writeHead(status).end()
    const header = signature ?? (await options.signer.sign(body))
    const headers = { 'content-type': CONTENT_TYPE, [SIGNATURE_HEADER]: header }
    response.writeHead(status, headers).end(body)
  } catch (error) {
    // The rest of a body that is too large is not read.
    if (error instanceof TooLarge) options.onRefused('too_large')
    if (!response.headersSent) response.writeHead(error instanceof TooLarge ? 413 : 500)
    response.end(() => socket.destroy())
  }
}

async function replyTo(
  incoming: IncomingMessage,
  options: ReceiverOptions,
): Promise<Reply | 'cut'> {
  if (incoming.method !== 'POST') return { status: 405 }
  const body = await bodyOf(incoming, STATEMENT_BOUNDS.bytes)
  if (await options.verifier.verify(body, signatureIn(incoming))) return options.take(body)
  options.onRefused('unsigned')
  return { status: 401 }
}
