/**
 * The load tool's command line.
 *
 * Owns: flags, exit codes, what is left behind. Does not own: what is measured (bench).
 *
 * node .build/test/load/main.js bench [--seconds 10] [--in-flight 512] [--repeat 3] [--rate R]
 * [--without-key]
 *
 * Exit codes: 0 measured, 1 failed, 2 wrong flags, 3 void (measured, but the figures mean nothing),
 * 130 interrupted.
 *
 * M1. However it ends, the programs it started end too and the data they wrote is removed; the
 *     result stays.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/protos.js'
import { systemRandom } from '../../src/base/random.js'
import { bench, type BenchSettings } from './bench.js'
import { startClient, type Client } from './client.js'
import type { Progress } from './load.js'
import { createPrograms } from './programs.js'
import { report } from './report.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_VOID = 3
const EXIT_INTERRUPTED = 130

/** The supply is signed before the window, and a signature is good for five minutes. */
const SECONDS_MAX = 120
const IN_FLIGHT_MAX = 4_000
const REPEAT_MAX = 100
const RATE_MAX = 100_000

class UsageError extends Error {
  override name = 'UsageError'
}

const results = join(projectRoot(), '.build', 'bench')
const folder = join(results, `run-${process.pid}`)
const programs = createPrograms(folder)
let client: Client | undefined
let cleaning: Promise<void> | undefined

/** The client goes first: it would take the end of the others for a failure. */
async function clean(): Promise<void> {
  await client?.stop()
  await programs.stop()
  rmSync(folder, { recursive: true, force: true })
}

const cleanUp = (): Promise<void> => (cleaning ??= clean())

async function main(): Promise<number> {
  const settings = readFlags()
  mkdirSync(folder, { recursive: true })
  client = startClient()
  let step = ''
  let before = 0
  const result = await bench({
    settings,
    folder,
    programs,
    client,
    clock: systemClock,
    random: systemRandom(),
    progress: (now, progress) => {
      if (step !== now) before = 0
      step = now
      say(progressLine(now, progress, before))
      before = progress?.completed ?? 0
    },
  })
  await cleanUp()
  const file = join(results, `${result.startedAt.replaceAll(':', '')}.json`)
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  say(`\n${report(result)}\n\n  ${file}`)
  return result.voidBecause.length === 0 ? 0 : EXIT_VOID
}

function progressLine(step: string, progress: Progress | undefined, before: number): string {
  if (progress === undefined) return `${step} …`
  const { completed, failed } = progress
  const failures = failed === 0 ? '' : `, ${failed} failed`
  return `  ${step}: ${(completed - before).toLocaleString('en-US')}/s${failures}`
}

function readFlags(): BenchSettings {
  const { values, positionals } = parsed()
  if (positionals.join() !== 'bench') throw new UsageError('the one thing it measures is: bench')
  return {
    seconds: whole('seconds', values.seconds, SECONDS_MAX),
    inFlight: whole('in-flight', values['in-flight'], IN_FLIGHT_MAX),
    repeat: whole('repeat', values.repeat, REPEAT_MAX),
    ratePerSecond: values.rate === undefined ? undefined : whole('rate', values.rate, RATE_MAX),
    withIdempotencyKey: !values['without-key'],
  }
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: 'string', default: '10' },
        'in-flight': { type: 'string', default: '512' },
        repeat: { type: 'string', default: '3' },
        rate: { type: 'string' },
        'without-key': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function whole(flag: string, text: string, max: number): number {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= max) return value
  throw new UsageError(`--${flag} is a whole number from 1 to ${max}, not ${text}`)
}

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
    process.stderr.write(`${usage || !(error instanceof Error) ? String(error) : error.stack}\n`)
    return usage ? EXIT_USAGE : EXIT_FAILED
  })
  .then((code) => process.exit(code))
