/**
 * When the certificates that a process uses end.
 *
 * - They are read at each scrape, because files are replaced while the process runs.
 * - A file that cannot be read, or has no certificate, counts as ended at 0: its alert fires.
 */
import { readFile } from 'node:fs/promises'
import { certificateFilesIn } from '../settings/certificate_files.js'
import { SECOND } from '../base/clock.js'
import { certificatesIn } from '../base/pem.js'
import type { SettingName, Settings } from '../settings/settings.js'
import type { Metrics } from './metrics.js'

/** @param read the settings of this process; others are those of its neighbors */
export function reportCertificates(
  metrics: Metrics,
  settings: Settings,
  read: readonly SettingName[],
): void {
  const files = certificateFilesIn(settings, read)
  if (files.length === 0) return
  metrics.readAll('causeway_certificate_expiry_time_seconds', () =>
    Promise.all(files.map(async ({ name, file }) => [await firstEndIn(file), name] as const)),
  )
}

/** Seconds since 1970. */
async function firstEndIn(file: string): Promise<number> {
  try {
    const ends = certificatesIn(await readFile(file, 'utf8')).map(({ validTo }) =>
      Date.parse(validTo),
    )
    return ends.length === 0 ? 0 : Math.min(...ends) / SECOND
  } catch {
    return 0
  }
}
