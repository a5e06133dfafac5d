/**
 * Signed and bearer requests as they go over the wire: one request, one answer, no retry.
 *
 * Does not own: retries, errors and types of the operations (client).
 */
import { sendRequest, type Answer } from './http.js'
import { newNonce, signRequest, type SignedRequest } from './signing.js'

export interface Credentials {
  /** For example `https://api.example.com`. */
  readonly baseUrl: string
  readonly keyId: string
  /** As it was shown when the key was issued. */
  readonly secret: string
  /** Sent as Host when it is not the one of `baseUrl`; it selects sandbox or production. */
  readonly host?: string
  /** The word in the names of the service's headers; `Service` unless told otherwise. */
  readonly brand?: string
}

/** What a request can have besides its body. Timestamp and nonce are made when not given. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly timestamp?: string
  readonly nonce?: string
}

export interface BearerConnection {
  /** `body` is sent as it is when it is text, else as JSON. */
  request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
}

export interface Connection extends BearerConnection {
  sign(method: string, path: string, bodyText: string, options?: RequestOptions): SignedRequest
  /** Requests of an app that holds this session or receipt token. */
  session(token: string): BearerConnection
}

export interface ConnectionOptions {
  /** Epoch milliseconds. */
  readonly now?: () => number
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000

export function connect(credentials: Credentials, options: ConnectionOptions = {}): Connection {
  const { baseUrl, keyId, secret, host, brand = 'Service' } = credentials
  const { now = Date.now, timeoutMs = TIMEOUT_MS } = options

  const sign: Connection['sign'] = (method, path, bodyText, given = {}) => {
    const timestamp = given.timestamp ?? new Date(now()).toISOString()
    const nonce = given.nonce ?? newNonce()
    return signRequest({ keyId, secret }, brand, { method, path, timestamp, nonce, body: bodyText })
  }
  const send = (
    method: string,
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> => {
    const url = new URL(baseUrl + path)
    return sendRequest({
      url,
      method,
      headers: host === undefined ? headers : { host, ...headers },
      body,
      timeoutMs,
    })
  }

  return {
    sign,
    request: (method, path, body, given = {}) => {
      const text = textOf(body)
      const { headers } = sign(method, path, text, given)
      return send(method, path, text, { ...headers, ...given.headers })
    },
    session: (token) => ({
      request: (method, path, body, given = {}) =>
        send(method, path, textOf(body), { authorization: `Bearer ${token}`, ...given.headers }),
    }),
  }
}

const textOf = (body: unknown): string =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
