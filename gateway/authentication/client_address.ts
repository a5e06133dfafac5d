/**
 * Where a request comes from.
 *
 * Owns: which address is the client's, and which addresses count as one source. Does not own: lists
 * of addresses (ip_allowlist), limits of a source (limits).
 *
 * - The client is the socket's peer. Only if that is one of our proxies, `X-Forwarded-For` is
 *   read, from the right, as far as the first address that is no proxy: what stands before it was
 *   written by strangers.
 * - An entry that is no address ends the search. The client is then unknown, and on no list.
 * - A source is one IPv4 address, or the /64 of an IPv6 one: who has one address of it has all.
 *
 * A PROXY protocol header is not believed, though uWS reads one: it reads another before every
 * further request, so that whoever speaks through the proxy could write his own.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AddressList } from './ip_allowlist.js'
import type { RequestContext } from '../http/request_context.js'
import { FORWARDED_FOR } from '../http/head.js'

/** Empty: unknown. */
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

/** An address, perhaps with a port as some proxies write it. */
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
