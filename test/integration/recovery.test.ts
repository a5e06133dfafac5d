/**
 * Recovery from an older copy of the books: the processor only reads until the rail's statement is
 * reconciled and the loss accepted. Then partners retry every lost payment, and none is paid twice.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectRecovery } from '../../src/operations/calls/operator_client.js'
import { assertCleanAudit } from '../support/audit.js'
import { allEventsAreSettled } from '../support/books.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, refused, usageError } from '../support/operator_cli.js'
import type { CliResult } from '../support/program.js'
import { executedAt, writeStatement } from '../support/rail_journal.js'
import { saveRunningBooks } from '../support/saved_books.js'
import { tempFolder } from '../support/temp_folder.js'
import { withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { idIn, payByQr, requestPayout, untilStatus } from '../support/payments.js'
import { runUntilExit, startStack, type RunningStack } from '../support/stack.js'

const LOST_PAYOUTS = 40
const LOST_INTENTS = 4
const UNAVAILABLE = 'configuration_error'
const WITHIN_MS = 60_000

t.setTimeout(0)
const folder = tempFolder(t)
const dataDir = join(folder, 'data')
const statement = join(folder, 'statement.csv')
const ops = operatorCli(dataDir)
const ANN = { reason: 'the older copy was restored' }
const BECAUSE = ['--reason', ANN.reason]
const EVIDENCE = 'line of the statement'

const start = (settings: Record<string, string> = {}): Promise<RunningStack> =>
  startStack({ t, dataDir, settings: { RAIL_DELAY_MS: '20', ...settings } })

const keys = Array.from({ length: LOST_PAYOUTS }, (_, i) => `lost ${i}`)
const users = Array.from({ length: LOST_INTENTS }, (_, i) => `lost ${i}`)

/** The same request with the same key each time. */
const payOut = (partner: Partner, key: string): Promise<HttpAnswer> =>
  requestPayout(partner, key, { reference: `invoice ${key}` })

async function paidOut(partner: Partner, key: string): Promise<string> {
  const id = idIn(await payOut(partner, key))
  await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  return id
}

async function paidByQr(partner: Partner, key: string): Promise<string> {
  const { id } = await payByQr(partner, key, { corridor: 'vn_vietqr' })
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  return id
}

const executed = (): Promise<readonly string[]> => executedAt(dataDir)

/** Resolves when the webhook pool has reported every event, so none is published again. */
const untilSettled = (): Promise<unknown> =>
  eventually('all events are settled', () => allEventsAreSettled(dataDir), WITHIN_MS)

const WITHOUT = ['recovery', 'release', '--no-statement']
const RELEASE = ['recovery', 'release', '--statement']
const release = (file: string, ...more: string[]): Promise<CliResult> =>
  ops(...RELEASE, file, ...more, ...BECAUSE)

interface Orphan {
  readonly instruction_id: string
  readonly reference?: string
  readonly purpose: string
  readonly held: readonly string[]
}

const openOrphans = async (): Promise<readonly Orphan[]> => {
  const { data } = await ops.json('recovery orphans')
  return data as readonly Orphan[]
}

async function loseBooks(): Promise<{ before: string; lost: readonly string[] }> {
  const stack = await start()
  const { partner } = stack
  const before = await paidOut(partner, 'before')
  await untilSettled()
  const older = await saveRunningBooks(dataDir)
  const payouts = await Promise.all(keys.map((key) => paidOut(partner, key)))
  const intents = await Promise.all(users.map((user) => paidByQr(partner, user)))
  await untilSettled()
  await stack.stop()
  await older.restore(dataDir)
  return { before, lost: [...payouts, ...intents].sort() }
}

