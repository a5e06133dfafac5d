/** Runs of consecutive seeds, each in a temporary folder. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { FILES } from '../../src/base/subjects.js'
import { SCHEMA } from '../../src/rails/sandbox/journal.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { createMemoryDatabases } from './memory_database.js'
import { simulateMoves } from './moves/simulation.js'
import { shrink, type ShortRun } from './shrink.js'
import { simulate, type RunOptions, type SimulationResult } from './simulation.js'
import type { Rate } from './swarm.js'

export interface SeedsOptions {
  readonly first: number
  readonly runs: number
  readonly steps: number
  /** Processors over one set of books; default: 1 for even seeds, 2 for odd ones. */
  readonly owners?: 1 | 2
  /** Faults that do not happen. Default: none. */
  readonly without?: readonly Rate[]
  /** The books of each seed are set back to earlier copies. */
  readonly restores?: boolean
  /** Called for each line of output. */
  readonly onLine: (line: string) => void
  /** Where SQLite keeps the books. Default: in memory, on disk for one of eight seeds. */
  readonly books?: Books
  /** Called for every trace line. */
  readonly trace?: (line: string) => void
}

type Counts = SimulationResult['counts']

/** In memory by a synchronous driver, on disk by that of the product. */
export type Books = 'memory' | 'disk'

/** One of eight seeds, with one processor and with two. */
const booksOf = (seed: number): Books => (seed % 16 >= 14 ? 'disk' : 'memory')

/** Printed for a failed run: the last lines of its trace. */
const LAST_LINES = 60

/** @returns the count of each kind of trace line; null after a failed run */
export async function simulateSeeds(options: SeedsOptions): Promise<Counts | null> {
  const { first, runs, steps, owners, books, restores = false, without = [], onLine } = options
  const given = {
    ...(owners === undefined ? {} : { owners }),
    ...(restores ? { restores } : {}),
    ...(books === undefined ? {} : { books }),
    without,
  }
  const which = [
    'books',
    ...(restores ? ['--restores'] : []),
    ...(owners === undefined ? [] : [`--owners=${owners}`]),
  ].join(' ')
  const total = new Map<string, number>()
  for (let seed = first; seed < first + runs; seed++) {
    const lines: string[] = []
    const keep = (line: string): void => {
      lines.push(line)
      if (lines.length > LAST_LINES) lines.shift()
    }
    try {
      const { counts, digest } = await simulateSeed(seed, steps, options.trace ?? keep, given)
      for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
      onLine(`seed ${seed}: ${steps} steps passed, trace ${digest.slice(0, 16)}`)
    } catch (error) {
      for (const line of lines) onLine(`  ${line}`)
      onLine(String(error instanceof Error ? error.stack : error))
      onLine(`seed ${seed} failed. ${repeat(seed, { steps, without }, which)}`)
      const fails = (run: ShortRun): Promise<boolean> =>
        simulateSeed(seed, run.steps, () => undefined, { ...given, without: run.without }).then(
          () => false,
          () => true,
        )
      const shortest = await shrink({ steps, without }, fails)
      onLine(`The shortest run that fails: ${repeat(seed, shortest, which)}`)
      return null
    }
  }
  return total
}

/** Moves of shards in a cluster. @returns the count of each kind of event; null after a failure */
export async function simulateMoveSeeds({
  first,
  runs,
  steps,
  restores = false,
  onLine,
}: Pick<SeedsOptions, 'first' | 'runs' | 'steps' | 'restores' | 'onLine'>): Promise<Counts | null> {
  const total = new Map<string, number>()
  const which = ['moves', ...(restores ? ['--restores'] : [])].join(' ')
  for (let seed = first; seed < first + runs; seed++) {
    try {
      const counts = await simulateMoves({ seed, steps, ...(restores ? { restores } : {}) })
      for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
      onLine(`moves, seed ${seed}: ${steps} steps passed`)
    } catch (error) {
      onLine(String(error instanceof Error ? error.stack : error))
      onLine(`seed ${seed} failed. ${repeat(seed, { steps, without: [] }, which)}`)
      return null
    }
  }
  return total
}

const repeat = (seed: number, { steps, without }: ShortRun, which: string): string => {
  const less = without.length === 0 ? '' : ` --without=${without.join()}`
  return `To repeat: make sim SEED=${seed} STEPS=${steps} ARGS="--only-${which}${less}"`
}

/** In memory where possible, as disk speed does not matter here. */
const SHARED_MEMORY = '/dev/shm'

export async function simulateSeed(
  seed: number,
  steps: number,
  onLine: (line: string) => void,
  {
    books = booksOf(seed),
    ...more
  }: Pick<RunOptions, 'owners' | 'fault' | 'without' | 'restores'> & {
    readonly books?: Books
  } = {},
): Promise<SimulationResult> {
  const root = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir()
  const folder = mkdtempSync(join(root, 'causeway-sim-'))
  const ends: (() => unknown)[] = []
  const home = { testdir: () => folder, teardown: (end: () => unknown) => void ends.push(end) }
  try {
    for (const [name, content] of await emptyFiles(folder))
      writeFileSync(join(folder, name), content, { mode: 0o600 })
    const open = books === 'memory' ? createMemoryDatabases() : openDatabase
    return await simulate({ seed, steps, home, open, onLine, ...more })
  } finally {
    for (const end of ends.reverse()) await end()
    rmSync(folder, { recursive: true, force: true })
  }
}

const SCHEMAS = [
  [FILES.processorDatabase, PROCESSOR_SCHEMA],
  [FILES.railDatabase, join(projectRoot(), SCHEMA)],
] as const
let empty: ReadonlyMap<string, Buffer> | undefined

/** Books without rows, of the processor and the rail, by file name: the migrations run once. */
async function emptyFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  if (empty !== undefined) return empty
  const made = new Map<string, Buffer>()
  for (const [name, migrations] of SCHEMAS) {
    const file = join(folder, `empty-${name}`)
    await (await openDatabase(file, { migrations })).close()
    made.set(name, readFileSync(file))
  }
  return (empty = made)
}
