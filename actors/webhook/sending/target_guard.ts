/**
 * Decides which URLs and IP addresses a webhook may be sent to (SSRF protection).
 *
 * - Only public addresses, unless private targets are allowed (local work). Only https, except for
 *   sandbox endpoints and where private targets are allowed.
 * - A name is checked when connecting, and the connection uses the checked addresses, so DNS
 *   rebinding has no effect.
 * - One address that is not public rejects the whole name.
 * - IP addresses in the URL are checked by `checkUrl`, because they are not resolved. `URL`
 *   normalizes `127.1`, `0x7f000001` and `2130706433` before.
 */
import { promises as dns, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { environmentOf, type TenantId } from '../../../src/base/ids.js'

export interface GuardRules {
  readonly allowPrivate: boolean
}

/** The members of an endpoint that decide. */
export interface Target {
  readonly url: string
  readonly tenant: TenantId
}

export type CheckedUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: 'target_malformed' | 'target_refused' }

export function checkUrl({ url: text, tenant }: Target, { allowPrivate }: GuardRules): CheckedUrl {
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

/** IPv6 outside of this block is translated, local or unassigned. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** Unicast, but not public: Azure's host platform address, and the former 6bone (RFC 3701). */
const NOT_PUBLIC = [ipaddr.parseCIDR('168.63.129.16/32'), ipaddr.parseCIDR('3ffe::/16')]

/** Mapped and translated addresses are never public: no receiver needs them. */
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

/** A `lookup` for sockets that returns checked addresses only. */
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
 * Queries the name servers directly: the system resolver blocks a thread of libuv's pool while a
 * name server does not answer, and four blocked threads stop the database.
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

/** For local work: resolves `localhost` and names of the hosts file. */
export const systemNames: Resolve = (host) => dns.lookup(host, { all: true })
