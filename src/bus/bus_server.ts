/** The address, TLS files and credentials of the NATS servers, from the settings. */
import type { Settings } from '../settings/settings.js'
import { SettingsError } from '../settings/settings_reader.js'

/** Paths; read at each connection, so replaced files need no restart. */
export interface BusTls {
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

export interface BusServer {
  /**
   * `nats://host:port` or `tls://host:port`, with `user:password@` when the server requires it; of
   * the servers of a NATS cluster, `nats://host:port,host:port,host:port`.
   */
  readonly url: string
  readonly tls?: BusTls
}

/** The parts of a URL with one or several hosts. */
export interface BusAddress {
  readonly protocol: 'nats:' | 'tls:'
  readonly hosts: readonly { readonly hostname: string; readonly port: number }[]
  readonly user: string | undefined
  readonly password: string | undefined
}

const DEFAULT_PORT = 4_222

/** @returns undefined when it is not such a URL */
export function parseBusUrl(url: string): BusAddress | undefined {
  const found = /^(nats:|tls:)\/\/(?:([^@/]*)@)?([^/@]+)\/?$/.exec(url)
  if (found === null) return undefined
  const [, protocol = '', credentials = '', hostList = ''] = found
  const hosts = hostList.split(',').map(hostOf)
  // A password may have colons.
  const [, name = '', secret] = /^([^:]*)(?::(.*))?$/.exec(credentials) ?? []
  const [user, password] = [decoded(name), secret === undefined ? undefined : decoded(secret)]
  if (user === undefined || (secret !== undefined && password === undefined)) return undefined
  if (!hosts.every((host) => host !== undefined)) return undefined
  const secured = protocol === 'tls:'
  return { protocol: secured ? 'tls:' : 'nats:', hosts, user: user || undefined, password }
}

/** Undefined means that a `%` in it begins no escape. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function hostOf(text: string): { hostname: string; port: number } | undefined {
  if (!URL.canParse(`nats://${text}`)) return undefined
  const { hostname, port } = new URL(`nats://${text}`)
  if (hostname === '') return undefined
  return { hostname, port: port === '' ? DEFAULT_PORT : Number(port) }
}

type BusSettings = Pick<
  Settings,
  'NATS_URL' | 'NATS_TLS_CA_FILE' | 'NATS_TLS_CERT_FILE' | 'NATS_TLS_KEY_FILE'
>

/** @throws SettingsError when no supervisor has started a nats-server and none is set */
export function busServer(settings: BusSettings): BusServer {
  const { NATS_URL, NATS_TLS_CA_FILE, NATS_TLS_CERT_FILE, NATS_TLS_KEY_FILE } = settings
  if (NATS_URL === '') {
    throw new SettingsError('NATS_URL is not set: only make run starts a nats-server of its own')
  }
  if (!NATS_URL.startsWith('tls:')) return { url: NATS_URL }
  return {
    url: NATS_URL,
    tls: {
      ...(NATS_TLS_CA_FILE === '' ? {} : { caFile: NATS_TLS_CA_FILE }),
      ...(NATS_TLS_CERT_FILE === ''
        ? {}
        : { certFile: NATS_TLS_CERT_FILE, keyFile: NATS_TLS_KEY_FILE }),
    },
  }
}
