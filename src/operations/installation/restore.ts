/**
 * `restore DIR`: verifies one backup and puts it into an empty DATA_DIR. The next start is in
 * recovery mode by itself.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BackupFault, type Manifest } from '../../backup/manifest.js'
import { loadMasterKeys } from '../../auth/master_key.js'
import { createSecretBox } from '../../auth/secret_box.js'
import { openStoredKeys, type StoredKeys } from '../../auth/stored_keys.js'
import { systemRandom } from '../../base/random.js'
import {
  isOfServer,
  manifestOf,
  markRestored,
  requireEmpty,
  requireSpace,
  restoreBackup,
  verifyFiles,
} from '../../backup/restore.js'
import { BASE, verifyBase } from '../../backup/server_backup.js'
import { freeBytesOf } from '../../files/free_space.js'
import { dataFile, type Settings } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import { requireOpens } from '../../rails/adapter/account_box.js'
import { openDatabase } from '../../store/sqlite/database.js'
import { openDataFolder } from '../../supervisor/data_folder.js'
import { clusterVersion } from '../../supervisor/postgres_server.js'
import type { LocalCommand, Report } from '../cli/command.js'
import { opsLine, shellWord } from '../cli/command_text.js'
import { serverTools } from './server_tools.js'

export const restore: LocalCommand = {
  usage: 'restore DIR',
  about: 'put one backup into an empty DATA_DIR; the next start is in recovery mode',
  runLocally: async (_paint, settings, { args: [folder = ''] }) => {
    const given = settings()
    try {
      requireEmpty(dataFile(given, ''))
      const manifest = manifestOf(folder)
      if (!isOfServer(manifest)) {
        await requireSpace(resolve(dataFile(given, '')), manifest, freeBytesOf)
      }
      await verifyFiles(folder, manifest)
      if (isOfServer(manifest)) {
        const base = join(folder, BASE)
        const tools = serverTools(clusterVersion(base))
        await verifyBase(base, tools, new AbortController().signal)
      }
      await requireFittingKey(given, manifest, folder)
      await requireFittingRailKey(given, manifest, folder)
      const data = await openDataFolder(given.DATA_DIR)
      try {
        requireEmpty(data.path) // Another restore or a stack may have used it meanwhile.
        if (isOfServer(manifest)) {
          markRestored(data.path, manifest)
          return serverReportOf(manifest, given, resolve(folder, BASE))
        }
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

/**
 * A master key that is there already, or in the backup, has to open the books: the next start would
 * refuse. One that is missing may be put there later.
 * @throws BackupFault
 */
async function requireFittingKey(
  settings: Settings,
  manifest: Manifest,
  folder: string,
): Promise<void> {
  const keyFiles = [
    settings.MASTER_KEY_FILE || dataFile(settings, FILES.masterKey),
    join(folder, FILES.masterKey),
  ]
  for (const file of keyFiles) {
    if (!existsSync(file)) continue
    try {
      const isNamed = file === settings.MASTER_KEY_FILE
      const masters = loadMasterKeys(file, { create: false, isNamed }, systemRandom())
      const rows = isOfServer(manifest) ? keysOnly(manifest) : await storedKeysIn(folder)
      openStoredKeys(rows, masters, createSecretBox(masters, 'secrets', systemRandom()))
    } catch (error) {
      throw new BackupFault(
        `${file} does not open the secrets of this backup ` +
          `(${error instanceof Error ? error.message : String(error)}): put the key file there ` +
          `that has ${manifest.books.master_keys.join(', ')}, or none until the start.`,
      )
    }
  }
}

/** As the master key: the rail would not start. @throws BackupFault */
async function requireFittingRailKey(
  settings: Settings,
  { files }: Manifest,
  folder: string,
): Promise<void> {
  if (!files.some(({ name }) => name === FILES.railDatabase)) return
  const keyFiles = [dataFile(settings, FILES.railKey), join(folder, FILES.railKey)]
  for (const file of keyFiles.filter((each) => existsSync(each))) {
    const journal = await openDatabase(join(folder, FILES.railDatabase), { readOnly: true })
    try {
      await requireOpens(file, journal)
    } catch (error) {
      throw new BackupFault(
        `${file} does not open the accounts in ${FILES.railDatabase} of this backup ` +
          `(${error instanceof Error ? error.message : String(error)}): put the key file there ` +
          'that was used with it, or none until the start.',
      )
    } finally {
      await journal.close()
    }
  }
}

