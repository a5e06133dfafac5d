/** The CA that issues the client certificates of operators, as the processor is configured. */
import { readFileSync } from 'node:fs'
import type { Clock } from '../base/clock.js'
import { certificatesIn } from '../base/pem.js'
import type { Settings } from '../settings/settings.js'
import { SettingsError } from '../settings/settings_reader.js'
import { operatorCertificates, type OperatorCertificates } from './operator_certificates.js'

/** Without a CA no certificate is valid. @throws SettingsError when the file cannot be used */
export function openOperatorCertificates(
  { CONSOLE_CLIENT_CA_FILE: file }: Pick<Settings, 'CONSOLE_CLIENT_CA_FILE'>,
  clock: Clock,
): OperatorCertificates {
  if (file === '') return () => undefined
  try {
    const found = certificatesIn(readFileSync(file, 'utf8'))
    if (found.length === 0) throw new Error('it has no certificate')
    return operatorCertificates(found, clock)
  } catch (error) {
    throw new SettingsError(`CONSOLE_CLIENT_CA_FILE cannot be used: ${String(error)}`)
  }
}
