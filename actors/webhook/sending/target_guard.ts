/**
 * Where a webhook may go.
 *
 * Owns: which URLs and which addresses are targets. Does not own: the connection (sending/sender).
 *
 * - Only addresses of the public internet, unless private targets are allowed (local work); and
 *   only https, but for endpoints of the sandbox and where private targets are allowed.
 * - Names are judged by what they resolve to at the moment of connecting, and the connection is
 *   made to the very addresses that were judged: a name that changes its mind in between gains
 *   nothing.
 * - One address that is not public refuses the name as a whole.
 * - Addresses in the URL are judged apart: no name is resolved for them. `URL` has brought
 *   `127.1`, `0x7f000001` and `2130706433` into one form before.
 */
import { promises as dns, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { environmentOf, type TenantId } from '../../../src/base/ids.js'

export interface GuardRules {
  readonly allowPrivate: boolean
}

/** Of an endpoint. */
export interface Target {
  readonly url: string
  readonly tenant: TenantId
}

export type JudgedUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: 'target_malformed' | 'target_refused' }

export function judgeUrl({ url: text, tenant }: Target, { allowPrivate }: GuardRules): JudgedUrl {
  if (!URL.canParse(text)) return { ok: false, reason: 'target_malformed' }
  const url = new URL(text)
  const allowPlain = allowPrivate || environmentOf(tenant) === 'sandbox'
  if (url.username !== '' || url.password !== '') return { ok: false, reason: 'target_refused' }
  if (url.protocol !== 'https:' && !(allowPlain && url.protocol === 'http:')) {
    return { ok: false, reason: 'target_refused' }
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0 && !allowPrivate && !isPublic(host)) {
    return { ok: false, reason: 'target_refused' }
  }
  return { ok: true, url }
}

/** IPv6 outside of this block is translation, local or not assigned. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/**
 * Unicast, and nobody's receiver: the platform address of Azure's hosts, which answers for their
 * virtual machines, and the former 6bone, which was given back (RFC 3701).
 */
const NOT_PUBLIC = [ipaddr.parseCIDR('168.63.129.16/32'), ipaddr.parseCIDR('3ffe::/16')]

/** Mapped and translated addresses are refused whatever they stand for: no receiver needs them. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  const isBarred = ([block, bits]: (typeof NOT_PUBLIC)[number]): boolean =>
    parsed.kind() === block.kind() && parsed.match(block, bits)
  if (NOT_PUBLIC.some(isBarred)) return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6)
}

export class TargetRefused extends Error {
  override name = 'TargetRefused'
}

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** The resolution for sockets: a `lookup` that hands on judged addresses only. */
export function guardedLookup(resolve: Resolve, { allowPrivate }: GuardRules): LookupFunction {
  return (host: string, options: LookupOptions, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        const refused = addresses.some(({ address }) => !allowPrivate && !isPublic(address))
        if (first === undefined) callback(new Error(`${host} has no address`), '', 0)
        else if (refused) callback(new TargetRefused('address is not public'), '', 0)
        else if (options.all === true) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (fault: unknown) => callback(fault as NodeJS.ErrnoException, '', 0),
    )
  }
}

const DNS_TIMEOUT_MS = 2_000
const DNS_TRIES = 2

/**
 * Asks the name servers directly: the system's own resolution occupies a pool thread for as long as
 * a dead name server is silent, and four of those stop the database.
 */
export function nameServers(): Resolve {
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  return async (host) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    const found = (answer: typeof four, family: number): LookupAddress[] =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
    return [...found(four, 4), ...found(six, 6)]
  }
}

/** For local work: knows `localhost` and the hosts file. */
export const systemNames: Resolve = (host) => dns.lookup(host, { all: true })