t.test('recovery from an older copy of the books', async (t) => {
  const { before, lost } = await loseBooks()
  const paid = await executed()
  t.equal(paid.length, 1 + LOST_PAYOUTS + LOST_INTENTS)

  const behind = await runUntilExit(dataDir, {})
  t.match(behind, { exitCode: 78, output: 'The books went back in time' })

  const stack = await start({ RECOVERY: 'yes' })
  const { partner } = stack

  await t.test('recovery mode serves reads only', async (t) => {
    t.match(await stack.readyz(), { status: 200, body: { mode: 'recovery' } })
    t.match(await partner.request('GET', `/v1/payouts/${before}`), {
      status: 200,
      body: { status: 'completed' },
    })
    t.match(await partner.request('GET', '/v1/payouts'), { status: 200, body: { data: [{}] } })
    const [unknown = ''] = lost.filter((id) => id.startsWith('pout_'))
    t.match(await partner.request('GET', `/v1/payouts/${unknown}`), { status: 404 })
    const answers = await Promise.all(keys.map((key) => payOut(partner, key)))
    t.ok(answers.every(({ status, text }) => status === 503 && text.includes(UNAVAILABLE)))
    const note = await ops('partner suspend demo', ...BECAUSE)
    t.match(note, refused(/^recovery_active: The processor is in recovery mode/))
    const rates = await ops('rates set VND 26500', ...BECAUSE)
    t.equal(rates.exitCode, 0, 'but rates, which retries need')
    t.same(await executed(), paid, 'the rail gets no instruction')
    t.match(await ops.json('recovery show'), { active: true, cause: 'RECOVERY=yes' })
    t.match(await stack.metrics(), /causeway_recovery_mode(?:\{[^}]*\})? 1\n/)
  })

  await t.test('recovery mode survives a crash without the setting', async (t) => {
    const pid = stack.pidOf('processor')
    stack.kill('processor')
    await eventually('the processor is replaced', () => stack.pidOf('processor') !== pid, WITHIN_MS)
    await stack.untilServing()
    t.match(await stack.readyz(), { status: 200, body: { mode: 'recovery' } })
  })

  await t.test('a statement that cannot be right is refused', async (t) => {
    await writeStatement(dataDir, statement)
    const [head = '', ...lines] = readFileSync(statement, 'utf8').trimEnd().split('\r\n')
    const idOf = (line: string): string => line.split(',')[2] ?? ''
    const shown = await ops('recovery show')
    t.match(shown.out, /The statement of the release begins by 20\S+Z\.\nNewest movement at the/)
    const wrong: Record<string, readonly string[]> = {
      'only a header': [],
      'lines of others': lines.map((line) => line.replace(/(pi|pout)_\w+/, 'pout_of_another')),
      'cut off at the end': lines.slice(0, -1),
      'cut off at its start': lines.slice(1),
      'an older period': lines.filter((line) => idOf(line) === before),
      'a line twice': [...lines, lines[3] ?? ''],
    }
    for (const [name, kept] of Object.entries(wrong)) {
      const file = join(folder, 'wrong.csv')
      writeFileSync(file, [head, ...kept, ''].join('\r\n'))
      const fault = /NOT RIGHT: it[^]*Nothing was changed/
      t.match(await release(file, '--yes'), refused(fault), name)
    }
    t.same(await openOrphans(), [], 'nothing of a refused statement is recorded')
    t.match(await ops.json('recovery show'), { active: true })
  })

  await t.test('the release requires a reconciled statement', async (t) => {
    const period = ['--from', '2020-01-01', '--until', '2100-01-01']
    t.match(
      await ops('reconcile', statement, ...period, ...BECAUSE),
      refused(new RegExp(`missing_here +${LOST_PAYOUTS + LOST_INTENTS} `)),
    )

    t.equal((await ops('recovery release', ...BECAUSE)).exitCode, 2, 'not without a statement')
    const unconfirmed = await release(statement)
    t.match(unconfirmed, usageError(/Nothing was changed: confirm with --yes\.\n$/))
    t.match(unconfirmed.out, /statement\.csv sha256 \w{64}: 45 lines, 20\S+Z to 20\S+Z\n/)
    t.match(unconfirmed.out, /VND +executed +45 +VND [\d,]+ +45 +VND [\d,]+\n/)
    t.match(unconfirmed.out, /44 executions are not in the ledger and become orphan executions/)
    const released = await ops.json(...RELEASE, statement, '--yes', ...BECAUSE)
    t.match(released, { recovery: 1, orphans_added: lost.length })
    t.match((released['loss'] as string[]).join(), 'high_water')
    await stack.untilMode('normal')
    t.equal((await ops(...WITHOUT, '--yes', ...BECAUSE)).exitCode, 1, 'once')
  })

  await t.test('every retry of a lost payment is held for review', async (t) => {
    await eventually(
      'the gateway is connected',
      async () => (await partner.request('GET', '/v1/balances')).status === 200,
      WITHIN_MS,
    )
    const payouts = await Promise.all(keys.map((key) => payOut(partner, key)))
    const isHeld = ({ status, text }: HttpAnswer): boolean =>
      status === 202 && text.includes('"status":"created"')
    t.ok(payouts.every(isHeld), 'all are held')
    const again = await payOut(partner, keys[0] ?? '')
    t.match(again, { status: 200, body: { id: idIn(payouts[0]!) } }, 'the new key replays')
    const intents = await Promise.all(
      users.map((user) => payByQr(partner, user, { corridor: 'vn_vietqr' })),
    )
    for (const { id } of intents) {
      const { body } = await partner.request('GET', `/v1/payment_intents/${id}`)
      t.match(body, { status: 'authorized' })
    }
    const other = await paidOut(partner, 'another one')
    t.same(await executed(), [...paid, other].sort(), 'only the new payment is paid')

    const orphans = await openOrphans()
    t.same(orphans.map(({ instruction_id: id }) => id).sort(), lost)
    const held = new Set(orphans.flatMap((orphan) => orphan.held))
    t.equal(held.size, LOST_PAYOUTS + LOST_INTENTS)
  })

  await t.test('operators resolve the orphans', async (t) => {
    const decide = async (...words: string[]): Promise<void> => {
      const { exitCode, err } = await ops(...words, ...BECAUSE)
      t.equal(exitCode, 0, `${words.join(' ')} ${err}`)
    }
    const recovery = connectRecovery(operatorAccessOf(stack), systemClock)
    t.teardown(() => recovery.close())
    const resolve = (instruction_id: string, how: object): Promise<unknown> =>
      recovery.call('ResolveOrphan', { actor: ANN, instruction_id, evidence: EVIDENCE, ...how })
    const before = await executed()
    const orphans = await openOrphans()
    const heldIntents = orphans.flatMap(({ held }) => held).filter((id) => id.startsWith('pi_'))
    const [approved = '', rejected = ''] = heldIntents
    const equal = orphans.flatMap(({ instruction_id: id, purpose }) =>
      purpose === 'qr_payment' ? ['--other-than', id] : [],
    )
    const alone = await ops('intent approve', approved, ...BECAUSE)
    t.match(alone, refused(/^orphan_execution_equal: .* Equal: pi_/))
    await decide('intent', 'approve', approved, ...equal)
    await decide('intent', 'reject', rejected)
    const [first, second, ...others] = orphans.filter(({ purpose }) => purpose === 'payout')
    const other = ['--other-than', first?.instruction_id ?? '']
    await decide('payout', 'approve', first?.held[0] ?? '', ...other)
    await decide('payout', 'reject', second?.held[0] ?? '')
    await untilStatus(partner, `/v1/payment_intents/${approved}`, 'captured')
    await untilStatus(partner, `/v1/payouts/${first?.held[0]}`, 'completed')
    const again = [approved, first?.held[0] ?? '']
    t.same(await executed(), [...before, ...again].sort(), 'approved payments are paid')

    const free = heldIntents.slice(2)
    for (const { instruction_id: id, purpose, held } of orphans) {
      const payment =
        purpose === 'payout' ? others.some((o) => o.instruction_id === id) && held[0] : free.shift()
      if (payment) await resolve(id, { resolution: 'matched', payment_id: payment })
      else await decide('recovery', 'resolve', id, '--dismiss', '--evidence', EVIDENCE)
    }
    t.same(await openOrphans(), [])
    const { body } = await partner.request('GET', `/v1/payouts/${others[0]?.held[0]}`)
    t.match(body, { status: 'completed' })
    t.same(await executed(), [...before, ...again].sort(), 'matching pays nothing')
    const [matched] = heldIntents.slice(2)
    const path = `/v1/payment_intents/${matched}`
    const refund = await partner.request('POST', `${path}/refund`, undefined, withKey('refund'))
    t.equal(refund.status, 202)
    await untilStatus(partner, path, 'refunded')
    await untilSettled()
    await assertCleanAudit(t, dataDir)
  })
})
