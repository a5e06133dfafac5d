/** Certificates for tests: those of a trial, and their files. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as trial from '../../src/rails/switch/certificate_authority.js'
import { systemClock } from '../../src/base/clock.js'

export type { Authority, Pair } from '../../src/rails/switch/certificate_authority.js'
type Authority = trial.Authority
type Pair = trial.Pair

export const createAuthority = (name = 'test CA'): Authority =>
  trial.createAuthority(name, systemClock.now())

type TlsFileSettings = Record<
  'GRPC_TLS_CERT_FILE' | 'GRPC_TLS_KEY_FILE' | 'GRPC_TLS_CA_FILE',
  string
>

/** Writes the files of one process into a folder, each replaced atomically. */
export function writeTlsFiles(
  folder: string,
  name: string,
  { certificate, key }: Pair,
  ca: Pick<Authority, 'certificate'>,
): TlsFileSettings {
  const write = (ending: string, text: string): string => {
    const file = join(folder, `${name}.${ending}`)
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return file
  }
  return {
    GRPC_TLS_CERT_FILE: write('cert.pem', certificate),
    GRPC_TLS_KEY_FILE: write('key.pem', key),
    GRPC_TLS_CA_FILE: write('ca.pem', ca.certificate),
  }
}
