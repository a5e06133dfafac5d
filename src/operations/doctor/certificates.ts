/** Certificates that settings name: readable, matching their keys, and far from their end. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DAY, type Clock } from '../../base/clock.js'
import type { Settings, SettingName } from '../../base/settings.js'
import type { Finding } from '../production_check.js'
import { checked, messageOf, UNUSED, type Area } from './area.js'

/** Less than the usual term of a renewal, and time for a person. */
const SOON_MS = 21 * DAY

interface Pair {
  readonly certificate: SettingName
  readonly key?: SettingName
}

const PAIRS: readonly Pair[] = [
  { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' },
  { certificate: 'GRPC_TLS_CERT_FILE', key: 'GRPC_TLS_KEY_FILE' },
  { certificate: 'GRPC_TLS_CA_FILE' },
  { certificate: 'NATS_TLS_CERT_FILE', key: 'NATS_TLS_KEY_FILE' },
  { certificate: 'NATS_TLS_CA_FILE' },
]

export const certificates: Area = {
  name: 'certificates',
  look: (settings, clock) => {
    const used = PAIRS.filter(({ certificate }) => settings[certificate] !== '')
    if (used.length === 0) return Promise.resolve(UNUSED)
    return Promise.resolve(checked(used.flatMap((pair) => findingsOf(pair, settings, clock))))
  },
}

function findingsOf(pair: Pair, settings: Settings, clock: Clock): readonly Finding[] {
  const { certificate: name, key } = pair
  const file = String(settings[name])
  try {
    const chain = certificatesIn(readFileSync(file, 'utf8'))
    const [own] = chain
    if (own === undefined) throw new Error(`${file} has no certificate`)
    const keyFile = key === undefined ? '' : String(settings[key])
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

const ONE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

const certificatesIn = (text: string): readonly X509Certificate[] =>
  (text.match(ONE) ?? []).map((each) => new X509Certificate(each))

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
