/**
 * Runs the checks and every test file: node .build/test/runner/main.js [part of a name …]
 *
 * - STORE=postgres: the test files, with their books in a PostgreSQL server of this run.
 * - The last line is `N passed, N failed`: all assertions, and one failure per failed check. The
 *   exit code is 1 when anything failed or nothing ran.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { listJobs, recordDurations, SQLITE_ONLY, type Job } from './jobs.js'
import { runJob } from './run_job.js'

/** Tests wait for timers and processes: three jobs keep two cores busy. */
const CONCURRENCY = Number(process.env['TEST_JOBS'] ?? 3)

/** No test cuts the power; three jobs open many connections. */
const SERVER_SETTINGS = { fsync: 'off', max_connections: '500' }

const onPostgres = process.env['STORE'] === 'postgres'
// The children's settings are their own.
delete process.env['STORE']
const teardowns: (() => unknown)[] = []
if (onPostgres) await startServer()
else if (noPostgres !== false) console.log(`left out: the tests on PostgreSQL (${noPostgres})`)

const jobs = [...listJobs(process.argv.slice(2), onPostgres)]
const count = jobs.length
const durations = new Map<string, number>()
const startedAt = performance.now()
let passed = 0
let failed = 0
let done = 0

async function startServer(): Promise<void> {
  if (noPostgres !== false) {
    console.log(noPostgres)
    console.log('0 passed, 1 failed')
    process.exit(1)
  }
  const server = await startPostgres({ teardown: (end) => teardowns.push(end) }, SERVER_SETTINGS)
  process.env['TEST_STORE_URL'] = server.url
  for (const [name, why] of Object.entries(SQLITE_ONLY))
    console.log(`SQLite only: ${name} (${why})`)
}

async function work(): Promise<void> {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await runAndReport(job)
}

async function runAndReport(job: Job): Promise<void> {
  const { passed: assertions, failures, seconds } = await runJob(job)
  durations.set(job.name, Math.round(seconds * 10) / 10)
  passed += assertions
  failed += failures.length
  done += 1
  const verdict = failures.length === 0 ? 'pass' : 'FAIL'
  console.log(`${verdict}  ${`${done}/${count}`.padStart(7)}  ${job.name}  ${seconds.toFixed(1)} s`)
  for (const failure of failures) console.log(failure)
}

rmSync(join(projectRoot(), '.build/test_output'), { recursive: true, force: true })
await Promise.all(Array.from({ length: CONCURRENCY }, work))
for (const end of teardowns) await end()
if (!onPostgres) recordDurations(durations)
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
console.log(`${count} files and checks in ${minutes} minutes`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
