/** The jobs of a test run: test files, linter, formatter. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { runsOnPostgres } from './store_tests.js'

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

export type Store = 'sqlite' | 'postgres'

export interface Job {
  /** On PostgreSQL it begins with `postgres/`. */
  readonly name: string
  readonly command: string
  readonly arguments: readonly string[]
  /** A test prints TAP; a check has only its exit code. */
  readonly kind: 'test' | 'check'
}

type Durations = Readonly<Record<string, number>>

/** The paths of the compiled test files, without `.test.js`. */
export const testNames = (): readonly string[] =>
  readdirSync(join(BUILT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join('test', file.replace(/\.test\.js$/, '')))

/**
 * The linter, then tests from longest to shortest, then the formatter; on PostgreSQL only the tests
 * that open the store of the run.
 */
export function listJobs(only: readonly string[], store: Store): readonly Job[] {
  const durations = readDurations()
  const expected = (name: string): number => durations[name] ?? defaultSeconds(name)
  const tests = testNames()
    .filter((name) => store === 'sqlite' || runsOnPostgres(name))
    .filter((name) => only.length === 0 || only.some((part) => name.includes(part)))
    .map((name): Job => ({
      name: store === 'postgres' ? `postgres/${name}` : name,
      command: process.execPath,
      arguments: ['--enable-source-maps', join(BUILT, `${name}.test.js`)],
      kind: 'test',
    }))
    .sort((one, other) => expected(other.name) - expected(one.name))
  if (only.length > 0 || store === 'postgres') return tests
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
  const folder = Object.keys(DEFAULT_SECONDS).find((part) => name.includes(part))
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
