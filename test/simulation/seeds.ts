/**
 * Many runs, one seed after the other, each in a folder of its own that is gone afterwards.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulate, type Told } from './simulation.js'

export interface SeedsOptions {
  readonly first: number
  readonly runs: number
  readonly steps: number
  /** Lines for a person. */
  readonly tell: (line: string) => void
  /** Told of everything that happens. */
  readonly trace?: (line: string) => void
}

/** What is told of a failed run: the end of its trace. */
const LAST_LINES = 60

/** @returns how often each thing happened; null: a run failed, and it was told how to repeat it */
export async function simulateSeeds(options: SeedsOptions): Promise<Told['counts'] | null> {
  const { first, runs, steps, tell } = options
  const total = new Map<string, number>()
  for (let seed = first; seed < first + runs; seed++) {
    const lines: string[] = []
    const keep = (line: string): void => {
      lines.push(line)
      if (lines.length > LAST_LINES) lines.shift()
    }
    try {
      const { counts, digest } = await tellOne(seed, steps, options.trace ?? keep)
      for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
      tell(`seed ${seed}: ${steps} steps hold, trace ${digest.slice(0, 16)}`)
    } catch (error) {
      for (const line of lines) tell(`  ${line}`)
      tell(String(error instanceof Error ? error.stack : error))
      tell(`seed ${seed} fails. Again: make sim SEED=${seed} STEPS=${steps}`)
      return null
    }
  }
  return total
}

/** Memory where there is some: what is simulated is not the speed of a disk. */
const SHARED_MEMORY = '/dev/shm'

export async function tellOne(
  seed: number,
  steps: number,
  tell: (line: string) => void,
): Promise<Told> {
  const root = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir()
  const folder = mkdtempSync(join(root, 'causeway-sim-'))
  const ends: (() => unknown)[] = []
  const home = { testdir: () => folder, teardown: (end: () => unknown) => void ends.push(end) }
  try {
    return await simulate({ seed, steps, home, tell })
  } finally {
    for (const end of ends.reverse()) await end()
    rmSync(folder, { recursive: true, force: true })
  }
}
