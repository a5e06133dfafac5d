/**
 * Reconciliation on a real stack: the bank's statement of payouts and payments matches the ledger,
 * and every change in it is found.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials, status } from '@grpc/grpc-js'
import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import type { ProtoGrpcType } from '../../protos/types/reconciliation.js'
import type { MovementPage__Output as MovementPage } from '../../protos/types/causeway/operator/v1/MovementPage.js'
import { bearer } from '../../src/grpc/bearer.js'
import { contracts } from '../../src/grpc/contracts.js'
import { rawBooks } from '../support/books.js'
import { assertCleanAudit } from '../support/audit.js'
import { operatorAccessOf } from '../support/callers.js'
import { printed, usageError } from '../support/operator_cli.js'
import { wholeList } from '../support/pages.js'
import { startProgram, type CliResult } from '../support/program.js'
import { callsTo } from '../support/rpc_calls.js'
import { tempFolder } from '../support/temp_folder.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { payeeOf } from '../support/requests.js'
import { startStack } from '../support/stack.js'

const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '20' } })
const folder = tempFolder(t)
const { partner, ops } = stack

const writeStatement = (...args: string[]): Promise<CliResult> =>
  startProgram('rails/sandbox/statement_main.js', args, { DATA_DIR: stack.dataDir }).ended

const PERIOD = ['--from', '2020-01-01', '--until', '2100-01-01']
const AS = ['--reason', 'end of day']
const reconcile = (file: string, ...more: string[]): Promise<CliResult> =>
  ops('reconcile', file, ...PERIOD, ...AS, ...more)

const payoutTo = (key: string, account: string): Promise<string> =>
  payOut(partner, key, { beneficiary: payeeOf(account) })

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
const exported = await writeStatement('--from', '2020-01-01', '--out', file)
t.equal(exported.exitCode, 0, exported.err)
const lines = readFileSync(file, 'utf8').split('\r\n').slice(0, -1)
const findings = ({ out }: CliResult): string[][] => parse(out).slice(1)

t.test('the unchanged statement matches', async (t) => {
  t.equal(
    lines.length,
    1 + 6,
    'two lines of the reversed payout, one of the accepted one, none of the failed one',
  )
  const result = await reconcile(file)
  t.equal(result.exitCode, 0, result.err)
  t.same(findings(result), [])
  t.match(result.err, '5 lines read, 0 outside the period; 0 unreadable')
  t.match(result.err, /VND +matched +4 +VND 225,000 +4 +VND 225,000/)
  t.match(result.err, /THB +matched +1 +THB 360.00/)
  t.match(result.err, 'Everything matches.')

  const out = join(folder, 'findings.csv')
  const asJson = await reconcile(file, '--json', '--out', out)
  t.equal(asJson.exitCode, 0, asJson.err)
  t.match(JSON.parse(asJson.out), { clean: true, counts: { matched: 5, different: 0 } })
  t.match(readFileSync(out, 'utf8'), /^status,instruction_id,[a-z_,]+\r\n$/)
})

/** Reconciles a changed statement. @returns the findings */
async function findingsOf(
  t: Test,
  name: string,
  change: (lines: string[]) => string[],
): Promise<string[][]> {
  const other = join(folder, `${name}.csv`)
  writeFileSync(other, change([...lines]).join('\r\n') + '\r\n')
  const result = await reconcile(other)
  t.equal(result.exitCode, 1, name)
  t.match(result.err, 'NOT EVERYTHING MATCHES.')
  return findings(result)
}

const lineOf = (id: string, movement = 'executed'): number =>
  lines.findIndex((line) => line.includes(id) && line.includes(movement))

/** Replaces a cell of one line. */
const change =
  (at: number, from: string | RegExp, to: string) =>
  (all: string[]): string[] =>
    all.map((line, index) => (index === at ? line.replace(from, to) : line))

t.test('a removed line is missing_there', async (t) => {
  const removed = (all: string[]): string[] => all.filter((_, index) => index !== lineOf(completed))
  t.match(await findingsOf(t, 'less', removed), [['missing_there', completed]])
})

t.test('an added line is missing_here', async (t) => {
  const unknownId = completed.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const copied = lines[lineOf(completed)]!.replace(completed, unknownId)
  const found = await findingsOf(t, 'more', (all) => [...all, copied])
  t.match(found, [['missing_here', unknownId]])
  const twice = await findingsOf(t, 'twice', (all) => [...all, lines[lineOf(captured)]!])
  t.match(twice, [['missing_here', captured]])
})

