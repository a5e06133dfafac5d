/** The conformance kit: it passes the sandbox rail, finds planted faults, prints its report. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { bearer } from '../../src/grpc/bearer.js'
import { plus, systemClock } from '../../src/base/clock.js'
import type { EffectId } from '../../src/base/ids.js'
import { createMovementTally } from '../../src/base/movements.js'
import { projectRoot } from '../../src/base/project_root.js'
import type { Callers } from '../../src/auth/callers.js'
import { readBehaviors } from '../../src/rails/check/behaviors.js'
import { LINES } from '../../src/rails/check/run.js'
import type { Entry } from '../../src/rails/adapter/entry.js'
import { openJournal, type Journal } from '../../src/rails/sandbox/journal.js'
import { startSandboxRail } from '../../src/rails/sandbox/server.js'
import { withEveryRole } from '../support/callers.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { check, namesOf } from './check_harness.js'
import { aFaultyAdapter } from './faulty_adapter.js'
import { aRail, random, shortFolder, TOKEN } from './harness.js'
import { WIRE_FAULTS, type PlantedFault } from './wire_faults.js'

t.setTimeout(0)

const BURST = 'thousand_at_once'
const nameOf = ({ name }: { readonly name: string }): string => name

interface Fault {
  readonly journal?: (journal: Journal) => Partial<Journal>
  readonly callers?: (callers: Callers) => Callers
}

/** The sandbox rail on a folder, with a fault; it can be restarted. */
async function aSandbox(t: Test, { journal: plant, callers: plantCallers }: Fault = {}) {
  const folder = shortFolder(t)
  const start = async () => {
    const opened = await openJournal(join(folder, 'rail.db'), random)
    const journal = { ...opened, ...plant?.(opened) }
    const callers = withEveryRole(TOKEN)
    const rail = await startSandboxRail({
      address: `unix:${join(folder, 'rail.sock')}`,
      callers: plantCallers?.(callers) ?? callers,
      ...{ journal, clock: systemClock, random, log, delayMs: 20 },
      fail: (error) => {
        throw error
      },
    })
    return { address: rail.address, close: () => rail.close().then(() => opened.close()) }
  }
  let running = await start()
  t.teardown(() => running.close())
  const restart = async (): Promise<void> => {
    await running.close()
    running = await start()
  }
  return { address: running.address, restart }
}

/** Each planted fault, by the line that finds it. */
const FAULTS: Readonly<Record<string, Fault>> = {
  wrong_token: {
    callers: (callers) => ({
      ...callers,
      identify: (metadata, certificate) => {
        const isNone = metadata.get('authorization').length === 0
        return callers.identify(isNone ? metadata : bearer(TOKEN), certificate)
      },
    }),
  },
  returned_by_bank: {
    journal: ({ write }) => ({
      write: ({ entries, ...batch }) =>
        write({ ...batch, entries: entries.map((entry) => withoutReturn(entry)) }),
    }),
  },
  unacknowledged_again: {
    journal: ({ unacknowledged }) => ({
      unacknowledged: async (after, limit) => (await unacknowledged(after, limit)).slice(0, 40),
    }),
  },
  acknowledged_not_again: {
    journal: ({ write }) => ({ write: (batch) => write({ ...batch, acknowledged: [] }) }),
  },
  newest_instruction: {
    journal: ({ newest, write }) => {
      let highest = newest() ?? ''
      return {
        newest: (shard) => (shard === undefined ? (highest as EffectId) : newest(shard)),
        write: (batch) => {
          for (const { id } of batch.entries) if (id > highest) highest = id
          return write(batch)
        },
      }
    },
  },
  newest_of_shard: { journal: ({ newest }) => ({ newest: () => newest() }) },
  statement: {
    journal: ({ summarize }) => ({
      summarize: async (period, shard) => {
        const { sums, ...summary } = await summarize(period, shard)
        return { ...summary, sums: sums.map((sum) => ({ ...sum, amount: sum.amount * 2n })) }
      },
    }),
  },
  statement_period: {
    journal: ({ summarize }) => ({
      summarize: ({ from, to }, shard) => summarize({ from: plus(from, 1), to }, shard),
    }),
  },
  statement_accepted: {
    journal: ({ summarize }) => ({
      summarize: async (period, shard) => ({
        ...(await summarize(period, shard)),
        accepted: createMovementTally().figures(),
      }),
    }),
  },
  thousand_at_once: {
    journal: ({ write }) => ({
      write: ({ entries, ...batch }) => write({ ...batch, entries: entries.slice(0, 200) }),
    }),
  },
}

/** The bank's own return is forgotten; a recall is not. */
const withoutReturn = (entry: Entry): Entry =>
  entry.account === '9990000005' && entry.state === 'executed' ? { ...entry, due: null } : entry

async function demandPass(t: Test): Promise<void> {
  const results = await check(t, await aSandbox(t))
  t.same(namesOf(results, 'fail'), [])
  t.same(namesOf(results, 'skip'), [])
  t.same(namesOf(results, 'pass'), LINES.map(nameOf))
}

