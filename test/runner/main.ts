/**
 * Runs the checks and every test file: node .build/test/runner/main.js [part of a name …]
 *
 * - STORE=postgres: the test files that open the store, with their books in a PostgreSQL server of
 *   this run. STORE=both: everything on SQLite, and those, longest first: what waits on one store
 *   leaves the cores to the other.
 * - WITHOUT_GATEWAY=1: no check, and no test file that needs uWebSockets.js (make test-node).
 * - The last line is `N passed, N failed`: all assertions, and one failure per failed check. The
 *   exit code is 1 when anything failed or nothing ran.
 * - What is skipped is named with its reason, and counted by itself in the line before. A test of
 *   SQLite alone counts as skipped nowhere: on PostgreSQL it has no subject.
 * - What failed is shown again, cut, before these lines: often only the end of an output is kept.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { easePassword } from '../support/easy_password.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { needsGateway } from './gateway_tests.js'
import { createJobQueue, fileOf, listJobs, recordDurations, type Job, type Store } from './jobs.js'
import { runJob } from './run_job.js'
import { OWN_SERVER, SQLITE_ONLY } from './store_tests.js'

/** Tests wait for timers and processes: five jobs keep two cores busy. */
const CONCURRENCY = Number(process.env['TEST_JOBS'] ?? 5)

/** No test of the run cuts the power; the jobs open many connections. */
const SERVER_SETTINGS = { fsync: 'off', max_connections: '500' }

const STORES: Readonly<Record<string, readonly Store[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}

const only = process.argv.slice(2)
const chosen = process.env['STORE'] ?? 'sqlite'
const withoutGateway = process.env['WITHOUT_GATEWAY'] === '1'
// Children do not inherit settings.
delete process.env['STORE']
delete process.env['WITHOUT_GATEWAY']
const SHOWN_AGAIN_LINES_MAX = 20
const shownAgain: string[] = []
const total = { passed: 0, failed: 0, skipped: 0, notApplicable: 0 }
rmSync(join(projectRoot(), '.build/test_output'), { recursive: true, force: true })
await runSuite(STORES[chosen] ?? end(`STORE=${chosen} is not sqlite, postgres or both`))
if (chosen === 'sqlite' && noPostgres !== false)
  console.log(`skipped: the tests on PostgreSQL (${noPostgres})`)
printTotals()
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)

function end(reason: string): never {
  console.log(reason)
  total.failed += 1
  printTotals()
  process.exit(1)
}

function printTotals(): void {
  for (const line of shownAgain) console.log(line)
  if (total.notApplicable > 0) console.log(`${total.notApplicable} of SQLite only`)
  console.log(`${total.skipped} skipped`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
}

async function runSuite(stores: readonly Store[]): Promise<void> {
  const teardowns: (() => unknown)[] = []
  const environments: Readonly<Record<Store, Readonly<Record<string, string>>>> = {
    sqlite: {},
    postgres: stores.includes('postgres') ? await startServer(teardowns) : {},
  }
  const jobs = listJobs(only, stores).filter(canRun)
  const count = jobs.length
  const queue = createJobQueue(jobs)
  const durations = new Map<string, number>()
  const startedAt = performance.now()
  let done = 0
  let cpuTotal = 0

  const runAndReport = async (job: Job): Promise<void> => {
    const environment = environments[job.store]
    const result = await runJob(job, { environment })
    const { passed, skipped, notApplicable, failures, seconds, cpuSeconds } = result
    durations.set(job.name, Math.round(seconds * 10) / 10)
    total.passed += passed
    cpuTotal += cpuSeconds
    total.failed += failures.length
    total.skipped += skipped.length
    total.notApplicable += notApplicable.length
    done += 1
    const nothingRan = passed === 0 && skipped.length > 0
    const verdict = failures.length > 0 ? 'FAIL' : nothingRan ? 'skip' : 'pass'
    console.log(
      `${verdict}  ${`${done}/${count}`.padStart(7)}  ${job.name}  ` +
        `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`,
    )
    for (const what of skipped) console.log(`    skipped: ${what}`)
    for (const failure of failures) console.log(failure)
    if (failures.length > 0) shownAgain.push(`FAIL  ${job.name}`, ...failures.map(cutForTheEnd))
  }
  const work = async (): Promise<void> => {
    for (let job = queue.take(); job !== undefined; job = queue.take()) {
      await runAndReport(job)
      queue.ended(job)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  for (const teardown of teardowns) await teardown()
  recordDurations(durations)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  const where = stores.includes('sqlite') ? '' : ' on PostgreSQL'
  const cpu = (cpuTotal / 60).toFixed(1)
  console.log(`${count} files and checks${where} in ${minutes} minutes, CPU ${cpu} minutes`)
}

function cutForTheEnd(failure: string): string {
  return failure.split('\n').slice(0, SHOWN_AGAIN_LINES_MAX).join('\n')
}

function canRun(job: Job): boolean {
  return !withoutGateway || (job.kind === 'test' && !needsGateway(fileOf(job)))
}

/** @returns what the tests on it find in their environment */
async function startServer(
  teardowns: (() => unknown)[],
): Promise<Readonly<Record<string, string>>> {
  if (noPostgres !== false) end(noPostgres)
  const server = await startPostgres(
    { teardown: (teardown) => teardowns.push(teardown) },
    SERVER_SETTINGS,
  )
  for (const [name, why] of Object.entries(SQLITE_ONLY))
    console.log(`SQLite only: ${name} (${why})`)
  for (const [name, why] of Object.entries(OWN_SERVER))
    console.log(`once, on its own server: ${name} (${why})`)
  await easePassword(server.url)
  return { TEST_STORE_URL: server.url }
}
