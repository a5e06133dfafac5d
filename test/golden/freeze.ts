/**
 * Makes a frozen DATA_DIR with the revision it is compiled from: `--name NAME [--out FOLDER]`.
 *
 * Owns: bringing a stack into every state, in three runs. Does not own: the form (frozen), checking
 * one (golden.test).
 *
 * - Timers are short here (intents and reviews a minute, submission five seconds) and the archive
 *   is made after the last of them is due: what becomes of an open entity never depends on when
 *   the test runs.
 * - Endpoints end with an address where nothing listens; the test gives them its own.
 * - Run 1: the sandbox, to settled states. Run 2: a production tenant. Run 3: the sandbox again,
 *   stopped while the rail and the bus stand still.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import { MINUTE, plus, SECOND, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { programOptions } from '../../src/base/program_options.js'
import { projectRoot } from '../../src/base/protos.js'
import { openReceiver, type Receiver } from '../../src/operations/webhook_receiver.js'
import { openDatabase } from '../../src/store/database.js'
import { freePort } from '../../src/supervisor/ports.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli } from '../support/operator_cli.js'
import { operatorsOf, type Key } from '../support/operators.js'
import { partnerOf, type HttpAnswer, type Partner } from '../support/partner.js'
import { retryUntilFinal, untilStatus, vietQr } from '../support/payments.js'
import { anIntent, aPayout, promptPayQr } from '../support/requests.js'
import { startStack, type RunningStack } from '../support/stack.js'
import {
  goldenFolder,
  pack,
  type Caller,
  type Endpoint,
  type Frozen,
  type Listed,
} from './frozen.js'
import { PRODUCTION_HOST, PRODUCTION_SETTINGS, SANDBOX_SETTINGS } from './settings.js'

const args = programOptions('freeze', 'Freezes a DATA_DIR that every later revision must open.', {
  name: { value: 'NAME', about: 'of the archive: the version', required: true },
  out: { value: 'FOLDER', about: 'where it goes', fallback: goldenFolder() },
})

const SHORT = { INTENT_TTL_S: '60', REVIEW_TTL_S: '60', RAIL_SUBMIT_TTL_S: '5' }
const NOWHERE = 'http://127.0.0.1:1/hooks?from=causeway'
const INTENTS = '/v1/payment_intents'
const BECAUSE = ['--reason', 'a frozen state']
const EVIDENCE = ['--evidence', 'statement line 1']
const STARTED_AT = systemClock.now()

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-freeze-'))
const ops = operatorCli(dataDir)
const callers: Record<string, Caller> = {}
const frozen = {
  reads: [] as Frozen['reads'][number][],
  lists: [] as Frozen['lists'][number][],
  replays: [] as Frozen['replays'][number][],
  keys: [] as Frozen['keys'][number][],
  open: [] as Frozen['open'][number][],
  endpoints: [] as Endpoint[],
}
let stack: RunningStack
const say = (text: string): void => void process.stdout.write(`${text}\n`)

function as(caller: string): Partner {
  const { keyId, secret, production } = callers[caller]!
  return partnerOf(stack.sandbox, { keyId, secret, ...(production && { host: PRODUCTION_HOST }) })
}

const know = (caller: string, { keyId, secret }: Key, production = false): void =>
  void (callers[caller] = { keyId, secret, production })

function expect(answer: HttpAnswer, ...statuses: number[]): Record<string, unknown> {
  if (statuses.includes(answer.status)) return answer.body as Record<string, unknown>
  throw new Error(`${answer.status} instead of ${statuses.join()}: ${answer.text}`)
}

/** A keyed call whose response is kept. */
async function keyed(
  caller: string,
  path: string,
  body: unknown,
  key: string,
): Promise<Record<string, unknown>> {
  const call = (): Promise<HttpAnswer> =>
    retryUntilFinal(() =>
      as(caller).request('POST', path, body, { headers: { 'Idempotency-Key': key } }),
    )
  const first = expect(await call(), 200, 201, 202)
  const { status, text } = await call()
  frozen.replays.push({ caller, path, key, body: body ?? null, status, text })
  return first
}

