/** The jobs of a test run: test files, linter, formatter. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'

const BUILT = join(projectRoot(), '.build')
const DURATIONS_FILE = join(BUILT, 'test_durations.json')

/** Default seconds until this machine has measured its own; long jobs start first. */
const DEFAULT_SECONDS: Readonly<Record<string, number>> = {
  'test/crash': 60,
  'test/supervisor/stack': 40,
  'test/operations': 40,
  'test/load/stack': 20,
  'test/model': 25,
  'test/integration': 20,
  'test/failover': 15,
  'test/simulation': 15,
}

export interface Job {
  readonly name: string
  readonly command: string
  readonly arguments: readonly string[]
  /** A test prints TAP; a check has only its exit code. */
  readonly kind: 'test' | 'check'
}

type Durations = Readonly<Record<string, number>>

/**
 * Test files that `STORE=postgres` leaves out, by the start of their name, and why. Single tests
 * in other files say so with `sqliteOnly` (support/books).
 */
export const SQLITE_ONLY: Readonly<Record<string, string>> = {
  'test/audit': 'plants damage in the files; the audit of PostgreSQL reads an export of that form',
  'test/crash/writer': 'the lock of the file and a full disk under it',
  'test/golden': 'data folders of earlier versions',
  'test/integration/books_behind': 'replaces the file by an older copy',
  'test/integration/full_disk': 'a full disk under the file',
  'test/integration/recovery': 'replaces the file by an older copy',
  'test/load': 'seeds and measures files',
  'test/powercut': 'images of the file after a power cut',
  'test/processor/damaged_rows': 'damages rows with functions of SQLite',
  'test/processor/recovery/marks': 'reads a file without a processor',
  'test/simulation': 'counts the reads and writes of the file',
  'test/operations/store_copy': 'has a server of its own',
  'test/store/checkpoints': 'the WAL of the file',
  'test/store/json_page': 'the JSON functions of SQLite',
  'test/store/lists': 'the query plans of SQLite',
  'test/store/permissions': 'the mode of the file',
  'test/store/store': 'the store on SQLite; test/store/postgres is that of PostgreSQL',
  'test/store/suspense_migration': 'migrations of the file',
  'test/store/upgraded_books': 'migrations of the file',
  'test/supervisor/integrity': 'the integrity check of the files',
  'test/supervisor/stack': 'the files of a data folder',
}

const runsOnPostgres = ({ name }: Job): boolean =>
  !Object.keys(SQLITE_ONLY).some((start) => name.startsWith(start))

/** The linter, then tests from longest to shortest, then the formatter; on PostgreSQL the tests. */
export function listJobs(only: readonly string[], onPostgres: boolean): readonly Job[] {
  const durations = readDurations()
  const expected = (name: string): number => durations[name] ?? defaultSeconds(name)
  const tests = readdirSync(join(BUILT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file): Job => {
      const path = join(BUILT, 'test', file)
      const name = relative(BUILT, path).replace(/\.test\.js$/, '')
      return {
        name,
        command: process.execPath,
        arguments: ['--enable-source-maps', path],
        kind: 'test',
      }
    })
    .filter((job) => !onPostgres || runsOnPostgres(job))
    .sort((one, other) => expected(other.name) - expected(one.name))
  if (only.length > 0) return tests.filter(({ name }) => only.some((part) => name.includes(part)))
  if (onPostgres) return tests
  return [
    check('lint', 'eslint', '.'),
    ...tests,
    check('formatting', 'prettier', '--log-level', 'warn', '--check', '.'),
  ]
}

const check = (name: string, tool: string, ...args: string[]): Job => ({
  name,
  command: join(projectRoot(), 'node_modules/.bin', tool),
  arguments: args,
  kind: 'check',
})

function defaultSeconds(name: string): number {
  const folder = Object.keys(DEFAULT_SECONDS).find((prefix) => name.startsWith(prefix))
  return folder === undefined ? 1 : (DEFAULT_SECONDS[folder] ?? 1)
}

function readDurations(): Durations {
  if (!existsSync(DURATIONS_FILE)) return {}
  return JSON.parse(readFileSync(DURATIONS_FILE, 'utf8')) as Durations
}

/** Stores the durations of this run, which order the next one. */
export function recordDurations(measured: ReadonlyMap<string, number>): void {
  const durations = { ...readDurations(), ...Object.fromEntries(measured) }
  writeFileSync(DURATIONS_FILE, `${JSON.stringify(durations, null, 1)}\n`)
}
