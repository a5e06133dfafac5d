/** Network addresses: which only programs on this machine can reach, and which are one source. */
import ipaddr from 'ipaddr.js'

/** Whether a host is a loopback name or address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')

/** Whether a gRPC address (`host:port`, `unix:path`) stays on this machine. */
export const isLocalAddress = (address: string): boolean =>
  isUnixSocket(address) || isLoopback(splitAddress(address).host)

export const isUnixSocket = (address: string): boolean => address.startsWith('unix:')

export interface HostPort {
  /** Without the brackets of IPv6. */
  readonly host: string
  readonly port: number
}

export function splitAddress(address: string): HostPort {
  const cut = address.lastIndexOf(':')
  const host = address.slice(0, cut).replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(address.slice(cut + 1)) }
}

export const joinAddress = ({ host, port }: HostPort): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Where a client on this machine reaches a server that listens on a host. */
export function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** An IPv4 address, or the /64 of an IPv6 one: a host with one address of it can use all. */
export function sourceOf(address: string): string {
  if (!address.includes(':')) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