interface Paid {
  readonly caller: string
  readonly path: string
  readonly app: ReturnType<Partner['session']>
}

async function created(caller: string, key: string, over: object = {}): Promise<Paid> {
  const body = { ...anIntent(), partner_user_id: `user ${key}`, ...over }
  const { intent_id, session_token } = await keyed(caller, INTENTS, body, `create ${key}`)
  const path = `${INTENTS}/${String(intent_id)}`
  return { caller, path, app: as(caller).session(String(session_token)) }
}

async function quoted(caller: string, key: string, over: object = {}): Promise<Paid> {
  const intent = await created(caller, key, over)
  const isViet = 'corridor' in over && over.corridor === 'vn_vietqr'
  const scan = isViet
    ? { qr_payload: vietQr('100000') }
    : { qr_payload: promptPayQr(), local_amount_minor_units: '36000' }
  expect(await intent.app.request('POST', `${intent.path}/scan`, scan), 200)
  return intent
}

async function confirmed(caller: string, key: string, over: object = {}): Promise<Paid> {
  const intent = await quoted(caller, key, over)
  const extra = { headers: { 'Idempotency-Key': `confirm ${key}` } }
  expect(await intent.app.request('POST', `${intent.path}/confirm`, undefined, extra), 200)
  return intent
}

async function payout(caller: string, key: string, account: string, more = {}): Promise<string> {
  const { amount, currency, beneficiary, reference } = aPayout({ amount: '125000' })
  const to = { beneficiary: { ...beneficiary!, account_number: account } }
  const body = { amount, currency, reference, ...to, ...more }
  const { id } = await keyed(caller, '/v1/payouts', body, key)
  return `/v1/payouts/${String(id)}`
}

const idIn = (path: string): string => path.split('/').at(-1) ?? ''

/** Waits until the rail has recorded the instructions of these entities. */
async function reachedRail(...paths: string[]): Promise<void> {
  const journal = await openDatabase(join(dataDir, 'rail.db'), { readOnly: true })
  const sql = 'SELECT id FROM instructions WHERE id IN (SELECT value FROM json_each(?))'
  const ids = JSON.stringify(paths.map(idIn))
  const areThere = async (): Promise<boolean> =>
    (await journal.all(sql, [ids])).length === paths.length
  await eventually('they reach the rail', areThere)
  await journal.close()
}

/** Waits for this final state and keeps the response. */
async function settled(caller: string, path: string, status: string): Promise<void> {
  const now = async (): Promise<unknown> =>
    expect(await as(caller).request('GET', path), 200)['status']
  await eventually(`${path} is ${status}`, async () => (await now()) === status, 120_000, 100)
  await read(caller, path)
}

async function read(caller: string, path: string): Promise<void> {
  const body = expect(await as(caller).request('GET', path), 200)
  frozen.reads.push({ caller, path, body })
}

async function list(caller: string, path: string): Promise<void> {
  const rows: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = expect(await as(caller).request('GET', `${path}?limit=100${more}`), 200)
    rows.push(...(page['data'] as Listed[]))
    cursor = page['next_cursor'] as string | null
  }
  frozen.lists.push({ caller, path, rows })
}

/** A receiver for one endpoint of `demo`, which is noted with its secret. */
async function endpoint(what: string, status: number): Promise<{ id: string; at: Receiver }> {
  const secrets: Record<string, string> = {}
  const at = await openReceiver({
    clock: systemClock,
    brand: 'Service',
    port: 0,
    secretOf: (keyId) => secrets[keyId],
    answer: () => status,
  })
  const body = { url: `${at.url}/hooks?from=causeway`, description: what }
  const made = expect(await as('demo').request('POST', '/v1/webhook_endpoints', body), 201)
  secrets[String(made['key_id'])] = String(made['secret'])
  frozen.endpoints.push({ id: String(made['id']), what, secrets })
  return { id: String(made['id']), at }
}

const atEndpoint = (id: string, rest = ''): string => `/v1/webhook_endpoints/${id}${rest}`

