/** The jobs of a test run: test files, linter, formatter. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { runsOnPostgres } from './store_tests.js'

const BUILT = join(projectRoot(), '.build')
const DURATIONS_FILE = join(BUILT, 'test_durations.json')

/**
 * Seconds on two quiet cores of the tests that take three or more; they order the jobs until this
 * machine has measured its own.
 */
const EXPECTED_FILE = join(projectRoot(), 'test/runner/expected_seconds.json')
const OTHERS_SECONDS = 1

export type Store = 'sqlite' | 'postgres'

export interface Job {
  /** On PostgreSQL it begins with `postgres/`. */
  readonly name: string
  readonly command: string
  readonly arguments: readonly string[]
  readonly store: Store
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
 * The linter and the formatter, then tests from longest to shortest, those of both stores in one
 * queue; on PostgreSQL only the tests that open the store of the run.
 */
export function listJobs(
  only: readonly string[],
  stores: readonly Store[],
  measured = read(DURATIONS_FILE),
): readonly Job[] {
  const durations = { ...expectedSeconds(), ...measured }
  const expected = (name: string): number =>
    durations[name] ?? durations[fileOf({ name })] ?? OTHERS_SECONDS
  const names = testNames().filter(
    (name) => only.length === 0 || only.some((part) => name.includes(part)),
  )
  const tests = stores
    .flatMap((store) =>
      names
        .filter((name) => store === 'sqlite' || runsOnPostgres(name))
        .map((name) => testJob(name, store)),
    )
    .sort((one, other) => expected(other.name) - expected(one.name))
  if (only.length > 0 || !stores.includes('sqlite')) return tests
  return [
    check('lint', 'eslint', '.'),
    check('formatting', 'prettier', '--log-level', 'warn', ...UNCHANGED_FORMAT, '--check', '.'),
    ...tests,
  ]
}

/** The two runs of a file have the same temporary folders, so they follow each other. */
export function createJobQueue(jobs: readonly Job[]) {
  const left = [...jobs]
  const running = new Set<string>()
  return {
    /** The next job that may start. Undefined means none: what is left follows a job that runs. */
    take: (): Job | undefined => {
      const index = left.findIndex((job) => !running.has(fileOf(job)))
      if (index < 0) return undefined
      const [job] = left.splice(index, 1)
      if (job !== undefined) running.add(fileOf(job))
      return job
    },
    ended: (job: Job) => void running.delete(fileOf(job)),
  }
}

/** The name of a job's test file, whatever the store. */
export const fileOf = ({ name }: Pick<Job, 'name'>): string => name.replace(/^postgres\//, '')

/** @param folder whose compiled code is tested */
export const testJob = (name: string, store: Store, folder = projectRoot()): Job => ({
  name: store === 'postgres' ? `postgres/${name}` : name,
  store,
  command: process.execPath,
  arguments: [join(folder, '.build', `${name}.test.js`)],
  kind: 'test',
})

/** A file is looked at again when it, its options or the formatter have changed since it passed. */
const UNCHANGED_FORMAT = [
  ...['--cache', '--cache-strategy', 'content'],
  ...['--cache-location', join(BUILT, 'formatted.json')],
]

/** A syntax tree outlives the usual 16 MB of young objects: with more, it is copied less often. */
const YOUNG_GENERATION = '--max-semi-space-size=64'

const check = (name: string, tool: string, ...args: string[]): Job => ({
  name,
  store: 'sqlite',
  command: process.execPath,
  arguments: [YOUNG_GENERATION, join(projectRoot(), 'node_modules/.bin', tool), ...args],
  kind: 'check',
})

/** Those of EXPECTED_FILE. */
export const expectedSeconds = (): Durations => read(EXPECTED_FILE)

function read(file: string): Durations {
  if (!existsSync(file)) return {}
  return JSON.parse(readFileSync(file, 'utf8')) as Durations
}

/** Stores the durations of this run, which order the next one. */
export function recordDurations(measured: ReadonlyMap<string, number>): void {
  const durations = { ...read(DURATIONS_FILE), ...Object.fromEntries(measured) }
  writeFileSync(DURATIONS_FILE, `${JSON.stringify(durations, null, 1)}\n`)
}
