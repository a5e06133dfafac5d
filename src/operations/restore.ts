/**
 * `restore DIR`: verifies one backup and puts it into an empty DATA_DIR. The next start is in
 * recovery mode by itself.
 */
import { existsSync } from 'node:fs'
import { BackupFault, type Manifest } from '../backup/manifest.js'
import { requireEmpty, restoreBackup, verifiedManifest } from '../backup/restore.js'
import { dataFile, type Settings } from '../base/settings.js'
import { FILES } from '../base/subjects.js'
import { openDataFolder } from '../supervisor/data_folder.js'
import type { LocalCommand, Report } from './command.js'

export const restore: LocalCommand = {
  usage: 'restore DIR',
  about: 'put one backup into an empty DATA_DIR; the next start is in recovery mode',
  runLocally: async (_paint, settings, { args: [folder = ''] }) => {
    const given = settings()
    try {
      requireEmpty(dataFile(given, ''))
      const manifest = await verifiedManifest(folder)
      const data = await openDataFolder(given.DATA_DIR)
      try {
        const { missingKeys } = await restoreBackup(folder, data.path, manifest)
        return reportOf(manifest, given, data.path, missingKeys)
      } finally {
        await data.release()
      }
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error
      throw new Error(`Not restored: ${error.message}`)
    }
  },
}

function reportOf(
  manifest: Manifest,
  settings: Settings,
  dataDir: string,
  missingKeys: readonly string[],
): Report {
  const { books, snapshot_at: at, files, audit } = manifest
  const hasRail = files.some(({ name }) => name === FILES.railDatabase)
  const missing = missingKeys.filter(
    (name) =>
      (name !== FILES.masterKey || !existsSync(settings.MASTER_KEY_FILE)) &&
      (name !== FILES.railKey || hasRail),
  )
  const newest = books.newest_event_at === '' ? 'none' : books.newest_event_at
  const begin = `DATA_DIR=${settings.DATA_DIR} make`
  return {
    value: { data_dir: dataDir, ...manifest, missing_keys: missing },
    lines: [
      `Restored ${files.length} files into ${dataDir}, as of ${at}.`,
      `Epoch ${books.epoch}, batch ${books.batch}, newest event ${newest}.`,
      ...(audit.clean ? [] : ['THE AUDIT OF THIS BACKUP WAS BROKEN:', audit.conclusion]),
      ...missing.map((name) => stepFor(name, dataDir, books.master_keys)),
      `The audit takes --webhooks-replaced-at ${manifest.completed_at}.`,
      '',
      'Everything since then is lost here, and the bank has it. The next start only reads:',
      `  ${begin} run`,
      `  ${begin} ops ARGS="recovery show"`,
      'Go on with step 3 of "Restoring an older copy" in src/operations/README.md.',
    ],
  }
}

function stepFor(name: string, dataDir: string, masterKeys: readonly string[]): string {
  const put = `Before the start put ${name} into ${dataDir}, mode 0600`
  switch (name) {
    case FILES.masterKey:
      return `${put}: it has ${masterKeys.join(', ')}.`
    case FILES.railKey:
      return `${put}: the sandbox rail needs it.`
    default:
      return `If ${name} was rotated, put it into ${dataDir} too; else the start makes a new one.`
  }
}