async function rotate(what: string, inMs: number): Promise<void> {
  const { id, secrets } = frozen.endpoints.find((one) => one.what === what)!
  const body = { activate_at: toRfc3339(plus(systemClock.now(), inMs)) }
  const made = expect(await as('demo').request('POST', atEndpoint(id, '/rotate_secret'), body), 200)
  Object.assign(secrets, { [String(made['key_id'])]: made['secret'] })
}

const clean = async (): Promise<void> => {
  const { report } = await eventually(
    'the audit is clean',
    async () => {
      const result = await auditOf(dataDir)
      return result.clean && result
    },
    60_000,
  )
  say(report.trim().split('\n').at(-1) ?? '')
}

const start = async (settings: Record<string, string>): Promise<void> => {
  stack = await startStack({ dataDir, settings: { ...SHORT, ...settings } })
  const { key_id: keyId, signing_secret: secret } = stack.sandbox
  know('demo', { keyId, secret })
}

say('run 1: settled states of the sandbox')
const natsPort = await freePort('127.0.0.1')
await start({ ...SANDBOX_SETTINGS, RAIL_DELAY_MS: '50', NATS_PORT: String(natsPort) })
const operators = operatorsOf(stack!)
const ok = await endpoint('answers 200', 200)
const failing = await endpoint('answers 500', 500)
const dead = await endpoint('answers 400', 400)
const disabled = await endpoint('disabled by its partner', 200)
const rotated = await endpoint('rotated secret', 200)
const rotating = await endpoint('a secret that waits', 200)
const gone = await endpoint('answers 410', 410)
const deleted = await endpoint('deleted', 200)
const receivers = [ok, failing, dead, disabled, rotated, rotating, gone, deleted]
await as('demo').request('POST', atEndpoint(disabled.id, '/disable'))
await rotate('rotated secret', 0)
await rotate('a secret that waits', 29 * 24 * 60 * MINUTE)
expect(await as('demo').request('DELETE', atEndpoint(deleted.id)), 200)
frozen.endpoints.splice(
  frozen.endpoints.findIndex(({ id }) => id === deleted.id),
  1,
)

for (const name of ['acme', 'umbrella']) know(name, await operators.createPartner(name))
know('acme revoked', callers['acme']!)
const acmeKey = await operators.issueKey('acme', 'sandbox')
await operators.revokeKey(callers['acme revoked']!.keyId)
know('acme', acmeKey)
const knows = async (caller: string): Promise<boolean> =>
  (await as(caller).request('GET', '/v1/balances')).status === 200
for (const name of ['acme', 'umbrella']) await eventually(`${name} may call`, () => knows(name))
await operators.setRateLimit('acme', 200)
await ops.json('partner', 'corridors', 'umbrella', 'th_promptpay')
await ops.json('balance-alert', 'demo', 'sandbox', 'USD', '500')
await ops.json('rates', 'set', 'THB', '36.00', ...BECAUSE)

// Soonest, as they take a minute.
const expired = [await created('demo', 'expired'), await quoted('acme', 'expired, quoted')]
const lateReview = await payout('acme', 'not reviewed', '0123456789', {
  reference: 'sandbox:review',
})
const captured = await confirmed('demo', 'captured')
const viet = await confirmed('demo', 'captured viet', { corridor: 'vn_vietqr' })
const toRefund = await confirmed('demo', 'to refund')
const refundsLater = [await confirmed('demo', 'refund a'), await confirmed('demo', 'refund b')]
const failed = await confirmed('demo', 'failed', { partner_user_id: 'carl+fail' })
const found = await confirmed('demo', 'found', { partner_user_id: 'dora+unknown' })
const cancelled = await quoted('demo', 'cancelled')
expect(await as('demo').request('POST', `${cancelled.path}/cancel`), 200)
const theirs = await confirmed('umbrella', 'captured of a suspended partner')

