/**
 * The command line of the fuzzers: `--seconds N` is the time of a run, `--seed N` repeats its
 * inputs, and `--only I` runs only that input.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/process/program_options.js'

export interface AttackOptions {
  readonly seed: number
  readonly forMs: number
  /** Runs only the input of this number. */
  readonly only?: number
}

export interface AttackReport {
  readonly inputs: number
  /** Number of inputs by their result. */
  readonly statuses: Readonly<Record<string, number>>
  /** Violations, each with its input; the same seed and number repeat it. */
  readonly faults: readonly string[]
}

/** Runs a fuzzer, prints its report, and exits with 1 if it found a fault. */
export async function fuzz(
  name: string,
  about: string,
  attack: (options: AttackOptions) => AttackReport | Promise<AttackReport>,
): Promise<void> {
  const values = programOptions(`fuzz-${name}`, about, {
    seconds: { value: 'N', about: 'duration in seconds', kind: 'number', fallback: 60 },
    seed: { value: 'N', about: 'repeats a run', kind: 'number' },
    only: { value: 'N', about: 'runs only the input of this number', kind: 'number' },
  })
  const { seconds, seed = randomInt(1_000_000), only } = values
  console.log(`seed ${seed}, ${seconds} s`)
  const forMs = seconds * 1_000
  const report = await attack({ seed, forMs, ...(only === undefined ? {} : { only }) })
  console.log(`${report.inputs} inputs, by result:`, report.statuses)
  for (const fault of report.faults) console.log(fault)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
