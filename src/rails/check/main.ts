/**
 * `make rail-check`: checks an adapter of a rail, in any language, against the contract.
 *
 * Exit codes: 0 no line failed (with `--complete`: all passed), 1 a line failed, 2 usage error or
 * no adapter at the address.
 */
import { spawn } from 'node:child_process'
import { SECOND, systemClock } from '../../base/clock.js'
import { NO_LOG, openGrpcTls } from '../../grpc/tls.js'
import { programOptions } from '../../process/program_options.js'
import { systemRandom } from '../../base/random.js'
import { readSecretFile } from '../../files/secret_file.js'
import { readSettings } from '../../settings/settings_reader.js'
import { BehaviorFileError, readBehaviors, type Behaviors } from './behaviors.js'
import { createRun } from './context.js'
import { createProbe } from './probe.js'
import { countsOf, headLine, jsonReport, tableLine, totalLine } from './report.js'
import { LINES, runLines } from './run.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2

const args = programOptions('rail-check', 'Checks an adapter of a rail against the contract.', {
  rail: { value: 'ADDRESS', about: 'host:port or unix:/path of the adapter', required: true },
  tokenFile: { value: 'FILE', about: 'file with the token; RAIL_TOKEN unless given' },
  behavior: { value: 'FILE', about: 'instructions by behavior (JSON); those of the sandbox rail' },
  restartCommand: { value: 'COMMAND', about: 'restarts the adapter, and ends when it was started' },
  patience: { value: 'SECONDS', kind: 'number', fallback: 30, about: 'longest wait for a report' },
  only: { value: 'LINES', about: 'names of the lines to check, with commas' },
  complete: { about: 'a skipped line counts as a failed one in the exit code' },
  json: { about: 'print one JSON object' },
})

const settings = readSettings()
const token = tokenOf()
const behaviors = behaviorsIn(args.behavior)
const only = args.only?.split(',')
const unknown = only?.find((name) => !LINES.some((line) => line.name === name))
if (unknown !== undefined) fail(`there is no line ${unknown}: ${LINES.map(nameOf).join(', ')}`)

const patienceMs = args.patience * SECOND
const tls = openGrpcTls(settings, NO_LOG)
const { rail: address } = args
const probe = createProbe({
  ...{ address, token, tls, clock: systemClock },
  answeredWithinMs: patienceMs,
})
const described = await probe.describe()
if (described.kind === 'fault') fail(`no adapter answers at ${address}: ${described.text}`)

const { name: rail, finality_window_ms: finalityWindowMs } = described.message
const checked = { address, rail, finalityWindowMs }
const { restartCommand } = args
const run = createRun({
  deadline: () => {
    const end = systemClock.now() + patienceMs
    return { isOver: () => systemClock.now() > end }
  },
  ...{ probe, clock: systemClock, random: systemRandom(), patienceMs, finalityWindowMs },
  ...{ hasToken: token !== '', behaviors },
  ...(restartCommand === undefined ? {} : { restart: () => executed(restartCommand) }),
})
if (!args.json) print(headLine(checked))
const nameWidth = Math.max(...LINES.map(({ name }) => name.length))
const results = await runLines(run, only, (line) => {
  if (!args.json) print(tableLine(line, nameWidth))
})
print(args.json ? jsonReport(checked, results) : totalLine(results))
probe.close()
const { failed, skipped } = countsOf(results)
process.exitCode = failed > 0 || (args.complete && skipped > 0) ? EXIT_FAILED : 0

function tokenOf(): string {
  if (args.tokenFile === undefined) return settings.RAIL_TOKEN
  try {
    return readSecretFile(args.tokenFile, { isNamed: true }).trim()
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function behaviorsIn(file: string | undefined): Behaviors {
  try {
    return readBehaviors(file)
  } catch (error) {
    if (error instanceof BehaviorFileError) return fail(error.message)
    throw error
  }
}

/** Its output goes to standard error. A failed restart shows in the lines that wait for it. */
function executed(command: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2] })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fail(fault: string): never {
  process.stderr.write(`${fault}\n`)
  process.exit(EXIT_USAGE)
}
