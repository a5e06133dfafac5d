/**
 * Both clients against one running stack: payments, payouts, funds, webhooks, and the programs of
 * their pages, for Node with the package as it is installed.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/project_root.js'
import {
  AuthenticationError,
  createAppClient,
  createClient,
  IdempotencyConflictError,
  InsufficientBalanceError,
  NotFoundError,
  QrCodeError,
  QuoteError,
  type CreatePayout,
} from '../../src/client/index.js'
import { credentialsOf } from '../../src/operations/calls/sandbox.js'
import { openReceiver } from '../../src/operations/partners/webhook_receiver.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { programOf } from './page_program.js'
import { PYTHON_ENV, runPython, skipsPython } from './python_suite.js'
import { BENEFICIARY } from './scripted_service.js'

const QR = '00020101021129370016A0000006770101110113006681234567853037645802TH6304823E'
const ATTESTATIONS = {
  kyc_attestation: { verified: true, method: 'passport', verified_at: '2026-01-05T09:30:00Z' },
  sanctions_attestation: { clean: true, screened_at: '2026-01-05T09:30:00Z' },
} as const
const USER = { partner_user_id: 'node-1', ...ATTESTATIONS }
const INTENT = { ...USER, amount_usd_cents: 1250, corridor: 'th_promptpay' } as const
const PAYOUT: CreatePayout = {
  amount: '1250000',
  currency: 'VND',
  reference: 'node',
  beneficiary: BENEFICIARY,
}
const key = (idempotencyKey: string): { idempotencyKey: string } => ({ idempotencyKey })
const run = promisify(execFile)

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}

const dataDir = tempFolder(t)
const stack = await startStack({ t, dataDir, settings: { RAIL_DELAY_MS: '20' } })
const SANDBOX = join(dataDir, 'sandbox.json')
const credentials = credentialsOf(stack.sandbox, 'Service')
const client = createClient(credentials)

t.test('its signature is valid', async (t) => {
  t.match(await client.sandbox.checkSignature(), { valid: true })
  const wrong = createClient({ ...credentials, secret: 'sk_wrong' })
  const { checks } = await wrong.sandbox.checkSignature()
  t.same(
    checks.flatMap(({ check, help }) => (help ? [check] : [])),
    ['signature'],
  )
  await t.rejects(wrong.balances(), AuthenticationError)
})

t.test('a payment from end to end', async (t) => {
  const intent = await client.paymentIntents.create(INTENT, key('node intent'))
  const { intent_id: id } = intent
  t.same(await client.paymentIntents.create(INTENT, key('node intent')), intent)
  const { session_token } = await client.paymentIntents.newSession(id, USER)
  const { baseUrl, host } = credentials
  const server = host === undefined ? { baseUrl } : { baseUrl, host }
  const app = createAppClient(server).session(session_token)
  await t.rejects(app.confirm(id, 'node confirm 0'), QuoteError)
  const amount = { local_amount_minor_units: '25000' }
  await t.rejects(app.scan(id, { qr_payload: `${QR.slice(0, -1)}0`, ...amount }), QrCodeError)
  const { quote } = await app.scan(id, { qr_payload: QR, ...amount })
  const confirmed = await app.confirm(id, 'node confirm', quote)
  t.same(await app.confirm(id, 'node confirm', quote), confirmed)
  t.match(await app.poll(id), { status: 'captured' })
  const { receipt_token } = await client.paymentIntents.receiptToken(id)
  t.match(await client.receipts(receipt_token).get(id), { local_amount: '250' })
  const filter = { partner_user_id: USER.partner_user_id, limit: 1 }
  t.match(await all(client.paymentIntents.list(filter)), [{ intent_id: id, status: 'captured' }])
  const { refund } = await client.paymentIntents.refund(id, key('node refund'))
  t.match(refund?.status, /^(requested|done)$/)
})

t.test('payouts and lists', async (t) => {
  const first = await client.payouts.create(PAYOUT, key('node payout'))
  const again = await client.request('POST', '/v1/payouts', PAYOUT, key('node payout'))
  t.match(again, { status: 200, headers: { 'idempotent-replayed': 'true' } })
  const other = client.payouts.create({ ...PAYOUT, amount: '1' }, key('node payout'))
  await t.rejects(other, IdempotencyConflictError)
  await client.payouts.create(PAYOUT)
  await client.payouts.create(PAYOUT)
  const listed = await all(client.payouts.list({ reference: 'node', limit: 1 }))
  t.equal(new Set(listed.map(({ id }) => id)).size, 3)
  await eventually(
    'the payout completes',
    async () => (await client.payouts.get(first.id)).status === 'completed',
  )
  t.ok((await all(client.balanceTransactions.list({ limit: 2 }))).length > 3)
  const beneficiary = await client.beneficiaries.create(BENEFICIARY)
  t.hasStrict(await all(client.beneficiaries.list({ limit: 1 })), [beneficiary])
  t.match(await client.beneficiaries.disable(beneficiary.id), { status: 'disabled' })
  const tooMuch = client.payouts.create({ ...PAYOUT, amount: '9000000000000' })
  await t.rejects(tooMuch, InsufficientBalanceError)
})

t.test('funds and settings', async (t) => {
  t.match(await client.account(), { environment: 'sandbox', keys: [{ key_id: credentials.keyId }] })
  const deposit = { currency: 'USD', amount: '5000' }
  const made = await client.sandbox.deposit(deposit, key('node deposit'))
  t.same(await client.sandbox.deposit(deposit, key('node deposit')), made)
  const sell = { sell_currency: 'USD', sell_amount: '100', buy_currency: 'VND' }
  const quote = await client.fx.quote(sell)
  t.match(await client.fx.convert(quote.id), { ...sell, buy_amount: quote.buy_amount })
  t.ok((await client.balances()).some(({ currency }) => currency === 'USD'))
})

t.test('webhooks and events', async (t) => {
  const secrets = new Map<string, string>()
  const secretOf = (keyId: string): string | undefined => secrets.get(keyId)
  const receiver = await openReceiver({ clock: systemClock, brand: 'Service', port: 0, secretOf })
  t.teardown(() => receiver.close())
  const { webhookEndpoints: endpoints } = client
  const endpoint = await endpoints.create({ url: `${receiver.url}/hooks?from=node` })
  const { id } = endpoint
  secrets.set(endpoint.key_id, endpoint.secret)
  const sent = await endpoints.test(id)
  await eventually('the test event', () => receiver.events.has(sent.event.id))
  t.hasStrict(await all(client.events.list({ after: sent.sequence - 1, limit: 1 })), [sent])
  await eventually('the delivery is recorded', async () => {
    // Payouts of earlier tests may complete meanwhile, and have newer deliveries.
    const deliveries = await all(endpoints.deliveries(id))
    return deliveries.find(({ event_id }) => event_id === sent.event.id)?.status === 'delivered'
  })
  await client.events.resend(sent.event.id, { endpoint_id: id })
  await eventually('it repeats', () =>
    receiver.deliveries.some(({ verdict }) => verdict === 'duplicate'),
  )
  t.match(await endpoints.rotateSecret(id), { activate_at: /Z$/, secret: /^whsec_/ })
  await endpoints.update(id, { description: 'é' })
  await endpoints.disable(id)
  t.match(await endpoints.enable(id), { description: 'é', status: 'enabled' })
  t.ok((await all(endpoints.list())).some((each) => each.id === id))
  t.match(await endpoints.recover(id, '2026-01-05T09:30:00Z'), { has_more: false })
  t.match(await endpoints.delete(id), { status: 'deleted' })
  await t.rejects(endpoints.get(id), NotFoundError)
})

t.test('the Python client', { skip: skipsPython }, async (t) => {
  const { stderr } = await runPython('test_stack.py', { SANDBOX })
  t.match(stderr, /^Ran 5 tests in .*\n\nOK$/m)
})

const PAGE = 'src/client/README.md'
const PYTHON_PAGE = 'src/client/python/README.md'
const SHOWN = 10
/** The newest payouts, not all. */
const OUTPUT = new RegExp(`^captured\nprocessing\ncompleted\n(?:pout_\\w+ \\w+\n){${SHOWN}}$`)
/** A command with the secret of an endpoint: each page prints it for its receiver. */
const START =
  /^WEBHOOK_SECRETS='(\{"we_\w+_1": ?"whsec_\S+"\})' (?:node receiver\.mjs|python3 receiver\.py)\n$/
