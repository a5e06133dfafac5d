/**
 * The rail's statement against the books through the real thing: payouts and payments are made, the
 * bank writes its statement, and what is changed in it is found.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import type { ProtoGrpcType } from '../../protos/types/reconciliation.js'
import type { MovementPage__Output as MovementPage } from '../../protos/types/causeway/v1/MovementPage.js'
import { bearer } from '../../src/base/internal_token.js'
import { contracts, projectRoot } from '../../src/base/protos.js'
import { openDatabase } from '../../src/store/database.js'
import { auditOf } from '../support/audit.js'
import { operatorCli } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { aPayout } from '../support/requests.js'
import { startStack } from '../support/stack.js'

// Many processes on a machine that may be busy.
t.setTimeout(0)
const stack = await startStack({ settings: { RAIL_DELAY_MS: '20' } })
t.teardown(() => stack.stop())
const folder = tempFolder(t)
const partner = partnerOf(stack.sandbox)

interface Ended {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
}

async function run(program: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [join(projectRoot(), '.build/src', program), ...args], {
    env: { ...process.env, DATA_DIR: stack.dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, ...said }
}

const ops = operatorCli(stack.dataDir)
const PERIOD = ['--from', '2020-01-01', '--to', '2100-01-01']
const AS = ['--as', 'ann', '--reason', 'end of day']
const reconcile = (file: string, ...more: string[]): Promise<Ended> =>
  ops('reconcile', file, ...PERIOD, ...AS, ...more)

const payoutTo = (key: string, account_number: string): Promise<string> =>
  payOut(partner, key, { beneficiary: { ...aPayout().beneficiary!, account_number } })

/** A completed, a reversed, a failed and an open payout, and two payments by QR code. */
async function makeMovements(): Promise<{ completed: string; reversed: string; captured: string }> {
  const completed = await payoutTo('completed', '0123456789')
  const reversed = await payoutTo('reversed', '9990000005')
  const failed = await payoutTo('failed', '9990000001')
  await payoutTo('open', '9990000008')
  const { id: captured } = await payByQr(partner, 'thai')
  const { id: viet } = await payByQr(partner, 'viet', { corridor: 'vn_vietqr' })
  await untilStatus(partner, `/v1/payouts/${completed}`, 'completed')
  await untilStatus(partner, `/v1/payouts/${reversed}`, 'reversed')
  await untilStatus(partner, `/v1/payouts/${failed}`, 'failed')
  for (const id of [captured, viet]) {
    await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  }
  return { completed, reversed, captured }
}

const { completed, reversed, captured } = await makeMovements()
const file = join(folder, 'statement.csv')
const exported = await run('rails/sandbox/statement_main.js', [
  '--from',
  '2020-01-01',
  '--out',
  file,
])
t.equal(exported.exitCode, 0, exported.err)
const lines = readFileSync(file, 'utf8').split('\r\n').slice(0, -1)
const findings = ({ out }: Ended): string[][] => parse(out).slice(1)

t.test('the statement of the bank is clean', async (t) => {
  t.equal(lines.length, 1 + 5, 'two of the reversed one, nothing of the failed and the open one')
  const told = await reconcile(file)
  t.equal(told.exitCode, 0, told.err)
  t.same(findings(told), [])
  t.match(told.err, '5 lines read, 0 outside the period; 0 unreadable')
  t.match(told.err, /VND +matched +4 +VND 225,000 +4 +VND 225,000/)
  t.match(told.err, /THB +matched +1 +THB 360.00/)
  t.match(told.err, 'Everything matches.')

  const out = join(folder, 'findings.csv')
  const asJson = await reconcile(file, '--json', '--out', out)
  t.equal(asJson.exitCode, 0, asJson.err)
  t.match(JSON.parse(asJson.out), { clean: true, counts: { matched: 5, different: 0 } })
  t.match(readFileSync(out, 'utf8'), /^status,instruction_id,[a-z_,]+\r\n$/)
})

/** The file with one line of these changed. */
async function tampered(
  t: Test,
  name: string,
  change: (lines: string[]) => string[],
): Promise<string[][]> {
  const other = join(folder, `${name}.csv`)
  writeFileSync(other, change([...lines]).join('\r\n') + '\r\n')
  const told = await reconcile(other)
  t.equal(told.exitCode, 1, name)
  t.match(told.err, 'NOT EVERYTHING MATCHES.')
  return findings(told)
}

const lineOf = (id: string, movement = 'executed'): number =>
  lines.findIndex((line) => line.includes(id) && line.includes(movement))

/** Cell by cell, where it stands. */
const change =
  (at: number, from: string | RegExp, to: string) =>
  (all: string[]): string[] =>
    all.map((line, place) => (place === at ? line.replace(from, to) : line))

t.test('a line that was taken out is missing there', async (t) => {
  const gone = (all: string[]): string[] => all.filter((_, place) => place !== lineOf(completed))
  t.match(await tampered(t, 'less', gone), [['missing_there', completed]])
})

t.test('a line that was put in is missing here', async (t) => {
  const nobodys = completed.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const copied = lines[lineOf(completed)]!.replace(completed, nobodys)
  const found = await tampered(t, 'more', (all) => [...all, copied])
  t.match(found, [['missing_here', nobodys]])
  const twice = await tampered(t, 'twice', (all) => [...all, lines[lineOf(captured)]!])
  t.match(twice, [['missing_here', captured]])
})

