/**
 * Runs the checks and every test file: node .build/test/runner/main.js [part of a name …]
 *
 * Owns: the queue, what is printed. Does not own: building (src/scripts/test.sh).
 *
 * - The last line is `N passed, N failed`: assertions of all files, and one failure for each check
 *   that does not pass. Exit code 1 when anything failed or nothing ran.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'
import { listJobs, recordDurations, type Job } from './jobs.js'
import { runJob } from './run_job.js'

/** Tests wait for timers and processes: one more than there are cores keeps two cores busy. */
const AT_ONCE = Number(process.env['TEST_JOBS'] ?? 3)

const jobs = [...listJobs(process.argv.slice(2))]
const count = jobs.length
const durations = new Map<string, number>()
const startedAt = performance.now()
let passed = 0
let failed = 0
let done = 0

async function work(): Promise<void> {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await runAndTell(job)
}

async function runAndTell(job: Job): Promise<void> {
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
await Promise.all(Array.from({ length: AT_ONCE }, work))
recordDurations(durations)
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
console.log(`${count} files and checks in ${minutes} minutes`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