const stored = await as('demo').request('POST', '/v1/beneficiaries', aPayout().beneficiary)
const active = String(expect(stored, 201)['id'])
const other = { ...aPayout().beneficiary, name: 'disabled' }
const unused = expect(await as('demo').request('POST', '/v1/beneficiaries', other), 201)
const off = `/v1/beneficiaries/${String(unused['id'])}`
expect(await as('demo').request('POST', `${off}/disable`), 200)
const { amount, currency } = aPayout({ amount: '250000' })
const byId = { amount, currency, beneficiary_id: active, reference: 'by id', metadata: { a: 'b' } }
const paidById = await keyed('demo', '/v1/payouts', byId, 'payout by id')
const paid = await payout('demo', 'completed', '0123456789')
const refused = await payout('demo', 'failed', '9990000001')
const reversed = await payout('demo', 'reversed', '9990000005')
const foundPaid = await payout('demo', 'found paid', '9990000006')
const foundRefused = await payout('demo', 'found refused', '9990000007')
const review = { reference: 'sandbox:review' }
const approved = await payout('demo', 'approved', '0123456789', review)
const rejected = await payout('demo', 'rejected', '0123456789', review)
await ops.json('payout', 'approve', idIn(approved), ...BECAUSE)
await ops.json('payout', 'reject', idIn(rejected), ...BECAUSE)

await keyed('demo', '/v1/funding/deposits', { currency: 'THB', amount: '125000' }, 'deposit')
const exchange = { sell_currency: 'THB', sell_amount: '36000', buy_currency: 'USD' }
const offers = [1, 2].map(() => as('demo').request('POST', '/v1/fx/quotes', exchange))
const [offer] = (await Promise.all(offers)).map((answer) => expect(answer, 201))
await keyed('demo', '/v1/fx/conversions', { quote_id: offer!['id'] }, 'conversion')
const { data } = (await ops.json('routes', 'list')) as { data: Record<string, unknown>[] }
const route = data.find((one) => one['country'] === 'VN')!
const routeFile = join(dataDir, 'route.json')
const forAcme = { ...route, tenant: { partner_id: 'acme', environment: 'sandbox' } }
writeFileSync(routeFile, JSON.stringify({ ...forAcme, platform_bps: 7, handling: 'deducted' }))
await ops.json('routes', 'set', routeFile, ...BECAUSE)
const ofAcme = await payout('acme', 'over a route of its own', '0123456789')

const intentEnds: readonly [Paid, string][] = [
  [captured, 'captured'],
  [viet, 'captured'],
  [failed, 'failed'],
  [found, 'captured'],
  [cancelled, 'cancelled'],
  [theirs, 'captured'],
]
for (const [{ caller, path }, status] of intentEnds) await settled(caller, path, status)
for (const { path } of [toRefund, ...refundsLater]) await untilStatus(as('demo'), path, 'captured')
await keyed('demo', `${toRefund.path}/refund`, undefined, 'refund')
await settled('demo', toRefund.path, 'refunded')
const payoutEnds: readonly [string, string][] = [
  [`/v1/payouts/${String(paidById['id'])}`, 'completed'],
  [paid, 'completed'],
  [refused, 'failed'],
  [reversed, 'reversed'],
  [foundPaid, 'completed'],
  [foundRefused, 'failed'],
  [approved, 'completed'],
  [rejected, 'failed'],
]
for (const [path, status] of payoutEnds) await settled('demo', path, status)
await settled('acme', ofAcme, 'completed')

say('  operators decide while the rail is stopped')
const slow = [1, 2].map((n) => confirmed('demo', `slow ${n}`, { partner_user_id: `slow${n}+slow` }))
const contradicted = await Promise.all(slow)
await reachedRail(...contradicted.map(({ path }) => path))
stack!.kill('rail', 'SIGSTOP')
for (const { path } of contradicted) {
  await eventually(
    'its outcome is unknown',
    async () => JSON.stringify(await ops.json('outcomes', 'unknown')).includes(idIn(path)),
    30_000,
    200,
  )
  await ops.json('intent', 'resolve', idIn(path), 'failed', ...BECAUSE, ...EVIDENCE)
}
stack!.kill('rail', 'SIGCONT')
const discrepancies = async (...flags: string[]): Promise<string[]> =>
  ((await ops.json('discrepancy', 'list', ...flags))['data'] as { id: string }[]).map(
    ({ id }) => id,
  )
