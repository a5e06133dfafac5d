/** One HTTP request over Node's client with keep-alive. Redirects are not followed. */
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

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
  /** Empty: no body. */
  readonly body: string
  /** Milliseconds from the start to the last byte of the answer. */
  readonly timeoutMs: number
}

const agents = {
  'http:': new HttpAgent({ keepAlive: true }),
  'https:': new HttpsAgent({ keepAlive: true }),
}

/** @throws a network error; the request may have been carried out nevertheless */
export function sendRequest({
  url,
  method,
  headers,
  body,
  timeoutMs,
}: HttpRequest): Promise<HttpAnswer> {
  const isTls = url.protocol === 'https:'
  const bodyHeaders: Record<string, string> =
    body === ''
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)(url, {
      method,
      agent: agents[isTls ? 'https:' : 'http:'],
      headers: { ...bodyHeaders, ...headers },
    })
    const timer = setTimeout(() => {
      request.destroy(new Error(`no complete answer in ${timeoutMs} ms`))
    }, timeoutMs)
    const fail = (error: Error): void => {
      clearTimeout(timer)
      reject(error)
    }
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        clearTimeout(timer)
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