async function demandFound(t: Test, line: string, fault: Fault): Promise<void> {
  // The burst is for its own fault only: eleven at once would take minutes.
  const only = LINES.map(nameOf).filter((name) => name !== BURST || name === line)
  const results = await check(t, { ...(await aSandbox(t, fault)), patienceMs: 20_000, only })
  t.same(namesOf(results, 'fail'), [line], line)
}

/** Beside the line of the fault there is one that it does not touch. */
async function demandFoundOnWire(t: Test, { fault, line, plant }: PlantedFault): Promise<void> {
  const only = ['executed', 'query_known', line]
  const results = await check(t, { ...(await aFaultyAdapter(t, plant)), patienceMs: 4_000, only })
  t.same(namesOf(results, 'fail'), [line], fault)
}

/** The server that plants faults has none itself. */
async function demandPassOnWire(t: Test): Promise<void> {
  const only = WIRE_FAULTS.map(({ line }) => line)
  const results = await check(t, { ...(await aFaultyAdapter(t, () => () => ({}))), only })
  t.equal(namesOf(results, 'pass').length, results.length, 'without a fault it passes')
}

// At once: they mostly wait for late executions.
t.test('the sandbox rail passes every line; a fault is found by its line only', async (t) => {
  const faulty = Object.entries(FAULTS)
  await Promise.all([
    ...[demandPass(t), demandPassOnWire(t)],
    ...faulty.map(([line, fault]) => demandFound(t, line, fault)),
    ...WIRE_FAULTS.map((planted) => demandFoundOnWire(t, planted)),
  ])
})

t.test('without a restart and without behaviors lines are skipped, not passed', async (t) => {
  const { address } = await aRail(t, shortFolder(t), { delayMs: 20 })
  const only = LINES.map(nameOf).filter((name) => /^re(start|fused)/.test(name))
  const none = { refused: null, late: null, pending: null, returned: null, recall_refused: null }
  const behaviors = { ...readBehaviors(undefined), ...none }
  const results = await check(t, { address, only, behaviors })
  t.same(namesOf(results, 'skip'), only)
})

t.test('each sentence is one of the contract or of the guide', async (t) => {
  const textOf = (file: string): string =>
    readFileSync(join(projectRoot(), file), 'utf8').replaceAll(/\s*\n\s*(\/\/ )?/g, ' ')
  const texts = ['protos/rail.proto', 'src/rails/README.md'].map(textOf)
  for (const { name, sentence } of LINES) {
    t.ok(
      texts.some((text) => text.includes(sentence)),
      `${name}: ${sentence}`,
    )
  }
  t.equal(new Set(LINES.map(nameOf)).size, LINES.length)
})

const program = promisify(execFile)
const MAIN = join(projectRoot(), '.build/src/rails/check/main.js')

/** Runs the program. */
async function runProgram(cwd: string, ...args: readonly string[]) {
  const env = { ...process.env, RAIL_TOKEN: '' }
  try {
    const { stdout } = await program(process.execPath, [MAIN, ...args], { cwd, env })
    return { code: 0, text: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, text: stdout + stderr }
  }
}

t.test('the program prints a table or JSON, and its exit code', async (t) => {
  const folder = shortFolder(t)
  const { address } = await aRail(t, folder, { delayMs: 20 })
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 })
  const given = ['--rail', address, '--token-file', tokenFile]
  const some = ['--only', 'executed,restart_then_newest']

  const table = await runProgram(folder, ...given, ...some)
  t.equal(table.code, 0)
  t.match(table.text, /^rail sandbox at unix:.*\n\npass {2}executed .* int64, as the rail executed/)
  t.match(table.text, /skip {2}restart_then_newest .*\n *→ no --restart-command\n/)
  t.match(table.text, /\n1 passed, 0 failed, 1 skipped\n$/)
  t.equal((await runProgram(folder, ...given, ...some, '--complete')).code, 1)

  const json = await runProgram(folder, ...given, ...some, '--json')
  const report = JSON.parse(json.text) as Record<string, unknown>
  t.match(report, { address, rail: 'sandbox', finality_window_ms: 0, passed: 1, skipped: 1 })

  const faulty = join(folder, 'behavior.json')
  writeFileSync(faulty, '{"paid": {}, "refused": {}}')
  const failing = await runProgram(
    ...([folder, ...given, '--behavior', faulty] as const),
    ...['--only', 'refused', '--patience', '5'],
  )
  t.equal(failing.code, 1)
  t.match(failing.text, /FAIL {2}refused .*\n(.*\n)*? *→ not in time: a report `refused`/)

  writeFileSync(faulty, '{"paid": {"amuont": "1"}}')
  const mistakes = [
    await runProgram(folder, ...given, '--behavior', faulty),
    await runProgram(folder, ...given, '--only', 'exectued'),
    await runProgram(folder, '--rail', `unix:${folder}/none.sock`, '--patience', '0.5'),
  ]
  t.same(
    mistakes.map(({ code }) => code),
    [2, 2, 2],
  )
  t.match(mistakes[0]?.text, 'behavior.json: /paid must NOT have additional properties')
  t.match(mistakes[1]?.text, 'there is no line exectued: no_token')
  t.match(mistakes[2]?.text, 'no adapter answers at')
})