const both = await eventually(
  'the rail contradicts',
  async () => {
    const ids = await discrepancies()
    return ids.length === 2 && ids
  },
  60_000,
  200,
)
await ops.json('discrepancy', 'resolve', both[0]!, 'write_off', ...BECAUSE, ...EVIDENCE)
for (const { path } of contradicted) await settled('demo', path, 'failed')
for (const { caller, path } of expired) await settled(caller, path, 'expired')
await settled('acme', lateReview, 'failed')

const password = readFileSync(join(dataDir, 'nats.password'), 'utf8').trim()
const bus = await connect({ port: natsPort, user: 'causeway', pass: password })
bus.publish('causeway.events.demo_sandbox', Buffer.from('no event'))
await bus.flush()
await bus.close()
const poison = async (): Promise<boolean> =>
  !(await ops('webhooks', 'poison')).out.includes('There are none')
await eventually('it is poison', poison, 30_000, 200)
const got = (): boolean => [...ok.at.events.values()].length > 20
await eventually('deliveries came', got)

await read('demo', off)
await read('demo', `/v1/beneficiaries/${active}`)
await read('demo', '/v1/events?after=0&limit=40')
for (const path of ['/v1/payouts', '/v1/beneficiaries', '/v1/balance_transactions']) {
  await list('demo', path)
}
await list('acme', '/v1/payouts')
await operators.suspend('umbrella')
for (const { id } of receivers) {
  await as('demo').request('PATCH', atEndpoint(id), { url: NOWHERE })
}
await clean()
operators.close()
for (const { at } of receivers) await at.close()
await stack!.stop()

say('run 2: a production tenant, sealed with a second master key')
const keyFile = join(dataDir, 'master.key')
const formerKey = readFileSync(keyFile, 'utf8')
writeFileSync(keyFile, `k2:${'2b'.repeat(32)}\n${formerKey}`)
await start({ ...PRODUCTION_SETTINGS, RAIL_DELAY_MS: '50' })
const live = await ops.json('key', 'issue', 'acme', 'production', ...BECAUSE)
know('acme live', { keyId: String(live['key_id']), secret: String(live['secret']) }, true)
await eventually('acme may call production', () => knows('acme live'))
await ops.json('deposit', 'acme', 'production', 'USD', '10000', ...BECAUSE)
await ops.json('deposit', 'acme', 'production', 'VND', '50000000', ...BECAUSE)
const { tenant: _none, ...forAll } = route
writeFileSync(routeFile, JSON.stringify(forAll))
await ops.json('routes', 'set', routeFile, ...BECAUSE)
rmSync(routeFile)
const livePayout = await payout('acme live', 'live', '0123456789')
const liveIntent = await confirmed('acme live', 'live')
const liveCancelled = await quoted('acme live', 'live, cancelled')
expect(await as('acme live').request('POST', `${liveCancelled.path}/cancel`), 200)
const hook = { url: 'https://hooks.example.com/', enabled_events: ['payout.reversed'] }
const liveHook = await as('acme live').request('POST', '/v1/webhook_endpoints', hook)
const liveHookAt = atEndpoint(String(expect(liveHook, 201)['id']))
expect(await as('acme live').request('POST', `${liveHookAt}/disable`), 200)
await settled('acme live', livePayout, 'completed')
await settled('acme live', liveIntent.path, 'captured')
await settled('acme live', liveCancelled.path, 'cancelled')
await read('acme live', liveHookAt)
await list('acme live', '/v1/payouts')
await list('acme live', '/v1/balance_transactions')
await clean()
await stack!.stop()

say('run 3: everything in flight')
await start({ ...SANDBOX_SETTINGS, RAIL_DELAY_MS: '30000' })
const open = (
  what: string,
  { caller, path }: Pick<Paid, 'caller' | 'path'>,
  [was, becomes, executions]: [string, string, number],
): void => void frozen.open.push({ caller, what, path, was, becomes, executions })
const openPayout = (what: string, path: string, ends: [string, string, number]): void =>
  open(what, { caller: 'demo', path }, ends)