/** What the test of a receiver prints. */
const VERIFIED_AND_FORGED = 'verified\n401\n'
/** In a row: a sample that works only once is a puzzle for its reader. */
const TIMES = 2

t.test('there are more payouts than the programs show', async (t) => {
  for (let made = 0; made < SHOWN; made++) await client.payouts.create(PAYOUT)
  t.ok((await client.payouts.list().take(SHOWN + 1)).length > SHOWN)
})

t.test('the package installs, and the programs of its page run', async (t) => {
  const folder = t.testdir({
    'package.json': '{"private": true}',
    'first.mjs': programOf(PAGE, 'first request'),
    'register.mjs': programOf(PAGE, 'register'),
    'receiver_test.mjs': programOf(PAGE, 'receiver test').replace(' as const', ''),
  })
  const packaged = await run(join(projectRoot(), 'src/scripts/client_package.sh'), [folder])
  const tarball = packaged.stdout.trim()
  const options = ['--offline', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...options, tarball], { cwd: folder })
  const env = { PATH: process.env['PATH'], SANDBOX }
  const tested = await run(process.execPath, ['receiver_test.mjs'], { cwd: folder, env })
  t.equal(tested.stdout, VERIFIED_AND_FORGED)
  for (let time = 0; time < TIMES; time++) {
    const { stdout } = await run(process.execPath, ['first.mjs'], { cwd: folder, env })
    t.match(stdout, OUTPUT)
    const registered = await run(process.execPath, ['register.mjs'], { cwd: folder, env })
    t.match(registered.stdout, START)
  }
})

t.test('the programs of the Python page run', { skip: skipsPython }, async (t) => {
  const folder = t.testdir({
    'first.py': programOf(PYTHON_PAGE, 'first request'),
    'register.py': programOf(PYTHON_PAGE, 'register'),
    'receiver_test.py': programOf(PYTHON_PAGE, 'receiver test'),
  })
  const env = { ...PYTHON_ENV, SANDBOX }
  const tested = await run('python3', ['-B', join(folder, 'receiver_test.py')], { env })
  t.equal(tested.stdout, VERIFIED_AND_FORGED)
  for (let time = 0; time < TIMES; time++) {
    const { stdout } = await run('python3', ['-B', join(folder, 'first.py')], { env })
    t.match(stdout, OUTPUT)
    const registered = await run('python3', ['-B', join(folder, 'register.py')], { env })
    t.match(registered.stdout, START)
  }
})

t.test('the audit is clean', async (t) => {
  await assertCleanAudit(t, dataDir)
})
