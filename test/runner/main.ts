/**
 * Runs the checks and every test file: node .build/test/runner/main.js [part of a name …]
 *
 * - The last line is `N passed, N failed`: all assertions, and one failure per failed check. The
 *   exit code is 1 when anything failed or nothing ran.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'
import { listJobs, recordDurations, type Job } from './jobs.js'
import { runJob } from './run_job.js'

/** Tests wait for timers and processes: three jobs keep two cores busy. */
const CONCURRENCY = Number(process.env['TEST_JOBS'] ?? 3)

const jobs = [...listJobs(process.argv.slice(2))]
const count = jobs.length
const durations = new Map<string, number>()
const startedAt = performance.now()
let passed = 0
let failed = 0
let done = 0

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
recordDurations(durations)
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
console.log(`${count} files and checks in ${minutes} minutes`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
