/**
 * The partner's side of the wire for tests: signing, tokens, and HTTP over a raw socket.
 *
 * It signs with the partner client, which shares no code with src/auth.
 */
import { connect } from 'node:net'
import { createTokenKeys, mintReceiptToken, mintSessionToken } from '../../src/auth/token.js'
import type { TokenId } from '../../src/auth/secret_generation.js'
import type { IntentId, TenantId } from '../../src/base/ids.js'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { newNonce, signRequest } from '../../src/client/signing.js'
import { patience } from '../support/patience.js'

export const KEY_ID = 'acme_sandbox_2026q4'
export const PRODUCTION_KEY_ID = 'acme_production_2026q4'
export const SECRET = 'sk_of_acme'
export const TENANT = 'acme_sandbox' as TenantId

/** The id of an intent in paths and tokens. */
export const INTENT = 'pi_01M7Y8R76ZBRBZPA32270W80C3'

export const TOKEN_SECRET = { kid: 'k1', secret: Buffer.alloc(32, 7) }
const TOKEN_KEYS = createTokenKeys([TOKEN_SECRET])

/** A directory with one partner; `partner` overrides its fields. */
export const snapshot = (
  partner: Partial<NonNullable<PartnerUpdate['partners']>[number]> = {},
): PartnerUpdate => ({
  partners: [
    {
      partner_id: 'acme',
      keys: [
        { key_id: KEY_ID, environment: 'sandbox', secret: SECRET, revoked_at: 0 },
        { key_id: PRODUCTION_KEY_ID, environment: 'production', secret: SECRET, revoked_at: 0 },
      ],
      ...partner,
    },
  ],
  token_keys: [TOKEN_SECRET],
  complete: true,
})

export const OTHER_KEY_ID = 'umbrella_sandbox_2026q4'

/** A directory with a second partner and a rate that no test reaches. */
export function twoPartners(): PartnerUpdate {
  const alone = snapshot({ rate_limit_per_second: 100_000 })
  const key = { key_id: OTHER_KEY_ID, environment: 'sandbox', secret: SECRET, revoked_at: 0 }
  return {
    ...alone,
    partners: [...(alone.partners ?? []), { partner_id: 'umbrella', keys: [key] }],
  }
}

export interface Signed {
  readonly method: string
  readonly path: string
  readonly body?: string | Buffer
  readonly keyId?: string
  readonly secret?: string
  readonly timestamp?: string
  readonly nonce?: string
}

export function signedHeaders(request: Signed): Record<string, string> {
  const { method, path, body = '', keyId = KEY_ID, secret = SECRET } = request
  const timestamp = request.timestamp ?? new Date().toISOString()
  const nonce = request.nonce ?? newNonce()
  const { headers } = signRequest({ keyId, secret }, 'Service', {
    ...{ method, path, timestamp, nonce, body },
  })
  return { ...headers }
}

export const bearer = (intentId: string, lifeSeconds = 300, tenant = TENANT): string =>
  `Bearer ${mintSessionToken(TOKEN_KEYS, 'k1', {
    intentId: intentId as IntentId,
    tenant,
    jti: 'A'.repeat(22) as TokenId,
    expiresAt: Math.floor(Date.now() / 1_000) + lifeSeconds,
  })}`

/** 43 characters, the length of every subject. */
export const SUBJECT = 's'.repeat(43)

export const receiptBearer = (lifeSeconds = 300, tenant = TENANT): string =>
  `Bearer ${mintReceiptToken(TOKEN_KEYS, {
    tenant,
    subject: SUBJECT,
    expiresAt: Math.floor(Date.now() / 1_000) + lifeSeconds,
  })}`

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

export interface HttpCall extends Omit<Signed, 'body'> {
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly unsigned?: boolean
}

/** A signed GET. */
export const get = (path: string): HttpCall => ({ method: 'GET', path })

/** A signed POST. An object is sent as JSON, a text unchanged. */
export const post = (path: string, body?: object | string, idempotencyKey?: string): HttpCall => ({
  ...{ method: 'POST', path },
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
})

/** The request with a token in place of a signature. */
export const byToken = (request: HttpCall, authorization: string): HttpCall => ({
  ...request,
  unsigned: true,
  headers: { ...request.headers, Authorization: authorization },
})

/** Sends one request with fetch; signed unless `unsigned`. */
export async function call(port: number, request: HttpCall): Promise<RawAnswer> {
  const { method, path, body, headers = {}, unsigned = false } = request
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(unsigned ? {} : signedHeaders(request)), ...headers },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const json: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, headers: response.headers, text, json }
}

/** The bytes of a request on its own connection. */
export function bytesOf(request: HttpCall, host = 'api.localhost'): string {
  const { method, path, body = '', headers = {}, unsigned = false } = request
  const lines = Object.entries({
    Host: host,
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
    ...(unsigned ? {} : signedHeaders(request)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

export const statusOf = (text: string): number => Number(text.slice(9, 12))

/** A PROXY protocol header: version 2, TCP over IPv4 (haproxy.org, proxy-protocol.txt). */
export function proxyHeader(source: string): Buffer {
  const addresses = [...source.split('.').map(Number), 127, 0, 0, 1, 0x12, 0x34, 0x1f, 0x90]
  const signature = '\r\n\r\n\0\r\nQUIT\n'
  return Buffer.from([...Buffer.from(signature), 0x21, 0x11, 0, addresses.length, ...addresses])
}

const ANSWERED_WITHIN_MS = 15_000
const QUIET_MS = 300
const LOOK_EVERY_MS = 20

/**
 * Writes bytes and reads until the peer closes or sends nothing for `quietMs` (see patience).
 *
 * @param quietMs that time; pass it where there may be no answer at all
 */
export function roundTrip(
  port: number,
  bytes: string | Buffer | (string | Buffer)[],
  quietMs?: number,
  localAddress = '127.0.0.1',
): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    let text = ''
    let quiet = patience(quietMs ?? ANSWERED_WITHIN_MS)
    const looking = setInterval(() => {
      if (quiet.isOver()) finish(false)
    }, LOOK_EVERY_MS)
    const finish = (closed: boolean): void => {
      clearInterval(looking)
      socket.destroy()
      resolve({ text, closed })
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      quiet = patience(quietMs ?? QUIET_MS)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
    socket.on('connect', () => {
      for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part)
    })
  })
}

export const createBody = {
  partner_user_id: 'user-1',
  amount_usd_cents: 1_250,
  corridor: 'th_promptpay',
  kyc_attestation: { verified: true, method: 'passport', verified_at: '2026-01-05T09:30:00Z' },
  sanctions_attestation: { clean: true, screened_at: '2026-11-01T00:00:00+07:00' },
}

export const remintBody = {
  partner_user_id: createBody.partner_user_id,
  kyc_attestation: createBody.kyc_attestation,
  sanctions_attestation: createBody.sanctions_attestation,
}

export const beneficiaryBody = {
  type: 'bank_account',
  name: 'Somchai Jaidee',
  destination_country: 'TH',
  currency: 'THB',
  account_number: '1234567890',
  bank_code: '004',
}

export const payoutBody = {
  amount: '125000',
  currency: 'THB',
  beneficiary_id: 'ben_01',
  reference: 'invoice 7',
}

export const createRequest = (): HttpCall => post('/v1/payment_intents', createBody)
export const payoutRequest = (idempotencyKey = 'k'): HttpCall =>
  post('/v1/payouts', payoutBody, idempotencyKey)
