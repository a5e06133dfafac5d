/**
 * A partner's side of the HTTP API.
 *
 * Owns: signing and sending as a partner's backend or app does it, written from the contract with
 * node:crypto alone. Does not own, and does not use, the service's own signing (auth): what both
 * sides agree on is then the contract and not a shared mistake.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { request as send } from 'undici'
import { toRfc3339, type Clock } from '../base/clock.js'

export interface Credentials {
  readonly baseUrl: string
  /** Sent as Host; it decides between sandbox and production. */
  readonly host: string
  readonly keyId: string
  readonly secret: string
  readonly brand: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes of the body as text. */
  readonly text: string
  /** The same, parsed; undefined when it is empty or no JSON. */
  readonly body: unknown
}

/** What a call can have besides its body. Timestamp and nonce are drawn when they are not given. */
export interface Extra {
  readonly headers?: Readonly<Record<string, string>>
  readonly timestamp?: string
  readonly nonce?: string
}

export interface Signed {
  readonly canonical: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Partner {
  /** `body` is sent as it is when it is text, else as JSON. */
  request(method: string, path: string, body?: unknown, extra?: Extra): Promise<Answer>
  sign(method: string, path: string, bodyText: string, extra?: Extra): Signed
  /** An app that holds this session or receipt token. */
  session(token: string): Session
}

export interface Session {
  request(method: string, path: string, body?: unknown, extra?: Extra): Promise<Answer>
}

export function createPartner(credentials: Credentials, clock: Clock): Partner {
  const sign = (method: string, path: string, bodyText: string, extra: Extra = {}): Signed => {
    const timestamp = extra.timestamp ?? toRfc3339(clock.now())
    const nonce = extra.nonce ?? randomBytes(32).toString('hex')
    const signedPath = path.split('?', 1)[0] ?? ''
    const hash = bodyText === '' ? '' : createHash('sha256').update(bodyText).digest('hex')
    const canonical = [method, signedPath, timestamp, nonce, hash, ''].join('\n')
    const header = (name: string): string => `X-${credentials.brand}-${name}`
    return {
      canonical,
      headers: {
        [header('Key-Id')]: credentials.keyId,
        [header('Timestamp')]: timestamp,
        [header('Nonce')]: nonce,
        [header('Signature')]: createHmac('sha256', credentials.secret)
          .update(canonical)
          .digest('base64'),
      },
    }
  }

  return {
    sign,
    request: (method, path, body, extra = {}) => {
      const text = textOf(body)
      const { headers } = sign(method, path, text, extra)
      return call(credentials, method, path, { text, headers: { ...headers, ...extra.headers } })
    },
    session: (token) => ({
      request: (method, path, body, extra = {}) => {
        const headers = { authorization: `Bearer ${token}`, ...extra.headers }
        return call(credentials, method, path, { text: textOf(body), headers })
      },
    }),
  }
}

const textOf = (body: unknown): string =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)

async function call(
  { baseUrl, host }: Credentials,
  method: string,
  path: string,
  { text, headers }: { readonly text: string; readonly headers: Signed['headers'] },
): Promise<Answer> {
  const contentType = text === '' ? {} : { 'content-type': 'application/json' }
  const answer = await send(`${baseUrl}${path}`, {
    method: method as 'GET',
    headers: { host, ...contentType, ...headers },
    body: text === '' ? null : text,
  })
  const given = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, text: given, body: parsed(given) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
