/** What the files of src/deploy name of this project: programs, settings, ports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { projectRoot } from '../../src/base/project_root.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { SETTINGS, type Settings } from '../../src/settings/settings.js'
import { SETTINGS_READ_BY, type OwnProgram } from '../../src/supervisor/child_variables.js'

export const FOLDER = join(projectRoot(), 'src/deploy')
/** Read by Node, by uWebSockets.js, and before the settings. */
const FOREIGN = ['NODE_ENV', 'UWS_HTTP_MAX_HEADERS_SIZE', 'DOT_ENV', 'TMPDIR']
/** They read every setting. */
const STACK = ['src/supervisor/main.js', 'src/operations/main.js']

export const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')

export const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(FOLDER, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length + 1))
    .sort()

/** Every document of a file, with `<<` merged as Compose does. */
export const documentsIn = (file: string): readonly unknown[] =>
  parseAllDocuments(textOf(file), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${String(document.errors[0])}`)
    return document.toJS({ maxAliasCount: -1 }) as unknown
  })

/** The entry program in a command line, without `.build/`. */
export function programIn(words: readonly string[]): string {
  const entry = words.find((word) => word.startsWith('.build/'))
  if (entry === undefined) throw new Error(`no program of ours: ${words.join(' ')}`)
  return entry.slice('.build/'.length)
}

export type Environment = Readonly<Record<string, string>>

/**
 * What is wrong with a process: its program, the names of its settings, their values.
 *
 * @param shared settings of several programs: of each, only those that it reads have an effect
 */
export function faultsOf(
  words: readonly string[],
  environment: Environment,
  shared: Environment = {},
): readonly string[] {
  const program = programIn(words)
  const faults: string[] = []
  if (!existsSync(join(projectRoot(), '.build', program))) faults.push(`no program ${program}`)
  const known: readonly string[] = STACK.includes(program)
    ? Object.keys(SETTINGS)
    : (SETTINGS_READ_BY[program as OwnProgram] ?? [])
  for (const name of Object.keys(environment)) {
    if (!known.includes(name) && !FOREIGN.includes(name)) faults.push(`${program} reads no ${name}`)
  }
  try {
    settingsOf({ ...shared, ...environment })
  } catch (error) {
    faults.push(String(error))
  }
  return faults
}

/** @throws SettingsError */
export const settingsOf = (environment: Environment): Settings =>
  readSettings({ ...secretSettings(environment), ...environment }, '')

/** DOT_ENV names a file with the secrets, which no test has. */
const secretSettings = (environment: Environment): Environment =>
  environment['DOT_ENV'] === undefined
    ? {}
    : { STORE_URL: 'postgres://a:b@db/c', NATS_URL: 'tls://a:b@nats:4222' }
