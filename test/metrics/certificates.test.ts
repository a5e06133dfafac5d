/** When certificates end, as the processes that use them report it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DAY, plus, SECOND, systemClock } from '../../src/base/clock.js'
import { SETTINGS_READ_BY } from '../../src/settings/setting_readers.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { reportCertificates } from '../../src/metrics/certificates.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import type { OwnProgram } from '../../src/supervisor/child_variables.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { tempFolder } from '../support/temp_folder.js'

/** By the name of the file, the moment in seconds, as a program reports it. */
function reported(settings: Record<string, string>, main: OwnProgram = 'src/processor/main.js') {
  const metrics = createMetrics()
  reportCertificates(metrics, readSettings(settings, ''), SETTINGS_READ_BY[main])
  return async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      [...(await metrics.text()).matchAll(/certificate="([^"]+)"\} (\d+)$/gm)].map(
        ([, name = '', seconds]) => [name, Number(seconds)],
      ),
    )
}

t.test('the first end of each file, as it is now', async (t) => {
  const folder = tempFolder(t)
  const ca = createAuthority()
  const now = systemClock.now()
  const issued = (days: number) => ca.issue('api', { notAfter: new Date(plus(now, days * DAY)) })
  const endOf = (days: number): number => Math.floor(plus(now, days * DAY) / SECOND)
  const files = writeTlsFiles(folder, 'api', issued(30), ca)
  const rails = join(folder, 'rails.json')
  const tls = { cert_file: 'api.cert.pem', key_file: 'api.key.pem', ca_file: 'none.pem' }
  writeFileSync(rails, JSON.stringify({ rails: [{ name: 'bank_a', tls }] }))

  const ends = reported({ ...files, RAILS_FILE: rails })
  const found = await ends()
  t.match(found, {
    GRPC_TLS_CERT_FILE: endOf(30),
    'RAILS_FILE bank_a tls.cert_file': endOf(30),
    'RAILS_FILE bank_a tls.ca_file': 0,
  })
  t.ok((found['GRPC_TLS_CA_FILE'] ?? 0) > endOf(365))

  const [long, short] = [issued(90).certificate, issued(10).certificate]
  writeFileSync(files.GRPC_TLS_CERT_FILE, long + short)
  t.match(await ends(), { GRPC_TLS_CERT_FILE: endOf(10) }, 'of a chain')
  writeFileSync(files.GRPC_TLS_CERT_FILE, 'no certificate')
  t.match(await ends(), { GRPC_TLS_CERT_FILE: 0 })
})

t.test('a process reports what it uses, and nothing without certificates', async (t) => {
  t.same(await reported({})(), {})
  const settings = {
    TLS_CERT_FILE: '/none/api.pem',
    TLS_KEY_FILE: '/none/api.key',
    RAILS_FILE: '/none/rails.json',
  }
  t.same(await reported(settings)(), { RAILS_FILE: 0 })
  t.same(await reported(settings, 'gateway/main.js')(), { TLS_CERT_FILE: 0 })
})
