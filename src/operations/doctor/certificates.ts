/** Certificates that settings name: readable, matching their keys, and far from their end. */
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { certificateFilesIn, type CertificateFile } from '../../settings/certificate_files.js'
import { DAY, type Clock } from '../../base/clock.js'
import { certificatesIn } from '../../base/pem.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, UNUSED, type Area } from './area.js'

/** Less than the usual term of a renewal, and time for a person. */
const SOON_MS = 21 * DAY

export const certificates: Area = {
  name: 'certificates',
  look: (settings, clock) => {
    const used = certificateFilesIn(settings)
    if (used.length === 0) return Promise.resolve(UNUSED)
    return Promise.resolve(checked(used.flatMap((each) => findingsOf(each, clock))))
  },
}

function findingsOf({ name, file, keyFile }: CertificateFile, clock: Clock): readonly Finding[] {
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
      remedy: 'renew it, and replace the file; "Certificates" of the guide says what to restart',
    },
  ]
}

const noPair = (name: string, keyFile: string): Finding => ({
  finding: `${name} does not belong to the key in ${keyFile}`,
  why: 'the process does not start, or goes on with the former pair',
  remedy: 'replace both files',
})
