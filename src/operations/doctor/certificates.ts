/** Certificates that settings name: readable, matching their keys, and far from their end. */
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DAY, type Clock } from '../../base/clock.js'
import { certificatesIn } from '../../base/pem.js'
import type { Settings, SettingName } from '../../base/settings.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, UNUSED, type Area } from './area.js'

/** Less than the usual term of a renewal, and time for a person. */
const SOON_MS = 21 * DAY

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
]

export const certificates: Area = {
  name: 'certificates',
  look: (settings, clock) => {
    const used = [
      ...pairsIn(settings),
      ...pairsOfNetwork(settings),
      ...pairsOfRails(settings),
      ...rootsOfStores(settings),
    ]
    if (used.length === 0) return Promise.resolve(UNUSED)
    return Promise.resolve(checked(used.flatMap((pair) => findingsOf(pair, clock))))
  },
}

/** Files, and the name that a finding gives them. */
interface Pair {
  readonly name: string
  readonly file: string
  /** Empty: none. */
  readonly keyFile: string
}

const pairsIn = (settings: Settings): readonly Pair[] =>
  PAIRS.filter(({ certificate }) => settings[certificate] !== '').map(({ certificate, key }) => ({
    name: certificate,
    file: String(settings[certificate]),
    keyFile: key === undefined ? '' : String(settings[key]),
  }))

/** The certificates of a member of an ISO 20022 network. The rail reports a file that is wrong. */
function pairsOfNetwork({ ISO20022_FILE: file }: Settings): readonly Pair[] {
  if (file === '') return []
  try {
    const { tls } = JSON.parse(readFileSync(file, 'utf8')) as { readonly tls: TlsMembers }
    return pairsOf('ISO20022_FILE', file, tls)
  } catch {
    return [{ name: 'ISO20022_FILE', file, keyFile: '' }]
  }
}

/** The certificates that rails are called with. The processor reports a file that is wrong. */
function pairsOfRails({ RAILS_FILE: file }: Settings): readonly Pair[] {
  if (file === '') return []
  try {
    const { rails } = JSON.parse(readFileSync(file, 'utf8')) as RailsFile
    return rails.flatMap(({ name, tls }) =>
      tls === undefined ? [] : pairsOf(`RAILS_FILE ${name}`, file, tls),
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
function pairsOf(name: string, file: string, tls: TlsMembers): readonly Pair[] {
  const at = (path: string): string => resolve(dirname(file), path)
  return [
    { name: `${name} tls.cert_file`, file: at(tls.cert_file), keyFile: at(tls.key_file) },
    { name: `${name} tls.ca_file`, file: at(tls.ca_file), keyFile: '' },
  ]
}

const rootsOfStores = (settings: Settings): readonly Pair[] =>
  (['STORE_URL', 'WEBHOOK_STORE_URL'] as const).flatMap((name) => {
    const file = new URLSearchParams(settings[name].split('?')[1]).get('sslrootcert') ?? ''
    return file === '' ? [] : [{ name: `sslrootcert of ${name}`, file, keyFile: '' }]
  })

function findingsOf({ name, file, keyFile }: Pair, clock: Clock): readonly Finding[] {
  try {
    const chain = certificatesIn(readFileSync(file, 'utf8'))
    const [own] = chain
    if (own === undefined) throw new Error(`${file} has no certificate`)
    return [
      ...chain.flatMap((each) => endFinding(name, each, clock)),
      ...(keyFile === '' || own.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))
        ? []
        : [noPair(name, keyFile)]),
    ]
  } catch (error) {
    return [
      {
        finding: `${name}: ${messageOf(error)}`,
        why: 'the process does not start, or goes on with the former certificate',
        remedy: 'put a PEM file there that the process can read',
      },
    ]
  }
}

function endFinding(name: string, found: X509Certificate, clock: Clock): readonly Finding[] {
  const left = Date.parse(found.validTo) - clock.now()
  if (left >= SOON_MS) return []
  const subject = found.subject.replaceAll('\n', ', ')
  const end = left < 0 ? 'has ended' : `ends in ${Math.floor(left / DAY)} days`
  return [
    {
      finding: `${name}: the certificate of ${subject} ${end} (${found.validTo})`,
      why: 'connections are refused from its end on',
      remedy: 'renew it, and replace the file; new connections use it within seconds',
    },
  ]
}

const noPair = (name: string, keyFile: string): Finding => ({
  finding: `${name} does not belong to the key in ${keyFile}`,
  why: 'the process does not start, or goes on with the former pair',
  remedy: 'replace both files',
})