t.test('a statement of many currencies is compared and logged, without their sums', async (t) => {
  const currencies = Array.from({ length: 26 }, (_, at) => `A${String.fromCharCode(65 + at)}A`)
  const unknown = currencies.map(
    (currency) => `2026-01-01T00:00:00Z,TX,pout_of_${currency},executed,${currency},1`,
  )
  const found = await findingsOf(t, 'currencies', (all) => [...all, ...unknown])
  t.equal(found.length, currencies.length)
  const { data } = await ops.json('actions --action reconcile')
  const [latest] = data as { evidence: string }[]
  t.match(latest?.evidence, /^currencies\.csv sha256 [0-9a-f]{64}: \{"clean":false,/)
  t.match(latest?.evidence, '"missing_here":26')
  t.notMatch(latest?.evidence, '"sums"')
})

t.test('another amount, currency or movement is different', async (t) => {
  const line = lineOf(completed)
  for (const [differs, from, to] of [
    ['amount', ',125000', ',125001'],
    ['currency', ',VND,', ',THB,'],
    ['movement', ',executed,', ',returned,'],
  ] as const) {
    const [finding, ...more] = await findingsOf(t, differs, change(line, from, to))
    t.same(more, [])
    t.equal(finding?.[0], 'different')
    t.equal(finding?.[1], completed)
    t.equal(finding?.at(-1), `other ${differs}`)
    t.equal(finding?.[7], String(line + 1), 'the line of the file')
  }
  const moved = change(lineOf(reversed, 'returned'), ',returned,', ',executed,')
  t.match(await findingsOf(t, 'moved', moved), [['different', reversed]])
})

t.test('a malformed line is a bad_line, and no cell of the findings is a formula', async (t) => {
  const malformed = change(lineOf(completed), /^/, '=1+')
  const found = await findingsOf(t, 'malformed', malformed)
  const bad = found.find(([kind]) => kind === 'bad_line')
  t.equal(bad?.[7], String(lineOf(completed) + 1))
  t.match(found, [['bad_line'], ['missing_there', completed]])
  const hostile = '2026-01-01T00:00:00Z,=cmd(),@pout_1,executed,VND,1'
  const [line] = await findingsOf(t, 'hostile', (all) => [...all, hostile])
  t.equal(line?.[1], "'@pout_1")
  t.equal(line?.[6], "'=cmd()")
})

t.test('other periods, and invalid arguments', async (t) => {
  const other = ['reconcile', file, '--from', '2020-01-01']
  const empty = await ops(...other, '--until', '2020-02-01', ...AS)
  t.equal(empty.exitCode, 0, empty.err)
  t.match(empty.err, '5 lines read, 5 outside the period')
  const none = await ops('reconcile', file, ...PERIOD, '--out', join(folder, 'whole.csv'), ...AS)
  t.equal(none.exitCode, 0, none.err)
  for (const args of [
    ['reconcile', file],
    [...other, '--until', '2019-01-01'],
    [...other, '--json'],
  ]) {
    t.equal((await ops(...args)).exitCode, 2, args.join(' '))
  }
  for (const args of [[], ['--from', 'x'], ['--from', '2020-01-01', 'more']]) {
    const { exitCode, err } = await writeStatement(...args)
    t.equal(exitCode, 2)
    t.match(err, /--from|too many arguments/)
  }
})

t.test('without a statement no findings are written', async (t) => {
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

t.test('the operator log records the reader and the result', async (t) => {
  const database = await rawBooks(stack.dataDir)
  const log = await database.all<Record<string, string | null>>(
    "SELECT actor, reason, action, subject, evidence FROM operator_log WHERE reason = 'end of day'",
  )
  await database.close()
  const [read, concluded] = log
  const subject = '2020-01-01T00:00:00.000Z to 2100-01-01T00:00:00.000Z'
  t.match(read, { action: 'read_movements', reason: 'end of day', subject })
  t.match(concluded, { action: 'reconcile', subject })
  t.match(concluded?.['evidence'], /^statement\.csv sha256 [0-9a-f]{64}: \{"clean":true,/)
})

t.test('a journal equals the trial balance', async (t) => {
  const out = join(folder, 'journal.csv')
  const trial = await ops.json('trial-balance')
  const asked = ['journal', '--from', '2020-01-01', '--until', new Date().toISOString()]
  const made = await ops(...asked, '--reason', 'books of the day', '--out', out)
  t.equal(made.exitCode, 0, made.err)
  t.match(made.out, 'The journal equals the trial balance at the end of the period.')
  t.match(made.out, /^\d+ entries\.$/m)
  const text = readFileSync(out, 'utf8')
  const rows = parse<Record<string, string>>(text, { columns: true })
  const sums = new Map<string, bigint>()
  for (const { partner, environment, account, currency, debit, credit } of rows) {
    const key = `${partner}_${environment} ${currency} ${account}`
    const amount = BigInt(credit!.replace('.', '') || 0) - BigInt(debit!.replace('.', '') || 0)
    sums.set(key, (sums.get(key) ?? 0n) + amount)
  }
  const { lines: accounts } = trial as { lines: Record<string, string>[] }
  t.same(
    [...sums].map(([key, sum]) => `${key} ${sum}`).sort(),
    accounts
      .map(
        ({ tenant, currency, account, balance }) => `${tenant} ${currency} ${account} ${balance}`,
      )
      .sort(),
  )
  t.match(
    rows.find(({ entity, type }) => entity === captured && type === 'intent_captured'),
    { partner: 'demo', environment: 'sandbox', debit: '10.00', credit: '', currency: 'USD' },
  )
  t.same(await ops.json('balances', '--at', asked[4]!), trial)
  t.match(
    await ops('balances --at 2020-01-01 demo_sandbox'),
    printed(/demo_sandbox +prefund +USD 0\.00/),
  )
  t.match(
    await ops('balances --at 2020-01-01 demmo_sandbox'),
    usageError(/There is no partner demmo/),
  )
  t.match(await ops('balances --at 2100-01-01'), usageError(/in the future/))
  t.match(await ops('balances'), usageError(/--at DAY/))

  const toOut = await ops('journal --from 2020-01-01 --until 2100-01-01', ...AS)
  t.equal(toOut.out, text, 'on standard output, byte for byte')
  t.match(toOut.err, 'later entries are missing')
  const real = await ops.json(...asked, '--environment', 'production', '--out', out, ...AS)
  t.match(real, { lines: 0, equals_trial_balance: true, totals: [] })
  t.equal(readFileSync(out, 'utf8').split('\r\n').length, 2)
  t.match(await ops(...asked, '--json'), usageError(/--out FILE/))
  t.match(await ops('journal'), usageError(/--from DAY/))
})

interface BalanceTransaction {
  readonly id: string
  readonly currency: string
  readonly account: string
  readonly amount: string
  readonly balance: string
}

t.test('the statement of a partner equals its balance transactions', async (t) => {
  const out = join(folder, 'partner.csv')
  const month = new Date().toISOString().slice(0, 7)
  const asked = ['partner', 'statement', 'demo', '--month', month, '--environment', 'sandbox']
  t.match(
    await ops(...asked, ...AS, '--out', out),
    printed(/^\d+ movements\. The month has not ended: later ones are missing\.$/m),
  )
  const rows = parse<Record<string, string>>(readFileSync(out), { columns: true })
  const newestFirst = '/v1/balance_transactions?limit=3'
  const listed = (await wholeList<BalanceTransaction>(partner, newestFirst)).reverse()
  const minor = (text: string): bigint => BigInt(text.replace('.', '') || 0)
  const movements = rows.filter(({ id }) => id !== '')
  t.same(
    movements.map(({ id, currency, account, ...row }) => ({
      ...{ id, currency, account, balance: String(minor(row['balance']!)) },
      amount: String(minor(row['money_in']!) - minor(row['money_out']!)),
    })),
    listed.map(({ id, currency, account, amount, balance }) => {
      return { id, currency, account, balance, amount }
    }),
  )
  const balanceOf = (type: string) =>
    rows
      .filter((row) => row['type'] === type)
      .map(({ currency, account, balance }) => `${currency} ${account} ${minor(balance!)}`)
  const { body } = await partner.request('GET', '/v1/balances')
  const { data } = body as { data: { currency: string; available: string; reserved: string }[] }
  t.same(
    balanceOf('closing_balance').sort(),
    data
      .flatMap(({ currency, available, reserved }) => [
        ...[`${currency} available ${available}`, `${currency} reserved ${reserved}`],
      ])
      .filter((line) => balanceOf('closing_balance').includes(line) || !line.endsWith(' 0'))
      .sort(),
  )
  t.ok(balanceOf('opening_balance').every((line) => line.endsWith(' 0')))
  t.match(await ops.json(...asked, ...AS, '--out', out), { movements: listed.length })

  const real = ['partner', 'statement', 'demo', '--month', month]
  t.match(await ops(...real, ...AS), printed(/^time,id,type,[a-z_,]+\r\n$/))
  for (const [args, err] of [
    [['demo', '--month', '2026-13'], /--month MONTH/],
    [['demo', '--month', '2199-01'], /2199-01 has not begun/],
    [['none', '--month', month], /There is no partner none/],
    [['demo', '--month', month, '--json'], /--out FILE/],
  ] as const) {
    t.match(await ops('partner statement', ...args), usageError(err))
  }
})

t.test('movements are read over gRPC', async (t) => {
  const { Reconciliation } = contracts<ProtoGrpcType>().causeway.operator.v1
  const client = new Reconciliation(stack.sandbox.grpc_address, credentials.createInsecure())
  t.teardown(() => client.close())
  const token = bearer(operatorAccessOf(stack).token())
  const actor = { reason: 'nightly' }
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
    [{ actor: { reason: ' ' }, from: '0', to: '1' }, token, INVALID_ARGUMENT],
    [{ from: '0', to: '1' }, token, INVALID_ARGUMENT],
  ] as const) {
    await t.rejects(read(request, metadata), { code })
  }
  const call = callsTo(t, stack.sandbox.grpc_address, operatorAccessOf(stack).token())
  const movementsOf = (instruction_ids: string[]) =>
    call('Reconciliation/MovementsOf', { instruction_ids })
  t.match(await movementsOf([reversed, 'pout_none']), {
    data: [{ movement: 'executed' }, { movement: 'returned', instruction_id: reversed }],
  })
  t.match(await movementsOf([]), { status: 'INVALID_ARGUMENT' })
  t.match(await movementsOf(Array.from({ length: 501 }, String)), { status: 'INVALID_ARGUMENT' })
})

t.test('the audit finds no violation', (t) => assertCleanAudit(t, stack.dataDir))
