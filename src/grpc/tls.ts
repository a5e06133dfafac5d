/**
 * TLS of gRPC: certificate, key and CA by files, for servers and clients.
 *
 * - TLS is always mutual: a server accepts only clients with a certificate of the CA.
 * - Unix sockets are in the clear; so is loopback TCP without the three files. Any other address
 *   without them is refused.
 * - The files are read again every few seconds. New connections use the new certificate; open ones
 *   keep theirs. Files that do not match, as in the middle of a replacement, change nothing.
 * - A process that serves gRPC with TLS uses the cipher suites of tls_ciphers for all of its TLS:
 *   grpc-js has no option for those of a server.
 */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import tls, { createSecureContext } from 'node:tls'
import {
  credentials,
  experimental,
  ServerCredentials,
  type ChannelCredentials,
  type ChannelOptions,
} from '@grpc/grpc-js'
import { SECOND } from '../base/clock.js'
import { isLocalAddress, isUnixSocket, splitAddress } from '../base/network.js'
import type { Settings } from '../settings/settings.js'
import { cleartextFault, SettingsError } from '../settings/settings_reader.js'
import { NODE_CIPHERS } from '../base/tls_ciphers.js'

const RELOAD_INTERVAL_MS = 5 * SECOND

export type TlsSettings = Pick<
  Settings,
  'GRPC_TLS_CERT_FILE' | 'GRPC_TLS_KEY_FILE' | 'GRPC_TLS_CA_FILE'
>

interface TlsFiles {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** Receives reports of new certificates and of invalid files. */
export interface TlsLog {
  info(facts: object, text: string): void
  error(facts: object, text: string): void
}

/** For short-lived programs that never reload a certificate. */
export const NO_LOG: TlsLog = { info: () => undefined, error: () => undefined }

export interface GrpcTls {
  /** For an address that this process listens on. @throws SettingsError */
  serverCredentials(address: string): ServerCredentials
  /** For an address that this process connects to. @throws SettingsError */
  channelCredentials(address: string): ChannelCredentials
  /** The options that a channel to this address needs beside its credentials. */
  channelOptions(address: string): ChannelOptions
}

/** @throws SettingsError when a file cannot be read, or the files do not match */
export function openGrpcTls(
  settings: TlsSettings,
  log: TlsLog,
  reloadMs = RELOAD_INTERVAL_MS,
): GrpcTls {
  if (settings.GRPC_TLS_CERT_FILE === '') return CLEARTEXT
  const certificates = watchCertificates(settings, log, reloadMs)
  // The same provider twice: the parameters are in another order than their names.
  const server = experimental.createCertificateProviderServerCredentials(
    certificates,
    certificates,
    true,
  )
  const client = experimental.createCertificateProviderChannelCredentials(
    certificates,
    certificates,
  )
  return {
    serverCredentials: (address) => {
      if (isUnixSocket(address)) return ServerCredentials.createInsecure()
      tls.DEFAULT_CIPHERS = NODE_CIPHERS
      return server
    },
    channelCredentials: (address) =>
      isUnixSocket(address) ? credentials.createInsecure() : client,
    channelOptions: (address) => (isUnixSocket(address) ? {} : tlsNameOf(address)),
  }
}

/**
 * An IP address is not a name that TLS can indicate (RFC 6066), and Node warns of one (DEP0123). A
 * final dot avoids the warning; the certificate is still compared with the address.
 */
function tlsNameOf(address: string): ChannelOptions {
  const { host } = splitAddress(address)
  return isIP(host) === 0 ? {} : { 'grpc.ssl_target_name_override': `${host}.` }
}

/** Without the files: loopback and Unix sockets only. */
export const CLEARTEXT: GrpcTls = {
  serverCredentials: (address) => {
    refuseCleartext(address)
    return ServerCredentials.createInsecure()
  },
  channelCredentials: (address) => {
    refuseCleartext(address)
    return credentials.createInsecure()
  },
  channelOptions: () => ({}),
}

function refuseCleartext(address: string): void {
  if (!isLocalAddress(address)) throw new SettingsError(cleartextFault('gRPC', address))
}

type CaListener = experimental.CaCertificateUpdateListener
type IdentityListener = experimental.IdentityCertificateUpdateListener

function watchCertificates(
  settings: TlsSettings,
  log: TlsLog,
  reloadMs: number,
): experimental.CertificateProvider {
  const caListeners = new Set<CaListener>()
  const identityListeners = new Set<IdentityListener>()
  let current = readNow(settings)
  let fault = ''

  const ca = (): experimental.CaCertificateUpdate => ({ caCertificate: current.ca })
  const identity = (): experimental.IdentityCertificateUpdate => ({
    certificate: current.cert,
    privateKey: current.key,
  })

  const reload = async (): Promise<void> => {
    try {
      const found = await readLater(settings)
      fault = ''
      if (isSame(found, current)) return
      requireMatching(found)
      current = found
    } catch (error) {
      return report(error instanceof Error ? error.message : String(error))
    }
    log.info({}, 'new gRPC certificate')
    for (const listener of caListeners) listener(ca())
    for (const listener of identityListeners) listener(identity())
  }

  /** Once for each fault, because it is found again at each check. */
  const report = (text: string): void => {
    if (text !== fault) log.error({ error: text }, 'gRPC certificate not replaced')
    fault = text
  }

  setInterval(() => void reload(), reloadMs).unref()
  return {
    // grpc-js adds a listener before it registers the credentials that the listener updates.
    addCaCertificateListener: (listener) => {
      caListeners.add(listener)
      process.nextTick(() => listener(ca()))
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener: (listener) => {
      identityListeners.add(listener)
      process.nextTick(() => listener(identity()))
    },
    removeIdentityCertificateListener: (listener) => void identityListeners.delete(listener),
  }
}

function readNow(settings: TlsSettings): TlsFiles {
  const read = (name: keyof TlsSettings): Buffer => {
    try {
      return readFileSync(settings[name])
    } catch (error) {
      throw new SettingsError(`${name} cannot be read: ${String(error)}`)
    }
  }
  const files = {
    ca: read('GRPC_TLS_CA_FILE'),
    cert: read('GRPC_TLS_CERT_FILE'),
    key: read('GRPC_TLS_KEY_FILE'),
  }
  try {
    requireMatching(files)
  } catch (error) {
    throw new SettingsError(`The GRPC_TLS_… files cannot be used: ${String(error)}`)
  }
  return files
}

async function readLater(settings: TlsSettings): Promise<TlsFiles> {
  const [ca, cert, key] = await Promise.all([
    readFile(settings.GRPC_TLS_CA_FILE),
    readFile(settings.GRPC_TLS_CERT_FILE),
    readFile(settings.GRPC_TLS_KEY_FILE),
  ])
  return { ca, cert, key }
}

const isSame = (one: TlsFiles, other: TlsFiles): boolean =>
  one.ca.equals(other.ca) && one.cert.equals(other.cert) && one.key.equals(other.key)

/** @throws Error when a file is not PEM, or the key does not belong to the certificate */
const requireMatching = (files: TlsFiles): void => void createSecureContext({ ...files })
