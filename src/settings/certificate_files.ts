/**
 * The certificate files that settings name, also within the files that settings name.
 *
 * Does not own: using them (each server and client), their end (operations/doctor,
 * metrics/certificates).
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SETTINGS, type SettingName, type Settings } from './settings.js'

export interface CertificateFile {
  /** The setting; of a file with several of them also the member. */
  readonly name: string
  readonly file: string
  /** Empty means that it has no key here. */
  readonly keyFile: string
}

/** Names of settings. */
interface SettingPair {
  readonly certificate: SettingName
  readonly key?: SettingName
}

const PAIRS: readonly SettingPair[] = [
  { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' },
  { certificate: 'GRPC_TLS_CERT_FILE', key: 'GRPC_TLS_KEY_FILE' },
  { certificate: 'GRPC_TLS_CA_FILE' },
  { certificate: 'CONSOLE_TLS_CERT_FILE', key: 'CONSOLE_TLS_KEY_FILE' },
  { certificate: 'CONSOLE_CLIENT_CA_FILE' },
  { certificate: 'NATS_TLS_CERT_FILE', key: 'NATS_TLS_KEY_FILE' },
  { certificate: 'NATS_TLS_CA_FILE' },
  { certificate: 'SCREENING_TLS_CERT_FILE', key: 'SCREENING_TLS_KEY_FILE' },
  { certificate: 'SCREENING_TLS_CA_FILE' },
]

/** @param read only these settings. Default: all */
export function certificateFilesIn(
  settings: Settings,
  read?: readonly SettingName[],
): readonly CertificateFile[] {
  const given = read === undefined ? settings : only(settings, read)
  return [...ofSettings(given), ...ofNetwork(given), ...ofRails(given), ...rootsOfStores(given)]
}

/** The others have their defaults, which name no file. */
const only = (settings: Settings, read: readonly SettingName[]): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      read.some((each) => each === name) ? value : SETTINGS[name as SettingName].fallback,
    ]),
  ) as Settings

const ofSettings = (settings: Settings): readonly CertificateFile[] =>
  PAIRS.filter(({ certificate }) => settings[certificate] !== '').map(({ certificate, key }) => ({
    name: certificate,
    file: String(settings[certificate]),
    keyFile: key === undefined ? '' : String(settings[key]),
  }))

/** The certificates of a member of an ISO 20022 network. The rail reports a file that is wrong. */
function ofNetwork({ ISO20022_FILE: file }: Settings): readonly CertificateFile[] {
  if (file === '') return []
  try {
    const { tls } = JSON.parse(readFileSync(file, 'utf8')) as { readonly tls: TlsMembers }
    return ofMembers('ISO20022_FILE', file, tls)
  } catch {
    return [{ name: 'ISO20022_FILE', file, keyFile: '' }]
  }
}

/** The certificates that rails are called with. The processor reports a file that is wrong. */
function ofRails({ RAILS_FILE: file }: Settings): readonly CertificateFile[] {
  if (file === '') return []
  try {
    const { rails } = JSON.parse(readFileSync(file, 'utf8')) as RailsFile
    return rails.flatMap(({ name, tls }) =>
      tls === undefined ? [] : ofMembers(`RAILS_FILE ${name}`, file, tls),
    )
  } catch {
    return [{ name: 'RAILS_FILE', file, keyFile: '' }]
  }
}

interface TlsMembers {
  readonly cert_file: string
  readonly key_file: string
  readonly ca_file: string
}

interface RailsFile {
  readonly rails: readonly { readonly name: string; readonly tls?: TlsMembers }[]
}

/** @param file the paths are relative to its folder */
function ofMembers(name: string, file: string, tls: TlsMembers): readonly CertificateFile[] {
  const at = (path: string): string => resolve(dirname(file), path)
  return [
    { name: `${name} tls.cert_file`, file: at(tls.cert_file), keyFile: at(tls.key_file) },
    { name: `${name} tls.ca_file`, file: at(tls.ca_file), keyFile: '' },
  ]
}

const rootsOfStores = (settings: Settings): readonly CertificateFile[] =>
  (['STORE_URL', 'WEBHOOK_STORE_URL'] as const).flatMap((name) => {
    const file = new URLSearchParams(settings[name].split('?')[1]).get('sslrootcert') ?? ''
    return file === '' ? [] : [{ name: `sslrootcert of ${name}`, file, keyFile: '' }]
  })
