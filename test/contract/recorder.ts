/** Records calls to a stack, in the form of gateway/openapi/examples.json. */
import { createHash } from 'node:crypto'
import { ROUTES } from '../../gateway/app.js'
import type { Examples, RecordedCall, RecordedWebhook } from '../../gateway/openapi/examples.js'
import { EVENT_TYPES } from '../../src/base/event_types.js'
import { canonicalRequest, signatureOf, signRequest } from '../../src/client/signing.js'
import type { HttpAnswer, Partner } from '../support/partner.js'
import type { ReceivedWebhook } from '../support/receiver.js'
import {
  createNormalizer,
  KEY_ID,
  SIGNING_SECRET,
  TIMESTAMP,
  SHOWN_TEXTS,
  WEBHOOK_SECRET,
  type Normalizer,
} from './normalize.js'

export interface RecordedOptions {
  /** Default: `default`. */
  readonly name?: string
  readonly body?: unknown
  readonly key?: string
  /** Default: the request is signed. */
  readonly token?: { readonly kind: 'session_token' | 'receipt_token'; readonly value: string }
  /** Default: false. For operations without authentication. */
  readonly unsigned?: boolean
}

interface Recorded extends RecordedOptions {
  readonly operation: string
  readonly method: string
  readonly path: string
}

export interface Recorder {
  readonly normalizer: Normalizer
  /** Sends the request and records it with its answer. @throws when the status differs */
  call(
    operation: string,
    path: string,
    status: number,
    options?: RecordedOptions,
  ): Promise<Record<string, unknown>>
  examples(deliveries: readonly ReceivedWebhook[]): Examples
}

const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'x-request-id': 'X-Request-Id',
  'idempotency-key': 'Idempotency-Key',
  'idempotent-replayed': 'Idempotent-Replayed',
}

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

export function createRecorder(partner: Partner): Recorder {
  const normalizer = createNormalizer()
  const operations: Record<string, RecordedCall[]> = {}

  const recordedCallOf = (recorded: Recorded, answer: HttpAnswer): RecordedCall => {
    const { operation, name = 'default', method, key, token } = recorded
    const path = normalizer.text(recorded.path)
    const body = normalizer.json(recorded.body)
    const nonce = hex(`${operation} ${name}`)
    const signed = signRequest({ keyId: KEY_ID, secret: SIGNING_SECRET }, 'Service', {
      ...{ method, path: path.split('?', 1).join(), timestamp: TIMESTAMP, nonce },
      body: body === undefined ? '' : JSON.stringify(body),
    })
    const bearer = token && { Authorization: `Bearer ${SHOWN_TEXTS[token.kind]}` }
    const proof = recorded.unsigned === true ? {} : (bearer ?? signed.headers)
    const headers = Object.entries(ANSWER_HEADERS).flatMap(([lower, written]) => {
      const value = answer.headers[lower]
      return typeof value === 'string' ? [[written, normalizer.text(value)] as const] : []
    })
    return {
      name,
      request: {
        method,
        path,
        headers: { ...proof, ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
        ...(body === undefined ? {} : { body }),
      },
      answer: {
        status: answer.status,
        headers: Object.fromEntries(headers),
        body: normalizer.json(answer.body),
      },
    }
  }

  return {
    normalizer,
    call: async (operation, path, status, options = {}) => {
      const { body, key, token, unsigned } = options
      const { method } = ROUTES.find((route) => route.operation.id === operation)!
      const bearer = unsigned === true ? 'none' : token?.value
      const connection = bearer === undefined ? partner : partner.session(bearer)
      const headers = key === undefined ? {} : { 'Idempotency-Key': key }
      const answer = await connection.request(method, path, body, { headers })
      if (answer.status !== status) throw new Error(`${operation}: ${answer.status} ${answer.text}`)
      ;(operations[operation] ??= []).push(
        recordedCallOf({ ...options, operation, method, path }, answer),
      )
      return answer.body as Record<string, unknown>
    },
    examples: (deliveries) => ({
      signing_secret: SIGNING_SECRET,
      operations,
      webhooks: Object.fromEntries(
        EVENT_TYPES.flatMap((type) => {
          const [first] = deliveries
            .filter(({ eventType }) => eventType === type)
            .sort((one, other) => (one.eventId < other.eventId ? -1 : 1))
          return first === undefined ? [] : [[type, webhookOf(normalizer, type, first)] as const]
        }),
      ),
    }),
  }
}

const ENDPOINT_PATH = '/hooks'

function webhookOf(
  normalizer: Normalizer,
  type: string,
  { headers, body: bytes }: ReceivedWebhook,
): RecordedWebhook {
  const body = normalizer.json(JSON.parse(bytes.toString())) as { readonly id: string }
  const nonce = hex(type)
  const canonical = canonicalRequest({
    ...{ method: 'POST', path: ENDPOINT_PATH, timestamp: TIMESTAMP, nonce },
    body: JSON.stringify(body),
  })
  return {
    headers: {
      'X-Service-Key-Id': normalizer.text(String(headers['x-service-key-id'])),
      'X-Service-Timestamp': TIMESTAMP,
      'X-Service-Nonce': nonce,
      'X-Service-Signature': signatureOf(canonical, WEBHOOK_SECRET),
      'X-Service-Webhook-Event-Id': body.id,
      'X-Service-Webhook-Event-Type': type,
    },
    body,
  }
}
