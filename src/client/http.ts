/** One HTTP request over Node's client. Redirects are not followed. */
import type { IncomingHttpHeaders } from 'node:http'
import { requestFor, type Transport } from './transport.js'

export interface HttpAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The body as UTF-8. */
  readonly text: string
  /** The parsed body; undefined unless it is JSON. */
  readonly body: unknown
}

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty means that there is no body. */
  readonly body: string
  /** Milliseconds from the start to the last byte of the answer. */
  readonly timeoutMs: number
  readonly transport: Transport
  readonly signal?: AbortSignal | undefined
}

/** @throws a network error; the request may have been carried out nevertheless */
export function sendRequest({
  url,
  method,
  headers,
  body,
  timeoutMs,
  transport,
  signal,
}: HttpRequest): Promise<HttpAnswer> {
  const bodyHeaders: Record<string, string> =
    body === ''
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const abandoned = new AbortController()
    const options = transport(url, abandoned.signal)
    const request = requestFor(options.protocol)({
      ...options,
      method,
      headers: { ...bodyHeaders, ...options.headers, ...headers },
      ...(signal === undefined ? {} : { signal }),
    })
    // A destroyed request emits no error while it waits for its connection, as for a tunnel.
    const giveUp = (error: Error): void => {
      request.destroy(error)
      abandoned.abort()
      fail(error)
    }
    const onAbort = (): void => giveUp(new Error('the call was aborted'))
    const timer = setTimeout(
      () => giveUp(new Error(`no complete answer in ${timeoutMs} ms`)),
      timeoutMs,
    )
    signal?.addEventListener('abort', onAbort)
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: Error): void => {
      settle()
      reject(error)
    }
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        settle()
        const text = Buffer.concat(chunks).toString('utf8')
        const { statusCode = 0 } = response
        resolve({ status: statusCode, headers: response.headers, text, body: parsed(text) })
      })
    })
    request.end(body)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
