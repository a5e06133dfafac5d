/**
 * Determines the client address of a request, and groups addresses into sources.
 *
 * - The client is the socket's peer. Only if the peer is a trusted proxy, `X-Forwarded-For` is read
 *   from the right up to the first address that is not a trusted proxy; clients can forge
 *   everything before it.
 * - An invalid entry ends the search. The client is then unknown, and on no list.
 * - A source is one IPv4 address or one IPv6 /64: a host with one address of it can use all of
 *   them.
 *
 * The PROXY protocol is not accepted: uWebSockets.js reads its header before every request, so a
 * client behind a proxy could write its own.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AddressList } from './ip_allowlist.js'
import type { RequestContext } from '../http/request_context.js'
import { FORWARDED_FOR } from '../http/head.js'

/** An empty text: unknown. */
export type ClientAddress = (request: RequestContext) => string

export function createClientAddress(isProxy: AddressList): ClientAddress {
  return (request) => {
    const peer = request.peer()
    const header = request.header(FORWARDED_FOR)
    if (typeof header !== 'string' || !isProxy(peer)) return peer
    let client = peer
    for (const entry of header.split(',').reverse()) {
      client = addressIn(entry.trim())
      if (!isProxy(client)) break
    }
    return client
  }
}

/** An address, with the port that some proxies add. */
const ENTRY = /^(?:\[([0-9a-f:.]+)\](?::[0-9]+)?|([0-9.]+)(?::[0-9]+)?|([0-9a-f:.]+))$/i

function addressIn(entry: string): string {
  const [, bracketed, v4, v6] = ENTRY.exec(entry) ?? []
  const address = bracketed ?? v4 ?? v6 ?? ''
  return isIP(address) === 0 ? '' : address
}

export function sourceOf(address: string): string {
  if (!address.includes(':')) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
