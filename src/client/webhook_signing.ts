/**
 * Signs a webhook as the service does, so that a partner tests a receiver without the service.
 *
 * - Each call has a new nonce: send the same result twice to test a repeated one.
 */
import { brandHeader, canonicalRequest, newNonce, signatureOf, type SigningKey } from './signing.js'
import type { WebhookEvent } from './types.js'
import type { WebhookRequest } from './webhooks.js'

export interface TestEvent {
  readonly id: string
  readonly type: WebhookEvent['type']
  readonly data: object
}

export interface TestWebhookOptions extends SigningKey {
  /** Path with query, as the receiver sees it. Default: `/`. */
  readonly url?: string
  readonly brand?: string
  /** Epoch milliseconds. */
  readonly now?: () => number
}

/** @returns a POST with the headers and the body of a delivery, as a verifier takes it */
export function signTestWebhook(event: TestEvent, options: TestWebhookOptions): WebhookRequest {
  const { keyId, secret, url = '/', brand = 'Service', now = Date.now } = options
  const { id, type } = event
  const timestamp = new Date(now()).toISOString()
  const repeated = { webhook_event_id: id, webhook_event_type: type, created_at: timestamp }
  const body = Buffer.from(JSON.stringify({ ...repeated, ...event }))
  const nonce = newNonce()
  const canonical = canonicalRequest({ method: 'POST', path: url, timestamp, nonce, body })
  const headers = {
    'Content-Type': 'application/json',
    [brandHeader(brand, 'Key-Id')]: keyId,
    [brandHeader(brand, 'Timestamp')]: timestamp,
    [brandHeader(brand, 'Nonce')]: nonce,
    [brandHeader(brand, 'Signature')]: signatureOf(canonical, secret),
    [brandHeader(brand, 'Webhook-Event-Id')]: id,
    [brandHeader(brand, 'Webhook-Event-Type')]: type,
  }
  return { method: 'POST', url, headers: new Headers(headers), body }
}
