/** The run that a report is shown beside: the newest earlier one of its kind in the folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunResult } from '../result.js'

/** Undefined means that there is none, or only one of an older tool that measured less. */
export function runBefore(folder: string, { kind, startedAt }: RunResult): RunResult | undefined {
  const name = new RegExp(`^${kind}-[0-9T.-]+Z\\.json$`)
  return readdirSync(folder)
    .filter((file) => name.test(file))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as RunResult)
    .filter((run) => run.startedAt < startedAt && hasOperations(run))
    .toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1))[0]
}

const hasOperations = ({ sections }: RunResult): boolean =>
  sections.every(({ windows }) => windows.every((window) => 'operations' in window))
