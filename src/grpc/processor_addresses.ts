/**
 * The addresses of the processors: a fixed list, or all addresses of one DNS name.
 *
 * - A name is resolved again every RESOLVE_INTERVAL_MS. While it cannot be resolved, the last
 *   addresses stay in use.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { SECOND } from '../base/clock.js'
import { isLoopback, isUnixSocket, joinAddress, splitAddress } from '../base/network.js'

const RESOLVE_INTERVAL_MS = 5 * SECOND

export interface AddressLog {
  warn(facts: object, text: string): void
}

export interface AddressWatch {
  stop(): void
}

/** @returns every address of the host */
export type Resolve = (host: string) => Promise<readonly string[]>

export const resolveByDns: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** The name in a list of one entry that may have several addresses. Null if the list is fixed. */
export function sharedName(addresses: readonly string[]): string | null {
  const [only] = addresses
  if (only === undefined || addresses.length > 1 || isUnixSocket(only)) return null
  const { host } = splitAddress(only)
  return isIP(host) !== 0 || isLoopback(host) ? null : host
}

/** The fixed list, or the addresses that the name has now. */
export async function processorAddresses(
  addresses: readonly string[],
  resolve: Resolve = resolveByDns,
): Promise<readonly string[]> {
  const host = sharedName(addresses)
  if (host === null) return addresses
  const { port } = splitAddress(addresses[0]!)
  return [...(await resolve(host))].sort().map((each) => joinAddress({ host: each, port }))
}

/** Calls `found` with the fixed list at once, or with the addresses of the name as they change. */
export function watchProcessorAddresses(
  addresses: readonly string[],
  found: (addresses: readonly string[]) => void,
  log: AddressLog,
  { resolve = resolveByDns, everyMs = RESOLVE_INTERVAL_MS } = {},
): AddressWatch {
  const host = sharedName(addresses)
  if (host === null) {
    found(addresses)
    return { stop: () => undefined }
  }
  let stopped = false
  let fault = ''

  const look = async (): Promise<void> => {
    try {
      const resolved = await processorAddresses(addresses, resolve)
      fault = ''
      if (!stopped) found(resolved)
    } catch (error) {
      // Once for each fault, because it is found again at each resolve.
      if (String(error) !== fault) log.warn({ error, host }, 'processor name not resolved')
      fault = String(error)
    }
  }

  void look()
  const timer = setInterval(() => void look(), everyMs)
  return {
    stop: () => {
      stopped = true
      clearInterval(timer)
    },
  }
}
