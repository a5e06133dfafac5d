/**
 * Plants each fault of the catalog in the compiled code and runs the test that must notice it:
 * `make mutants ONLY="ledger lifecycle"`. Ends with a table by area and `N killed, N survived`.
 *
 * - Each test must pass first without a fault: a test that fails anyway proves nothing.
 * - A fault that survives is an exit code of 1, as is a catalog from which nothing was run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOptions } from '../../src/process/program_options.js'
import { projectRoot } from '../../src/base/project_root.js'
import { runJob, type JobResult } from '../runner/run_job.js'
import { testJob } from '../runner/jobs.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { CATALOG, type Area } from './catalog.js'
import type { Mutant } from './mutant.js'
import { createWorkingCopy, type WorkingCopy } from './working_copy.js'

/** A fault often makes a test wait for what never comes: it counts as killed after this time. */
const SILENCE_MAX_MS = 20_000
const SERVER_SETTINGS = { fsync: 'off', max_connections: '500' }
const COLUMNS = [17, 8, 9, 10, 9] as const

const { only, jobs } = programOptions('mutants', 'Plants faults that the tests must notice.', {
  only: { value: 'AREAS', about: 'areas, or parts of test names, separated by spaces' },
  jobs: { value: 'N', about: 'tests at a time', kind: 'number', fallback: availableParallelism() },
})

type Verdict = 'killed' | 'killed by time-out' | 'SURVIVED' | 'not run'

interface Planted extends Mutant {
  readonly area: Area
}

const startedAt = performance.now()
const say = (line: string): void => console.log(line)
const parts = (only ?? '').split(' ').filter((part) => part !== '')
const chosen: readonly Planted[] = Object.entries(CATALOG)
  .flatMap(([area, mutants]) => mutants.map((mutant) => ({ ...mutant, area: area as Area })))
  .filter(
    ({ area, test }) => parts.length === 0 || parts.some((p) => area === p || test.includes(p)),
  )

const teardowns: (() => unknown)[] = []
const end = async (): Promise<void> => {
  for (const teardown of teardowns.reverse()) await teardown()
}
const environment = await environmentOf(chosen)
const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
teardowns.push(() => rmSync(folder, { recursive: true, force: true }))
const copies = Array.from({ length: jobs }, (_, n) =>
  createWorkingCopy(projectRoot(), join(folder, String(n))),
)

let cpuSeconds = 0
const runIn = async (copy: WorkingCopy, mutant: Mutant): Promise<JobResult> => {
  const { test, store = 'sqlite' } = mutant
  const result = await runJob(testJob(test, store, copy.folder), {
    folder: copy.folder,
    environment: { TAP_BAIL: '1', ...(store === 'postgres' ? environment : {}) },
    silenceMaxMs: SILENCE_MAX_MS,
  })
  cpuSeconds += result.cpuSeconds
  return result
}

const failing = new Set<string>()
const keyOf = ({ test, store }: Mutant): string =>
  `${store === undefined ? '' : 'postgres/'}${test}`
const baselines = [...new Map(chosen.map((mutant) => [keyOf(mutant), mutant])).values()]
const seconds = new Map<string, number>()
await eachIn(copies, baselines, async (copy, mutant) => {
  const result = await runIn(copy, mutant)
  seconds.set(keyOf(mutant), result.seconds)
  if (result.failures.length === 0 && result.passed > 0) return
  failing.add(keyOf(mutant))
  say(`fails without a fault: ${keyOf(mutant)}\n${result.failures.join('\n')}`)
})
say(`${baselines.length} tests without a fault, ${failing.size} of them fail`)

const verdicts = new Map<Planted, Verdict>()
const shortestFirst = chosen.toSorted(
  (one, other) => (seconds.get(keyOf(one)) ?? 0) - (seconds.get(keyOf(other)) ?? 0),
)
await eachIn(copies, shortestFirst, async (copy, mutant) => {
  if (failing.has(keyOf(mutant))) return void verdicts.set(mutant, 'not run')
  const result = await copy.planted(mutant, () => runIn(copy, mutant))
  const verdict = verdictOf(result)
  verdicts.set(mutant, verdict)
  const seconds = `${result.seconds.toFixed(1)} s`.padStart(7)
  const cpu = `CPU ${result.cpuSeconds.toFixed(1)} s`
  const columns = [verdict.padEnd(18), seconds, cpu, mutant.area]
  say(`${columns.join('  ')}: ${mutant.fault} [${mutant.test}]`)
})

const count = (verdict: Verdict, area?: Area): number =>
  chosen.filter((m) => verdicts.get(m) === verdict && (area === undefined || m.area === area))
    .length
say('')
say(row('area', 'killed', 'by time', 'SURVIVED', 'not run'))
for (const area of new Set(chosen.map((mutant) => mutant.area)))
  say(
    row(
      area,
      count('killed', area),
      count('killed by time-out', area),
      count('SURVIVED', area),
      count('not run', area),
    ),
  )
const minutes = (performance.now() - startedAt) / 60_000
const cpuMinutes = (cpuSeconds / 60).toFixed(1)
say(`${minutes.toFixed(1)} minutes with ${jobs} at a time, CPU ${cpuMinutes} minutes`)
const killed = count('killed') + count('killed by time-out')
await end()
say(`${killed} killed, ${count('SURVIVED')} survived, ${count('not run')} not run`)
if (killed < chosen.length || killed === 0) process.exitCode = 1

function verdictOf({ failures, wasSilent }: JobResult): Verdict {
  if (failures.length === 0) return 'SURVIVED'
  return wasSilent && failures.length === 1 ? 'killed by time-out' : 'killed'
}

function row(...cells: readonly (string | number)[]): string {
  const text = cells.map((cell, n) =>
    n === 0 ? String(cell).padEnd(COLUMNS[0]) : String(cell).padStart(COLUMNS[n] ?? 0),
  )
  return text.join('')
}

/** Each item once, by the next copy that is free. */
async function eachIn<T>(
  workers: readonly WorkingCopy[],
  items: readonly T[],
  action: (copy: WorkingCopy, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const work = async (copy: WorkingCopy): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      await action(copy, item)
  }
  await Promise.all(workers.map(work))
}

async function environmentOf(mutants: readonly Mutant[]): Promise<Record<string, string>> {
  if (!mutants.some(({ store }) => store === 'postgres')) return {}
  if (noPostgres !== false) throw new Error(noPostgres)
  const teardown = (action: () => unknown): unknown => teardowns.push(action)
  return { TEST_STORE_URL: (await startPostgres({ teardown }, SERVER_SETTINGS)).url }
}
