/**
 * The load tool's command line.
 *
 * Owns: exit codes, what is left behind, the line that tells how far it is. Does not own: flags
 * (commands), what is measured.
 *
 * node .build/test/load/main.js bench | load | soak | spike | compare | scale | profile, with the
 * flags of README.md.
 *
 * Exit codes: 0 measured, 1 failed, 2 wrong flags, 3 void (measured, but the figures mean nothing),
 * 130 interrupted.
 *
 * - However it ends, the programs it started end too and the data they wrote is removed; the
 *   result stays.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock, toRfc3339 } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/protos.js'
import { startClient, type Client } from './client/client.js'
import { planOf, SWITCHES, VALUES } from './commands.js'
import { readFlags, UsageError } from './flags.js'
import { describeMachine } from './measurement/machine.js'
import type { IntervalResult } from './measurement/measurement.js'
import { writeOutputs } from './report/outputs.js'
import { createPrograms, type Programs } from './system_under_test/programs.js'
import { report } from './report/report.js'
import { isVoid, type RunResult } from './report/result.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_VOID = 3
const EXIT_INTERRUPTED = 130

const PROGRESS_EVERY_MS = 1_000

let folder = ''
let programs: Programs | undefined
let client: Client | undefined
let cleaning: Promise<void> | undefined

/** The client goes first: it would take the end of the others for a failure. */
async function clean(): Promise<void> {
  await client?.stop()
  await programs?.stop()
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
}

const cleanUp = (): Promise<void> => (cleaning ??= clean())

async function main(): Promise<number> {
  const flags = readFlags(process.argv.slice(2), VALUES, SWITCHES)
  const plan = planOf(flags)
  const outputs = resolve(flags.text('out') ?? join(projectRoot(), '.build', 'load'))
  folder = join(outputs, `run-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  programs = createPrograms(folder)
  client = startClient(plan.clients)
  const startedAt = toRfc3339(systemClock.now())
  const machine = describeMachine(folder)
  const part = await plan.run({ folder, machine, programs, client, progress: createProgress() })
  await cleanUp()
  const { kind, settings } = plan
  const result: RunResult = { kind, startedAt, machine, settings, ...part }
  const files = writeOutputs(outputs, result)
  say(`\n${report(result)}\n\n${files.map((file) => `  ${file}`).join('\n')}`)
  return isVoid(result) ? EXIT_VOID : 0
}

function createProgress(): (step: string, intervalSample: IntervalResult | undefined) => void {
  let saidAt = -Infinity
  return (step, intervalSample) => {
    if (intervalSample === undefined) return say(`${step} …`)
    const now = performance.now()
    if (now - saidAt < PROGRESS_EVERY_MS) return
    saidAt = now
    const { perSecond, p99, failedPerSecond } = intervalSample
    const failures = failedPerSecond === 0 ? '' : `, ${shown(failedPerSecond)}/s failed`
    say(`  ${step}: ${shown(perSecond)}/s, p99 ${shown(p99)} ms${failures}`)
  }
}

const shown = (value: number): string => Math.round(value).toLocaleString('en-US')

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(EXIT_INTERRUPTED)))
}
void main()
  .catch(async (error: unknown) => {
    await cleanUp()
    const usage = error instanceof UsageError
    const failure = error instanceof Error ? error.stack : String(error)
    process.stderr.write(`${usage ? error.message : failure}\n`)
    return usage ? EXIT_USAGE : EXIT_FAILED
  })
  .then((code) => process.exit(code))
