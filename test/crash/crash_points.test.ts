/**
 * Processes end by SIGKILL at every crash point of the code while clients pay, operators approve
 * and backups are made: nothing is lost or doubled.
 *
 * - The list of points is made from the code: a new one fails the first test until it has a
 *   scenario.
 * - `CRASHES=10` ends a process at each point 10 times, each time after more passes. Without it
 *   each point has one crash, and approvals are interrupted at their own point only.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { projectRoot } from '../../src/base/project_root.js'
import { rawBooks, sqliteOnly } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, type OperatorCli } from '../support/operator_cli.js'
import { startProgram } from '../support/program.js'
import type { StackProcess } from '../support/supervised_stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { startStackUnderLoad } from '../workload/stack_under_load.js'
import {
  APPROVAL_POINTS,
  BACKUP_POINTS,
  CLUSTER_POINTS,
  LOAD_POINTS,
  pointsInCode,
  prepareCrashPoints,
  sourcesIn,
} from './crash_points.js'

const TIMES = Number(process.env['CRASHES'] ?? 1)
const PAYERS = 2
/** Points are reached within a second; most of the time a process starts again. */
const PAUSES_MS = { payer: 300, race: 3_000 }
const REACHED_WITHIN_MS = 60_000
/** Minor units; no other deposit has this amount. */
const DEPOSIT = 100_001
const BEN_TOKEN = 'token-of-ben-of-these-tests-only-1'
const BECAUSE = ['--reason', 'ticket 9']
const REQUEST = /approvals approve (apr_\w+) --reason TEXT/

t.setTimeout(0)

const points = prepareCrashPoints(tempFolder(t))
process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${points.nodeOptions}`
const settings = {
  RAIL_DELAY_MS: '50',
  // No instruction expires while a busy machine starts a process again.
  RAIL_SUBMIT_TTL_S: '3600',
  SECOND_OPERATOR_FROM: 'USD:100000',
  CALLERS: callerEntry('operator', 'ben', BEN_TOKEN),
}
const load = await startStackUnderLoad({
  ...{ payers: PAYERS, pausesMs: PAUSES_MS },
  ...{ seed: 1, settings },
})
t.teardown(() => load.stop())
const { stack, payers } = load
const benFile = join(stack.dataDir, 'ben.token')
writeFileSync(benFile, BEN_TOKEN, { mode: 0o600 })
const requester = stack.ops
const approver = operatorCli(stack.dataDir, benFile)

t.test('every point of the code has a scenario, and no program sets a handler', async (t) => {
  const listed = [
    ...[...Object.keys(LOAD_POINTS), ...APPROVAL_POINTS, ...BACKUP_POINTS, ...CLUSTER_POINTS],
  ]
  t.same(pointsInCode(), listed.sort())
  const setting = ['src', 'actors', 'gateway']
    .flatMap((folder) => sourcesIn(join(projectRoot(), folder)))
    .filter((file) => readFileSync(file, 'utf8').includes('onCrashPoint'))
  t.same(setting, [join(projectRoot(), 'src/base/crash_point.ts')])
})

async function crashAt(point: string, victim: StackProcess, after: number): Promise<void> {
  const formerPid = stack.pidOf(victim)
  points.arm(point, after)
  await eventually(`${victim} ends at ${point}`, () => points.isReached(point), REACHED_WITHIN_MS)
  await stack.untilRestarted(victim, formerPid)
}

for (const [point, victim] of Object.entries(LOAD_POINTS)) {
  t.test(point, async () => {
    for (let time = 0; time < TIMES; time++) await crashAt(point, victim, time * 7)
  })
}

let approved = 0

/** Repeats the command until its output matches. */
async function untilAnswer(ops: OperatorCli, words: string[], wanted: RegExp): Promise<string> {
  return eventually(words.join(' '), async () => {
    const { out, err } = await ops(...words, ...BECAUSE)
    return wanted.exec(out + err)?.[1]
  })
}

async function approveDeposit(): Promise<void> {
  approved += 1
  const key = ['--idempotency-key', `deposit ${approved}`]
  const amount = (DEPOSIT / 100).toFixed(2)
  const id = await untilAnswer(
    requester,
    ['deposit', 'demo', 'sandbox', 'USD', amount, ...key],
    REQUEST,
  )
  const done = /(approved, deposit|approval_request_decided)/
  await untilAnswer(approver, ['approvals', 'approve', id], done)
}

for (const point of APPROVAL_POINTS) {
  t.test(point, async () => {
    for (let time = 0; time < TIMES; time++) {
      const approving = approveDeposit()
      await crashAt(point, 'processor', 0)
      await approving
    }
  })
}

t.test('approvals while the processor ends at its commits', async (t) => {
  for (const point of TIMES > 1 ? ['commit.decided', 'commit.stored'] : []) {
    const approving = approveDeposit()
    await crashAt(point, 'processor', 3)
    await approving
  }
  const books = await rawBooks(stack.dataDir)
  const deposits = await books.all(
    `SELECT entity FROM ledger_entries WHERE amount = ${DEPOSIT} AND tenant = 'demo_sandbox'`,
  )
  await books.close()
  t.equal(deposits.length, approved, 'each approved deposit is booked once')
})

t.test('backups', { skip: sqliteOnly('a copy of its files') }, async (t) => {
  const folder = join(stack.dataDir, 'backups')
  const backup = () =>
    startProgram('operations/main.js', ['backup', folder], { DATA_DIR: stack.dataDir }).ended
  for (const point of BACKUP_POINTS) {
    points.arm(point)
    t.equal((await backup()).exitCode, null, `killed at ${point}`)
    t.ok(points.isReached(point))
  }
  const { exitCode, out, err } = await backup()
  t.equal(exitCode, 0, `the next one is whole and its audit clean: ${out}${err}`)
})

t.test('no payment is lost or doubled, and the audit is clean', async (t) => {
  const { lost, doubled, contradictions, clean, audit, executions } = await load.check()
  t.same(lost, [])
  t.same(contradictions, [])
  t.same(doubled, [])
  t.ok(clean, audit)
  t.ok(executions > 0)
  t.comment(`${payers.payments.length} payments, ${payers.unanswered.length} given up`)
})
