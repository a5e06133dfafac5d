/**
 * Freezes a DATA_DIR of the revision it is compiled from: `--name NAME [--out FOLDER]`.
 *
 * Owns: bringing a stack into every state, in three runs. Does not own: the calls and the answers
 * kept (recorder, entities), the format (frozen), the check of an archive (golden.test).
 *
 * - Timers are short (recorder) and the archive is made after the last one is due, so the final
 *   state of an open entity does not depend on when the test runs.
 * - Endpoints end with an unused address; the test replaces it by its own.
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
import { programOptions } from '../../src/process/program_options.js'
import { projectRoot } from '../../src/base/project_root.js'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from '../support/eventually.js'
import { operatorCli } from '../support/operator_cli.js'
import { operatorsOf } from '../support/operators.js'
import { eventsAfter } from '../support/pages.js'
import { untilStatus } from '../support/payments.js'
import { isAlive } from '../support/program.js'
import { aPayout } from '../support/requests.js'
import { atEndpoint, createEntities, idIn, type Paid } from './entities.js'
import { goldenFolder, pack } from './frozen.js'
import { createRecorder, expect, say } from './recorder.js'
import { PRODUCTION_SETTINGS, SANDBOX_SETTINGS } from './settings.js'

const args = programOptions('freeze', 'Freezes a DATA_DIR that every later revision must open.', {
  name: { value: 'NAME', about: 'name of the archive: the version', required: true },
  out: { value: 'FOLDER', about: 'folder of the archive', fallback: goldenFolder() },
})

const NOWHERE = 'http://127.0.0.1:1/hooks?from=causeway'
const BECAUSE = ['--reason', 'a frozen state']
const EVIDENCE = ['--evidence', 'statement line 1']
const STARTED_AT = systemClock.now()

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-freeze-'))
const ops = operatorCli(dataDir)
const recorder = createRecorder(dataDir)
const { callers, frozen, running, start, as, addCaller, keyed, settled, read, list, clean } =
  recorder
const { created, quoted, confirmed, payout, reachedRail, endpoint, rotate } = createEntities(
  dataDir,
  recorder,
)

say('run 1: settled states of the sandbox')
const natsPort = await freePort('127.0.0.1')
await start({ ...SANDBOX_SETTINGS, RAIL_DELAY_MS: '50', NATS_PORT: String(natsPort) })
const operators = operatorsOf(running())
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

for (const name of ['acme', 'umbrella']) addCaller(name, await operators.createPartner(name))
addCaller('acme revoked', callers['acme']!)
const acmeKey = await operators.issueKey('acme', 'sandbox')
await operators.revokeKey(callers['acme revoked']!.keyId)
addCaller('acme', acmeKey)
const isAccepted = async (caller: string): Promise<boolean> =>
  (await as(caller).request('GET', '/v1/balances')).status === 200
for (const name of ['acme', 'umbrella'])
  await eventually(`${name} may call`, () => isAccepted(name))
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
const ofAcme = await payout('acme', 'over its own route', '0123456789')

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
running().kill('rail', 'SIGSTOP')
for (const { path } of contradicted) {
  await eventually(
    'its outcome is unknown',
    async () => JSON.stringify(await ops.json('outcomes', 'unknown')).includes(idIn(path)),
    30_000,
    200,
  )
  await ops.json('intent', 'resolve', idIn(path), 'failed', ...BECAUSE, ...EVIDENCE)
}
running().kill('rail', 'SIGCONT')
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
await eventually('the message is poison', poison, 30_000, 200)
const got = (): boolean => [...ok.at.events.values()].length > 20
await eventually('deliveries arrived', got)

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
await running().stop()

say('run 2: a production tenant, sealed with a second master key')
const keyFile = join(dataDir, 'master.key')
const formerKey = readFileSync(keyFile, 'utf8')
writeFileSync(keyFile, `k2:${'2b'.repeat(32)}\n${formerKey}`)
await start({ ...PRODUCTION_SETTINGS, RAIL_DELAY_MS: '50' })
const live = await ops.json('key', 'issue', 'acme', 'production', ...BECAUSE)
addCaller('acme live', { keyId: String(live['key_id']), secret: String(live['secret']) }, true)
await eventually('acme may call production', () => isAccepted('acme live'))
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
await running().stop()

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
running().kill('rail', 'SIGSTOP')
running().kill('nats', 'SIGSTOP')
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
const numbers = {
  lastEvent: (await eventsAfter(as('demo'), 0)).at(-1)?.sequence ?? 0,
  discrepancies: { open: await discrepancies(), resolved: await discrepancies('--resolved') },
}
// They would process buffered requests before they exit.
const still = ['rail', 'nats'].map((name) => running().pidOf(name))
await running().stop()
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
