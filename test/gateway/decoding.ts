/**
 * Decodes a request for one route without a gateway, with tables of accepted and rejected bodies.
 */
import type { Test } from 'tap'
import type { HeaderValue } from '../../src/auth/verify.js'
import { instant } from '../../src/base/clock.js'
import type { ErrorCode, Outcome } from '../../src/base/errors.js'
import type { RequestId } from '../../src/base/ids.js'
import { ROUTES } from '../../gateway/app.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import type { Operation } from '../../gateway/decode/operation.js'

export type Decode = (
  body: unknown,
  headers?: Record<string, HeaderValue>,
  query?: string,
) => Outcome<Operation>

/** The `decode` of one route. A string body is sent unchanged. */
export function decodeOf(method: string, path: string): Decode {
  const found = ROUTES.find((entry) => entry.method === method && entry.path === path)
  if (found === undefined || found.auth === 'none') throw new Error(`no route ${method} ${path}`)
  return (body, headers = {}, query = '') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request: RequestContext = {
      requestId: 'req_1' as RequestId,
      startedAt: instant(0),
      method,
      path,
      query,
      environment: undefined,
      caller: undefined,
      trace: undefined,
      replayed: false,
      body: Buffer.from(body === undefined ? '' : text),
      header: (name) => headers[name],
      peer: () => '127.0.0.1',
      timeLeft: () => 1,
      postpone: () => undefined,
      answer: () => undefined,
      answerFile: () => undefined,
      refuse: () => undefined,
      echo: () => undefined,
    }
    return found.handler.decode({
      request,
      id: 'the_id',
      sessionJti: 'jti',
      receiptSubject: 'subject',
    })
  }
}

/** The headers that a route reads while it decodes a request without headers. */
export function headersRead(method: string, path: string): string[] {
  const read: string[] = []
  const headers = new Proxy({}, { get: (_, name) => void read.push(String(name)) })
  decodeOf(method, path)('{}', headers)
  return read
}

export const chars = (count: number): string => 'x'.repeat(count)
export const astral = (count: number): string => '😀'.repeat(count)

export function refuses(
  t: Test,
  decode: Decode,
  bodies: Readonly<Record<string, unknown>>,
  code: ErrorCode = 'invalid_request',
  headers: Record<string, HeaderValue> = {},
): void {
  for (const [what, body] of Object.entries(bodies)) {
    const violation = { rule: /^(must|is|has) / }
    t.match(decode(body, headers), { ok: false, code, violation }, what)
  }
}

export function takes(
  t: Test,
  decode: Decode,
  bodies: Readonly<Record<string, unknown>>,
  headers: Record<string, HeaderValue> = {},
): void {
  for (const [what, body] of Object.entries(bodies)) t.ok(decode(body, headers).ok, what)
}

/** The same for bodies without names. */
export const refusesEach = (
  t: Test,
  decode: Decode,
  bodies: readonly unknown[],
  headers: Record<string, HeaderValue> = {},
): void => {
  const named = bodies.map((body): [string, unknown] => [String(JSON.stringify(body)), body])
  refuses(t, decode, Object.fromEntries(named), 'invalid_request', headers)
}

export const keyed = (key: HeaderValue): Record<string, HeaderValue> => ({ 'idempotency-key': key })

/** Each member missing, null or of another type; one extra member. */
export function brokenShapes(body: object, wrongType: unknown): Record<string, unknown> {
  const cases: Record<string, unknown> = {
    'no body': undefined,
    'not JSON': '{',
    'a list': [body],
    'a text': '"x"',
    null: null,
    'one member too many': { ...body, extra: 1 },
  }
  for (const name of Object.keys(body)) {
    cases[`without ${name}`] = { ...body, [name]: undefined }
    cases[`${name} null`] = { ...body, [name]: null }
    cases[`${name} of another type`] = { ...body, [name]: wrongType }
  }
  return cases
}
