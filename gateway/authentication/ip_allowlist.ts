/**
 * Lists of addresses and CIDR blocks.
 *
 * - An empty list matches every address. An invalid block matches none, and still makes the list
 *   non-empty.
 * - An IPv4 address mapped into IPv6 is the IPv4 address, in a peer and in a block.
 * - Answers are kept: to read an address takes a tenth of the time of a request, and the time of a
 *   refusal would tell which partners have a list.
 */
import ipaddr from 'ipaddr.js'

export type AddressList = (peer: string) => boolean

export function createAddressList(blocks: readonly string[]): AddressList {
  if (blocks.length === 0) return () => true
  const readable = blocks.flatMap(blockOf)
  const kept = new Map<string, boolean>()
  return (peer) => {
    let isListed = kept.get(peer)
    if (isListed === undefined) {
      isListed = matchesAny(readable, peer)
      if (kept.size === KEPT_MAX) kept.clear()
      kept.set(peer, isListed)
    }
    return isListed
  }
}

/** Partners call from a few addresses. Those of others must not fill the memory. */
const KEPT_MAX = 256

function matchesAny(blocks: readonly Block[], peer: string): boolean {
  if (!ipaddr.isValid(peer)) return false
  const address = ipaddr.process(peer)
  return blocks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  )
}

type Block = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** `203.0.113.0/24`, or one address. */
function blockOf(text: string): Block[] {
  if (ipaddr.isValidCIDR(text)) return [unmapped(ipaddr.parseCIDR(text))]
  if (!ipaddr.isValid(text)) return []
  const address = ipaddr.process(text)
  return [[address, address.kind() === 'ipv4' ? 32 : 128]]
}

/** The first 96 bits of a mapped address are a fixed prefix. */
const MAPPED_BITS = 96

function unmapped([network, bits]: Block): Block {
  const mapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress()
  return mapped && bits >= MAPPED_BITS
    ? [network.toIPv4Address(), bits - MAPPED_BITS]
    : [network, bits]
}
