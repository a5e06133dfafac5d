/**
 * The partner API with safe retries, for a partner's backend and app.
 *
 * - An idempotent write carries the same Idempotency-Key in every attempt. Store a key of your own
 *   before the call to survive a crash of your program.
 * - Keys are printable ASCII; the key in the answer must equal the key that was sent.
 * - Answers of 400 and above are thrown (errors.ts).
 */
import { randomUUID } from 'node:crypto'
import { connect, type BearerConnection, type Credentials } from './connection.js'
import { ConnectionError, errorOf, IdempotencyKeyError } from './errors.js'
import type { HttpAnswer } from './http.js'
import { delayMs, isRetried, RETRY, type RetryOptions } from './retry.js'
import type {
  Balance,
  Beneficiary,
  CreateBeneficiary,
  CreatedPaymentIntent,
  CreateIntent,
  CreatePayout,
  KycAttestation,
  Page,
  PaymentIntent,
  Payout,
  PayoutFilter,
  Receipt,
  ReceiptToken,
  SanctionsAttestation,
  Scan,
  ScanResult,
  SessionToken,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from './types.js'

export interface ClientOptions {
  readonly retry?: Partial<RetryOptions>
  readonly timeoutMs?: number
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number
  /** From 0 to 1; for tests. */
  readonly random?: () => number
  /** For tests. */
  readonly sleep?: (ms: number) => Promise<void>
}

export interface Keyed {
  /** 1 to 255 printable ASCII characters; default: a new UUID. */
  readonly idempotencyKey?: string
}

const PRINTABLE_ASCII = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

type Send = (
  connection: BearerConnection,
  method: string,
  path: string,
  body?: unknown,
  idempotencyKey?: string,
) => Promise<HttpAnswer>

export type Client = ReturnType<typeof createClient>

export function createClient(credentials: Credentials, options: ClientOptions = {}) {
  const connection = connect(credentials, options)
  const send = retrying(options)

  const get = async <T>(path: string): Promise<T> => (await send(connection, 'GET', path)).body as T
  const post = async <T>(path: string, body?: unknown, key?: string): Promise<T> =>
    (await send(connection, 'POST', path, body, key)).body as T

  return {
    paymentIntents: {
      create: (intent: CreateIntent, { idempotencyKey = randomUUID() }: Keyed = {}) =>
        post<CreatedPaymentIntent>('/v1/payment_intents', intent, idempotencyKey),
      get: (id: string) => get<PaymentIntent>(`/v1/payment_intents/${id}`),
      cancel: (id: string) => post<PaymentIntent>(`/v1/payment_intents/${id}/cancel`),
      refund: (id: string, { idempotencyKey = randomUUID() }: Keyed = {}) =>
        post<PaymentIntent>(`/v1/payment_intents/${id}/refund`, undefined, idempotencyKey),
      newSession: (
        id: string,
        user: {
          readonly partner_user_id: string
          readonly kyc_attestation: KycAttestation
          readonly sanctions_attestation: SanctionsAttestation
        },
      ) => post<SessionToken>(`/v1/payment_intents/${id}/session`, user),
      receiptToken: (id: string) => post<ReceiptToken>(`/v1/payment_intents/${id}/receipt_token`),
    },
    beneficiaries: {
      create: (beneficiary: CreateBeneficiary) =>
        post<Beneficiary>('/v1/beneficiaries', beneficiary),
      get: (id: string) => get<Beneficiary>(`/v1/beneficiaries/${id}`),
      disable: (id: string) => post<Beneficiary>(`/v1/beneficiaries/${id}/disable`),
      list: () => pages<Beneficiary>(get, '/v1/beneficiaries', {}),
    },
    payouts: {
      create: (payout: CreatePayout, { idempotencyKey = randomUUID() }: Keyed = {}) =>
        post<Payout>('/v1/payouts', payout, idempotencyKey),
      get: (id: string) => get<Payout>(`/v1/payouts/${id}`),
      list: (filter: PayoutFilter = {}) => pages<Payout>(get, '/v1/payouts', filter),
    },
    balances: async () => (await get<{ data: readonly Balance[] }>('/v1/balances')).data,
    webhookEndpoints: {
      create: (endpoint: { readonly url: string; readonly enabled_events?: readonly string[] }) =>
        post<WebhookEndpointWithSecret>('/v1/webhook_endpoints', endpoint),
      get: (id: string) => get<WebhookEndpoint>(`/v1/webhook_endpoints/${id}`),
      test: (id: string) => post<{ readonly id: string }>(`/v1/webhook_endpoints/${id}/test`),
      rotateSecret: (id: string) =>
        post<WebhookEndpointWithSecret>(`/v1/webhook_endpoints/${id}/rotate_secret`),
      delete: async (id: string): Promise<void> => {
        await send(connection, 'DELETE', `/v1/webhook_endpoints/${id}`)
      },
    },
    /** Operations of an app with the session token of one intent. */
    session: (token: string) => sessionOf(connection.session(token), send),
    /** Operations of an app with a receipt token. */
    receipts: (token: string) => ({
      get: async (intentId: string) => {
        const path = `/v1/payment_intents/${intentId}/receipt`
        return (await send(connection.session(token), 'GET', path)).body as Receipt
      },
    }),
    /** Any other operation. */
    request: (method: string, path: string, body?: unknown, { idempotencyKey }: Keyed = {}) =>
      send(connection, method, path, body, idempotencyKey),
  }
}

function sessionOf(connection: BearerConnection, send: Send) {
  return {
    get: async (intentId: string) =>
      (await send(connection, 'GET', `/v1/payment_intents/${intentId}`)).body as PaymentIntent,
    scan: async (intentId: string, scan: Scan) =>
      (await send(connection, 'POST', `/v1/payment_intents/${intentId}/scan`, scan))
        .body as ScanResult,
    /** Store the key on disk before the call: only the same key makes a repeated confirm safe. */
    confirm: async (
      intentId: string,
      idempotencyKey: string,
      quote?: { readonly quote_id: string; readonly quote_version: number },
    ) => {
      const path = `/v1/payment_intents/${intentId}/confirm`
      return (await send(connection, 'POST', path, quote ?? {}, idempotencyKey))
        .body as PaymentIntent
    },
  }
}

/** All items of a list, page by page as they are read. */
async function* pages<Item>(
  get: <T>(path: string) => Promise<T>,
  path: string,
  filter: Readonly<Record<string, string | number | undefined>> | PayoutFilter,
): AsyncGenerator<Item> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) query.set(name, String(value))
  for (;;) {
    const { data, next_cursor } = await get<Page<Item>>(`${path}?${query.toString()}`)
    yield* data
    if (next_cursor === null) return
    query.set('cursor', next_cursor)
  }
}

const defaultSleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

function retrying({ retry, random = Math.random, sleep = defaultSleep }: ClientOptions): Send {
  const limits = { ...RETRY, ...retry }
  return async (connection, method, path, body, idempotencyKey) => {
    if (idempotencyKey !== undefined && !PRINTABLE_ASCII.test(idempotencyKey)) {
      throw new IdempotencyKeyError('an Idempotency-Key is printable ASCII, at most 255 characters')
    }
    const isRepeatable = method === 'GET' || idempotencyKey !== undefined
    const headers: Record<string, string> =
      idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
    for (let attempt = 1; ; attempt++) {
      // Each attempt has a new signature: a nonce is valid once.
      const answer = await connection
        .request(method, path, body, { headers })
        .catch((error: unknown) => new ConnectionError('no answer', { cause: error }))
      const failed = answer instanceof ConnectionError
      if (failed || isRetried(answer)) {
        if (isRepeatable && attempt < limits.attempts) {
          await sleep(delayMs(attempt, failed ? undefined : answer, limits, random()))
          continue
        }
        throw failed ? answer : errorOf(answer)
      }
      checkEcho(answer, idempotencyKey)
      if (answer.status >= 400) throw errorOf(answer)
      return answer
    }
  }
}

/** The service drops bytes beyond ASCII at both ends of a header: two keys would become one. */
function checkEcho({ headers }: HttpAnswer, sent: string | undefined): void {
  const understood = headers['idempotency-key']
  if (sent === undefined || understood === undefined || understood === sent) return
  throw new IdempotencyKeyError(`the service received the key ${JSON.stringify(understood)}`)
}
