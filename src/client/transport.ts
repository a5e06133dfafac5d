/**
 * The way of a request to the service: direct, with an agent of the caller, or through a proxy.
 *
 * - An https address is reached through a tunnel (CONNECT), so a proxy sees no request.
 */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { connect as tlsConnect, type ConnectionOptions } from 'node:tls'

export interface TransportOptions {
  /** An agent of `node:http`, or of `node:https` for https. Default: connections are kept. */
  readonly agent?: HttpAgent
  /** For example `http://user:password@proxy.example:3128`. Not used with an `agent`. */
  readonly proxy?: string
}

interface TunnelOptions {
  /** Ends the opening of a tunnel: until then the request has no connection to close. */
  readonly abandoned?: AbortSignal
}

/** Adds what the transport needs to a request for this address, which ends when it is abandoned. */
export type Transport = (url: URL, abandoned: AbortSignal) => RequestOptions & TunnelOptions

/**
 * An idle connection is closed after it, and a call under way is not. The service closes a silent
 * one after about ten seconds, which a request on it would meet.
 */
const IDLE_MAX_MS = 5_000
const KEPT = { keepAlive: true, timeout: IDLE_MAX_MS }

const agents = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) }

export function createTransport({ agent, proxy }: TransportOptions): Transport {
  if (agent !== undefined) return (url) => ({ ...addressOf(url), agent })
  if (proxy === undefined) {
    return (url) => ({ ...addressOf(url), agent: agents[url.protocol as keyof typeof agents] })
  }
  const server = new URL(proxy)
  const tunnel = new TunnelAgent(server)
  return (url, abandoned) =>
    url.protocol === 'https:'
      ? { ...addressOf(url), agent: tunnel, abandoned }
      : {
          ...addressOf(server),
          agent: agents[server.protocol as keyof typeof agents],
          path: url.href,
          headers: { host: url.host, ...credentialsOf(server) },
        }
}

export const requestFor = (protocol: string | null | undefined): typeof httpRequest =>
  protocol === 'https:' ? httpsRequest : httpRequest

const addressOf = ({ protocol, hostname, port, pathname, search }: URL): RequestOptions => ({
  protocol,
  hostname: hostname.replace(/^\[|\]$/g, ''),
  port,
  path: pathname + search,
})

const credentialsOf = ({ username, password }: URL): Record<string, string> => {
  if (username === '') return {}
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` }
}

type Connected = (error: Error | null, socket: Duplex) => void

class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL

  constructor(proxy: URL) {
    super(KEPT)
    this.#proxy = proxy
  }

  override createConnection(
    options: ConnectionOptions & TunnelOptions,
    connected: Connected,
  ): undefined {
    const { host = '', port = 443, abandoned } = options
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
    const fail = (error: Error): void => connected(error, undefined as never)
    const request = requestFor(this.#proxy.protocol)({
      ...addressOf(this.#proxy),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...credentialsOf(this.#proxy) },
      agent: false,
    })
    abandoned?.addEventListener('abort', () => request.destroy(new Error('the call ended')))
    request
      .once('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) {
          connected(
            null,
            tlsConnect({ ...options, socket, servername: options.servername ?? host }),
          )
          return
        }
        socket.destroy()
        fail(new Error(`the proxy answered ${statusCode}`))
      })
      .once('response', ({ statusCode }) => fail(new Error(`the proxy answered ${statusCode}`)))
      .once('error', fail)
      .end()
    return undefined
  }
}
