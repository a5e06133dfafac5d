/** Where the bus is, and how to connect to it, by the settings. */
import { SettingsError, type Settings } from '../base/settings.js'

/** Paths; read at each connection, so replaced files need no restart. */
export interface BusTls {
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

export interface BusServer {
  /** `nats://host:port` or `tls://host:port`, with `user:password@` when the server asks for it. */
  readonly url: string
  readonly tls?: BusTls
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