t.test('another amount, currency or direction is named', async (t) => {
  const place = lineOf(completed)
  for (const [differs, from, to] of [
    ['amount', ',125000', ',125001'],
    ['currency', ',VND,', ',THB,'],
    ['movement', ',executed,', ',returned,'],
  ] as const) {
    const [finding, ...more] = await tampered(t, differs, change(place, from, to))
    t.same(more, [])
    t.equal(finding?.[0], 'different')
    t.equal(finding?.[1], completed)
    t.equal(finding?.at(-1), `other ${differs}`)
    t.equal(finding?.[7], String(place + 1), 'the line of the file')
  }
  const turned = change(lineOf(reversed, 'returned'), ',returned,', ',executed,')
  t.match(await tampered(t, 'turned', turned), [['different', reversed]])
})

t.test('a line that cannot be read is named, and no cell is a formula', async (t) => {
  const spoilt = change(lineOf(completed), /^/, '=1+')
  const found = await tampered(t, 'spoilt', spoilt)
  const bad = found.find(([kind]) => kind === 'bad_line')
  t.equal(bad?.[7], String(lineOf(completed) + 1))
  t.match(found, [['bad_line'], ['missing_there', completed]])
  const hostile = '2026-01-01T00:00:00Z,=cmd(),@pout_1,executed,VND,1'
  const [line] = await tampered(t, 'hostile', (all) => [...all, hostile])
  t.equal(line?.[1], "'@pout_1")
  t.equal(line?.[6], "'=cmd()")
})

t.test('other periods, and what is typed wrong', async (t) => {
  const other = ['reconcile', file, '--from', '2020-01-01']
  const empty = await ops(...other, '--to', '2020-02-01', ...AS)
  t.equal(empty.exitCode, 0, empty.err)
  t.match(empty.err, '5 lines read, 5 outside the period')
  for (const args of [
    ['reconcile', file],
    [...other, '--to', '2019-01-01'],
    [...other, '--json'],
  ]) {
    t.equal((await ops(...args)).exitCode, 2, args.join(' '))
  }
  for (const args of [[], ['--from', 'x'], ['--from', '2020-01-01', 'more']]) {
    const { exitCode, err } = await run('rails/sandbox/statement_main.js', args)
    t.equal(exitCode, 2)
    t.match(err, /--from|too many arguments/)
  }
})

t.test('without a statement nothing is written', async (t) => {
  const out = join(folder, 'of_yesterday.csv')
  writeFileSync(out, 'findings')
  const none = join(folder, 'none.csv')
  for (const [given, fault] of [
    [none, `${none} does not exist.\n`],
    [folder, `${folder} is a folder, not a statement.\n`],
    [join(stack.dataDir, 'run.json'), /first line does not name the columns .+\n$/],
  ] as const) {
    t.match(await reconcile(given), { exitCode: 2, out: '', err: fault })
    t.match(await reconcile(given, '--out', out), { exitCode: 2, out: '', err: fault })
  }
  t.equal(readFileSync(out, 'utf8'), 'findings')
})

t.test('who reads and concludes is kept', async (t) => {
  const database = await openDatabase(join(stack.dataDir, 'processor.db'), { readOnly: true })
  const log = await database.all<Record<string, string | null>>(
    "SELECT actor, reason, action, subject, evidence FROM operator_log WHERE actor = 'ann'",
  )
  await database.close()
  const [read, concluded] = log
  const subject = '2020-01-01T00:00:00.000Z to 2100-01-01T00:00:00.000Z'
  t.match(read, { action: 'read_movements', reason: 'end of day', subject })
  t.match(concluded, { action: 'reconcile', subject })
  t.match(concluded?.['evidence'], /^statement\.csv sha256 [0-9a-f]{64}: \{"clean":true,/)
})

t.test('over gRPC', async (t) => {
  const { Reconciliation } = contracts<ProtoGrpcType>().causeway.v1
  const client = new Reconciliation(stack.sandbox.grpc_address, credentials.createInsecure())
  t.teardown(() => client.close())
  const token = bearer(stack.sandbox.internal_token)
  const actor = { name: 'ledger-service', reason: 'nightly' }
  const read = async (request: object, metadata = token): Promise<MovementPage['data']> => {
    const found = []
    const stream = client.Movements(request, metadata) as AsyncIterable<MovementPage>
    for await (const page of stream) found.push(...page.data)
    return found
  }
  const all = await read({ actor, from: '0', to: '4102444800000' })
  t.equal(all.length, 5)
  t.match(
    all.find(({ instruction_id }) => instruction_id === captured),
    {
      movement: 'executed',
      currency: 'THB',
      amount: '36000',
      undone: false,
    },
  )
  t.same(await read({ actor, from: '0', to: all[0]!.booked_at }), [])

  const { UNAUTHENTICATED, INVALID_ARGUMENT } = status
  for (const [request, metadata, code] of [
    [{ actor, from: '0', to: '1' }, bearer('wrong'), UNAUTHENTICATED],
    [{ actor, from: '1', to: '1' }, token, INVALID_ARGUMENT],
    [{ actor: { name: 'a', reason: ' ' }, from: '0', to: '1' }, token, INVALID_ARGUMENT],
    [{ from: '0', to: '1' }, token, INVALID_ARGUMENT],
  ] as const) {
    await t.rejects(read(request, metadata), { code })
  }
  const ask = (ids: string[]): Promise<MovementPage | ServiceError | null> =>
    new Promise((resolve) => {
      client.MovementsOf({ instruction_ids: ids }, token, (error, page) => resolve(page ?? error))
    })
  t.match(await ask([reversed, 'pout_none']), {
    data: [{ movement: 'executed' }, { movement: 'returned', instruction_id: reversed }],
  })
  t.match(await ask([]), { code: INVALID_ARGUMENT })
  t.match(await ask(Array.from({ length: 501 }, String)), { code: INVALID_ARGUMENT })
})

t.test('the books are in order', async (t) => {
  const { clean, report } = await auditOf(stack.dataDir)
  t.ok(clean, report)
})
