/** A webhook receiver on this machine that verifies deliveries with the partner client. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../base/clock.js'
import { createWebhookVerifier, type WebhookFault } from '../../client/index.js'

export interface ReceivedWebhook {
  readonly eventId: string
  readonly eventType: string
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  /** `duplicate`: valid, and stored before. */
  readonly verdict: 'valid' | 'duplicate' | WebhookFault
}

export interface ReceiverOptions {
  readonly clock: Clock
  readonly brand: string
  /** 0 means any free port. */
  readonly port: number
  /** The webhook secret of an outbound key id. */
  readonly secretOf: (keyId: string) => string | undefined
  /** The reply status of a valid delivery, 200 by default. The verifier decides on others. */
  readonly answer?: (delivery: ReceivedWebhook) => number | Promise<number>
  /** After the reply, with its status. */
  readonly onAnswered?: (delivery: ReceivedWebhook, status: number) => void
}

export interface Receiver {
  readonly url: string
  /** Every request in order of arrival. */
  readonly deliveries: readonly ReceivedWebhook[]
  /** Stored events by id. */
  readonly events: ReadonlyMap<string, ReceivedWebhook>
  close(): Promise<void>
}

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const deliveries: ReceivedWebhook[] = []
  const events = new Map<string, ReceivedWebhook>()
  const { brand, clock, secretOf } = options
  const verify = createWebhookVerifier({ secretOf, events, brand, now: () => clock.now() })

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(request)
    const { method = '', url = '', headers } = request
    const verification = await verify({ method, url, headers, body })
    const delivery: ReceivedWebhook = {
      eventId: String(headers[`x-${brand.toLowerCase()}-webhook-event-id`] ?? ''),
      eventType: String(headers[`x-${brand.toLowerCase()}-webhook-event-type`] ?? ''),
      body,
      headers,
      verdict:
        verification.kind === 'refused'
          ? verification.fault
          : verification.kind === 'duplicate'
            ? 'duplicate'
            : 'valid',
    }
    deliveries.push(delivery)
    const { answer = () => 200 } = options
    const isRefused = verification.kind === 'refused'
    response.statusCode = isRefused ? verification.status : await answer(delivery)
    const stored = response.statusCode < 300 && delivery.verdict === 'valid'
    if (stored) events.set(delivery.eventId, delivery)
    response.end()
    options.onAnswered?.(delivery, response.statusCode)
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port, '127.0.0.1', done)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    deliveries,
    events,
    close: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
