/**
 * Recovery while the rail has accepted instructions that it has not executed: their payments are
 * held when partners repeat them, whether the rail executes them before the release or after it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { allEventsAreSettled } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, printed, refused } from '../support/operator_cli.js'
import { payOut, untilStatus } from '../support/payments.js'
import type { CliResult } from '../support/program.js'
import { changeJournal, instructionsAt, writeStatement } from '../support/rail_journal.js'
import { saveBooks } from '../support/saved_books.js'
import { startStack, type RunningStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const WITHIN_MS = 60_000
/** The longest that the setting allows. */
const SLOW_MS = '600000'
const BECAUSE = ['--reason', 'the older copy was restored', '--yes']
const DECIDED = ['--reason', 'see the evidence']
const EVIDENCE = ['--evidence', 'the answer of the bank']

t.setTimeout(0)
const dataDir = join(tempFolder(t), 'data')
const ops = operatorCli(dataDir)

const start = (settings: Record<string, string>): Promise<RunningStack> =>
  startStack({ t, dataDir, settings })

interface Instructed {
  readonly id: string
  readonly reference: string
  readonly state: string
}

const atRail = (): Promise<readonly Instructed[]> =>
  instructionsAt(dataDir, 'SELECT id, reference, state FROM instructions')

/** References of the executed instructions. */
const executed = async (): Promise<readonly string[]> =>
  (await atRail())
    .filter(({ state }) => state === 'executed')
    .map(({ reference }) => reference)
    .sort()

/** The rail refuses it, and does not report it: lost books have acknowledged the report. */
const refuseSilently = (reference: string): Promise<void> =>
  changeJournal(
    dataDir,
    `UPDATE instructions SET state = 'refused', refusal = 'rejected', due_at = NULL,
       due_step = NULL WHERE reference = '${reference}' AND state = 'pending'`,
  )

/** Makes the execution due, while the stack is stopped. */
const makeDue = (reference: string): Promise<void> =>
  changeJournal(
    dataDir,
    `UPDATE instructions SET due_at = 1 WHERE reference = '${reference}' AND state = 'pending'`,
  )

/** Nothing else is executed, however long the test takes. */
const postponeAll = (): Promise<void> =>
  changeJournal(
    dataDir,
    `UPDATE instructions SET due_at = due_at + 864000000 WHERE state = 'pending'`,
  )

const untilAtRail = (reference: string, state: string): Promise<unknown> =>
  eventually(
    `${reference} is ${state} at the rail`,
    async () => (await atRail()).some((row) => row.reference === reference && row.state === state),
    WITHIN_MS,
  )

const statementIn = (name: string): Promise<string> =>
  writeStatement(dataDir, join(dataDir, '..', name))

const release = (file: string): Promise<CliResult> =>
  ops('recovery release', '--statement', file, ...BECAUSE)

const untilSettled = (): Promise<unknown> =>
  eventually('all events are settled', () => allEventsAreSettled(dataDir), WITHIN_MS)

interface Orphan {
  readonly instruction_id: string
  readonly reference: string
  readonly state: string
  readonly held: readonly string[]
}

/** Open orphan executions by reference. */
async function openOrphans(): Promise<ReadonlyMap<string, Orphan>> {
  const { data } = await ops.json('recovery orphans')
  return new Map((data as readonly Orphan[]).map((orphan) => [orphan.reference, orphan]))
}

const LOST = ['early', 'late', 'refused', 'stuck']