async function storedKeysIn(folder: string): Promise<StoredKeys> {
  const books = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  try {
    return {
      masterKeys: await books.all('SELECT kid, emptied_at FROM master_keys'),
      lastingKeys: await books.all('SELECT id, sealed FROM lasting_keys'),
    }
  } finally {
    await books.close()
  }
}

/** The rows of a server's backup cannot be read: only which keys they need is known. */
const keysOnly = ({ books }: Manifest): StoredKeys => ({
  masterKeys: books.master_keys.map((kid) => ({ kid, emptied_at: null })),
  lastingKeys: [],
})

function serverReportOf(manifest: Manifest, settings: Settings, base: string): Report {
  const { books, snapshot_at: at } = manifest
  const begin = `DATA_DIR=${shellWord(settings.DATA_DIR)}`
  const keys = books.master_keys.join(', ')
  return {
    value: { data_dir: settings.DATA_DIR, base, ...manifest },
    lines: [
      `Verified: a whole PostgreSQL server, at least as of ${at}.`,
      `Epoch ${books.epoch}, batch ${books.batch} of the books of SHARD.`,
      'On the machine of the server, while it is stopped, as its user:',
      `  cp -a ${shellWord(base)} NEW_DATA_FOLDER && chmod 700 NEW_DATA_FOLDER`,
      '  to a moment: restore_command, recovery_target_time, touch recovery.signal; start it',
      `Then here, with STORE_URL of that server and master.key (${keys}):`,
      `  ${begin} make run`,
      `  ${begin} ${opsLine('recovery', 'show')}`,
      'Each other processor starts with RECOVERY=yes.',
      'Go on with step 3 of "Restoring an older copy" in src/operations/guide/recovery.md.',
    ],
  }
}

function reportOf(
  manifest: Manifest,
  settings: Settings,
  dataDir: string,
  missingKeys: readonly string[],
): Report {
  const { books, snapshot_at: at, files, audit } = manifest
  const has = (file: string): boolean => files.some(({ name }) => name === file)
  const missing = missingKeys.filter(
    (name) =>
      (name !== FILES.masterKey || !existsSync(settings.MASTER_KEY_FILE)) &&
      (name !== FILES.railKey || has(FILES.railDatabase)),
  )
  const newest = books.newest_event_at === '' ? 'none' : books.newest_event_at
  const begin = `DATA_DIR=${shellWord(settings.DATA_DIR)}`
  return {
    value: { data_dir: dataDir, ...manifest, missing_keys: missing },
    lines: [
      `Restored ${files.length} files into ${dataDir}, as of ${at}.`,
      `Epoch ${books.epoch}, batch ${books.batch}, newest event ${newest}.`,
      ...(audit.clean !== false ? [] : ['THE AUDIT OF THIS BACKUP WAS BROKEN:', audit.conclusion]),
      ...missing.map((name) => stepFor(name, dataDir, books.master_keys)),
      ...(has(FILES.railRecord) ? OF_AN_ADAPTER : []),
      `The audit takes --webhooks-replaced-at ${manifest.completed_at}.`,
      '',
      'Everything since then is lost here, and the bank has it. The next start only reads:',
      `  ${begin} make run`,
      `  ${begin} ${opsLine('recovery', 'show')}`,
      'Go on with step 3 of "Restoring an older copy" in src/operations/guide/recovery.md.',
    ],
  }
}

/** Its journal proves a statement: an older one proves one without the lost payments. */
const OF_AN_ADAPTER = [
  `${FILES.railDatabase} is the journal of the bank's adapter, AS OLD AS THE BOOKS. If the newest`,
  `one exists, put it and ${FILES.railRecord}, with their -wal files, here before the start.`,
  'If not, neither `make statement` nor the rail has the lost payments: release with the own',
  'statement of the bank, and --incomplete.',
]

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