open('created', await created('demo', 'open'), ['created', 'expired', 0])
open('created with a quote', await quoted('demo', 'open, quoted'), ['created', 'expired', 0])
const held = await payout('demo', 'open, held', '0123456789', review)
openPayout('held for review', held, ['created', 'failed', 0])
const atRail = await confirmed('demo', 'open, at the rail')
open('authorized, at the rail', atRail, ['authorized', 'captured', 1])
const underWay = await payout('demo', 'open, at the rail', '0123456789')
openPayout('processing, at the rail', underWay, ['processing', 'completed', 1])
const stuck = await payout('demo', 'open, stuck', '9990000008')
openPayout('processing without an end', stuck, ['processing', 'processing', 0])
const [recalled, unheard] = refundsLater as [Paid, Paid]
await keyed('demo', `${recalled.path}/refund`, undefined, 'refund, at the rail')
open('recalled, at the rail', recalled, ['captured', 'refunded', 1])
const unknownIntent = await confirmed('demo', 'open, unknown', { partner_user_id: 'eve+unknown' })
open('authorized, outcome unknown', unknownIntent, ['authorized', 'captured', 1])
const unknown = await payout('demo', 'open, unknown', '9990000006')
openPayout('processing, outcome unknown', unknown, ['processing', 'completed', 1])
const unknownRefused = await payout('demo', 'open, unknown refused', '9990000007')
openPayout('processing, refusal unknown', unknownRefused, ['processing', 'failed', 0])
await reachedRail(...[atRail, unknownIntent].map(({ path }) => path))
await reachedRail(underWay, stuck, unknown, unknownRefused)
stack!.kill('rail', 'SIGSTOP')
stack!.kill('nats', 'SIGSTOP')
const neverSent = await confirmed('demo', 'open, lost')
open('authorized, lost on its way', neverSent, ['authorized', 'failed', 0])
const lost = await payout('demo', 'open, lost', '0123456789')
openPayout('processing, lost on its way', lost, ['processing', 'completed', 1])
await keyed('demo', `${unheard.path}/refund`, undefined, 'refund, lost on its way')
open('recall lost on its way', unheard, ['captured', 'refunded', 1])
for (const { caller, path, was, what } of frozen.open) {
  const { status } = expect(await as(caller).request('GET', path), 200)
  if (status !== was) throw new Error(`${what} is ${String(status)}, not ${was}`)
}
const keyStatuses: readonly [string, number][] = [
  ['demo', 200],
  ['acme', 200],
  ['acme revoked', 401],
  ['umbrella', 200],
]
for (const [caller, status] of keyStatuses) {
  const answer = await as(caller).request('GET', '/v1/balances')
  expect(answer, status)
  frozen.keys.push({ caller, status })
}
const lastEvent = async (): Promise<number> => {
  for (let after = 0; ;) {
    const page = expect(await as('demo').request('GET', `/v1/events?after=${after}&limit=100`), 200)
    after = Number(page['next_after'])
    if (page['has_more'] !== true) return after
  }
}
const numbers = {
  lastEvent: await lastEvent(),
  discrepancies: { open: await discrepancies(), resolved: await discrepancies('--resolved') },
}
// They would process buffered requests before they exit.
const still = ['rail', 'nats'].map((name) => stack!.pidOf(name))
await stack!.stop()
for (const pid of still) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
const allDue = plus(systemClock.now(), MINUTE + 5 * SECOND)
say('  until all of its timers are due')
await eventually('all timers are due', () => systemClock.now() > allDue, 2 * MINUTE, SECOND)
const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: projectRoot() }).toString()
pack(dataDir, args.out, args.name, {
  revision: revision.trim(),
  frozenAt: toRfc3339(systemClock.now()),
  callers,
  ...frozen,
  ...numbers,
})
rmSync(dataDir, { recursive: true, force: true })
say(`${args.name}: made in ${Math.round((systemClock.now() - STARTED_AT) / SECOND)} s`)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
