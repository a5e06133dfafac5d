/**
 * Runs the model of ownership (ownership.qnt) with Quint's own simulator: no Java is needed.
 *
 * Does not own: traces of the real code (replay).
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../../src/base/project_root.js'

const QUINT = join(projectRoot(), 'node_modules/@informalsystems/quint/dist/src/cli.js')
export const MODEL = join(projectRoot(), 'test/model/ownership/ownership.qnt')

/** Modules of the model with a planted fault. */
export const MODEL_FAULTS = [
  { module: 'no_fence', fault: 'a commit without epoch and batch' },
  { module: 'no_epoch_in_commits', fault: 'a commit without its epoch' },
  { module: 'no_batch_in_commits', fault: 'a commit without its batch' },
  { module: 'loads_before_take_over', fault: 'rows are read before the take-over' },
  { module: 'no_barrier', fault: 'a read without a barrier' },
  { module: 'moves_owned_shards', fault: 'a partner moves between owned shards' },
  { module: 'moves_without_fence', fault: 'the move of a partner raises no epoch' },
  { module: 'places_twice', fault: 'a placed partner is placed again' },
  { module: 'any_announces', fault: 'a former owner publishes its address' },
]

export interface Checked {
  /** Whether the invariants held in every trace. */
  readonly isSafe: boolean
  readonly output: string
}

export interface CheckOptions {
  readonly module: string
  readonly samples: number
  readonly steps: number
  readonly seed?: string
}

export async function checkModel({ module, samples, steps, seed }: CheckOptions): Promise<Checked> {
  const { code, output } = await quint([
    ...['run', MODEL, `--main=${module}`, '--backend=typescript', '--invariant=safe'],
    ...[`--max-samples=${samples}`, `--max-steps=${steps}`],
    ...(seed === undefined ? [] : [`--seed=${seed}`]),
  ])
  const isSafe = output.includes('[ok] No violation found')
  if (!isSafe && !output.includes('[violation]'))
    throw new Error(`quint ended with ${code}: ${output}`)
  return { isSafe, output }
}

/** @returns what `quint test` prints: a line for each run of the file */
export const testRuns = async (file: string): Promise<string> =>
  (await quint(['test', file, '--main=replay', '--backend=typescript', '--match=^trace'])).output

function quint(
  given: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [QUINT, ...given],
      { maxBuffer: 2 ** 26, env: { ...process.env, NO_COLOR: '1' } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
      },
    )
  })
}