t.test('instructions that the rail has accepted and not executed are held', async (t) => {
  let stack = await start({})
  const before = await payOut(stack.partner, 'before', { reference: 'before' })
  await untilStatus(stack.partner, `/v1/payouts/${before}`, 'completed')
  await untilSettled()
  await stack.stop()
  const older = saveBooks(dataDir)

  stack = await start({ RAIL_DELAY_MS: SLOW_MS })
  const { partner: lost } = stack
  for (const reference of LOST) {
    await payOut(lost, reference, { reference })
    await untilAtRail(reference, 'pending')
  }
  await stack.stop()
  await postponeAll()
  await older.restore(dataDir)

  const inRecovery = { RECOVERY: 'yes', RAIL_DELAY_MS: '20' }
  stack = await start(inRecovery)
  const first = await statementIn('first.csv')
  await t.test('a statement without an accepted instruction is refused', async (t) => {
    const lines = readFileSync(first, 'utf8').split('\r\n')
    t.equal(lines.filter((line) => line.includes(',accepted,')).length, LOST.length)
    const without = join(dataDir, '..', 'without.csv')
    writeFileSync(without, lines.filter((line) => !line.includes(',late')).join('\r\n'))
    t.match(
      await release(without),
      refused(/NOT RIGHT: it has 3 accepted instructions, and the rail has 4\./),
    )
  })
  await stack.stop()
  await makeDue('early')
  stack = await start(inRecovery)
  await untilAtRail('early', 'executed')
  await t.test('an execution after the statement needs a new statement', async (t) => {
    t.match(await release(first), refused(/NOT RIGHT: it ends before the newest/))
    const released = await release(await statementIn('second.csv'))
    t.match(released, printed(/4 orphan executions are recorded/))
    t.match(released.out, /VND +accepted +3 /)
    await stack.untilMode('normal')
  })

  const held = new Map<string, string>()
  await t.test('what partners repeat is held', async (t) => {
    const { partner } = stack
    for (const reference of LOST) {
      const id = await payOut(partner, reference, { reference })
      t.match(await partner.request('GET', `/v1/payouts/${id}`), { body: { status: 'created' } })
      held.set(reference, id)
    }
    const other = await payOut(partner, 'other', { reference: 'other' })
    await untilStatus(partner, `/v1/payouts/${other}`, 'completed')
    const orphans = await openOrphans()
    for (const reference of LOST) {
      t.same(orphans.get(reference)?.held, [held.get(reference)], reference)
    }
    t.match(orphans.get('early'), { state: 'executed' })
    t.match(orphans.get('late'), { state: 'accepted' })
    const id = orphans.get('late')?.instruction_id ?? ''
    const early = ['recovery', 'resolve', id, '--match', held.get('late') ?? '']
    t.match(await ops(...early, ...EVIDENCE, ...DECIDED), refused(/^orphan_execution_not_executed/))
  })

  await stack.stop()
  await makeDue('late')
  await refuseSilently('refused')
  stack = await start({ RAIL_DELAY_MS: '20' })
  await untilAtRail('late', 'executed')
  await untilAtRail('refused', 'refused')
  await t.test('the rail reports what became of them, or answers an inquiry', async (t) => {
    await eventually(
      'the orphan executions are updated',
      async () => {
        const orphans = await openOrphans()
        const states = LOST.map((reference) => orphans.get(reference)?.state)
        return states.join() === 'executed,executed,refused,accepted'
      },
      WITHIN_MS,
    )
    const { data } = await ops.json('discrepancy list')
    t.same(data, [], 'which contradicts nothing')
  })

  await t.test('operators decide, and each is paid once', async (t) => {
    const orphans = await openOrphans()
    for (const reference of ['early', 'late']) {
      const id = orphans.get(reference)?.instruction_id ?? ''
      const match = ['recovery', 'resolve', id, '--match', held.get(reference) ?? '']
      t.match(await ops(...match, ...EVIDENCE, ...DECIDED), { exitCode: 0 })
    }
    const approved = held.get('refused') ?? ''
    t.match(await ops('payout approve', approved, ...DECIDED), { exitCode: 0 })
    await untilStatus(stack.partner, `/v1/payouts/${approved}`, 'completed')
    t.same(await executed(), ['before', 'early', 'late', 'other', 'refused'])
    await untilSettled()
    await assertCleanAudit(t, dataDir)
  })
})
