/**
 * Requests to the partner API as a test writes them, without the client's signing and headers.
 *
 * - Every answer must be documented, as those of the client (support/documented_answers).
 */
import { Client } from 'undici'
import { roundTrip } from '../gateway/signing_partner.js'
import { requireDocumented } from './documented_answers.js'

/** Pairs, because a header can be repeated. */
export type Headers = readonly (readonly [name: string, value: string])[]

export interface RawRequest {
  readonly method: string
  /** As in the request line, with the query. */
  readonly path: string
  readonly headers: Headers
  readonly host: string
  readonly body?: string
}

export interface RawResponse {
  readonly status: number
  readonly code: string
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
  /** The response without date, request id and idempotency key. */
  readonly comparable: string
}

export function openRawConnection(baseUrl: string) {
  const client = new Client(baseUrl, { keepAliveTimeout: 60_000 })
  let isOpen = true
  client.on('disconnect', () => (isOpen = false))
  return {
    /** Sends the path without resolving dots or decoding. */
    send: (request: RawRequest) => sendOver(client, request),
    /** Whether the service has kept it open since the first request. */
    isOpen: () => isOpen,
    destroy: () => client.destroy(),
  }
}

/** One request on a connection of its own. */
export async function sendOnce(
  baseUrl: string,
  request: Omit<RawRequest, 'host'>,
): Promise<RawResponse> {
  const connection = openRawConnection(baseUrl)
  try {
    return await connection.send({ ...request, host: new URL(baseUrl).host })
  } finally {
    await connection.destroy()
  }
}

async function sendOver(client: Client, request: RawRequest): Promise<RawResponse> {
  const { method, path, headers, host, body } = request
  const answer = await client.request({
    method,
    path,
    headers: ['host', host, ...headers.flat()],
    body: body ?? null,
  })
  return responseOf(request, answer.statusCode, answer.headers, await answer.body.text())
}

/** The answer to bytes that hold one request and end their connection. */
export async function sendBytes(
  baseUrl: string,
  request: Pick<RawRequest, 'method' | 'path'>,
  bytes: Buffer,
): Promise<RawResponse> {
  const { text } = await roundTrip(Number(new URL(baseUrl).port), bytes, 5_000)
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  const body = Buffer.from(text.slice(end + 4), 'latin1').toString()
  return responseOf(request, Number(first.split(' ')[1]), Object.fromEntries(headers), body)
}

function responseOf(
  { method, path }: Pick<RawRequest, 'method' | 'path'>,
  status: number,
  headers: RawResponse['headers'],
  text: string,
): RawResponse {
  const body: unknown = JSON.parse(text)
  requireDocumented(method, path, { status, headers, body })
  const { date: _, 'x-request-id': __, 'idempotency-key': ___, ...same } = headers
  const anonymous = text.replace(/req_[0-9A-Z]{26}/, 'req')
  return {
    ...{ status, text, headers, body },
    code: (body as { error?: { code?: string } }).error?.code ?? '',
    comparable: `${status} ${JSON.stringify(same)} ${anonymous}`,
  }
}

/** A path of the ops port, which is no part of the partner API. */
export async function fetchOps(
  opsUrl: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${opsUrl}${path}`, { headers })
}
