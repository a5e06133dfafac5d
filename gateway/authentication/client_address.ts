/**
 * Determines the client address of a request.
 *
 * - The client is the socket's peer. Only if the peer is a trusted proxy, `X-Forwarded-For` is read
 *   from the right up to the first address that is not a trusted proxy; clients can forge
 *   everything before it.
 * - An invalid entry ends the search. The client is then unknown, and on no list.
 *
 * The PROXY protocol is not accepted: uWebSockets.js reads its header before every request, so a
 * client behind a proxy could write its own.
 */
import { isIP } from 'node:net'
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
