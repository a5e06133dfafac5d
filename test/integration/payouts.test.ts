/**
 * Routes around payouts on a real stack: beneficiaries, lists, simulated outcomes, deposits,
 * conversions.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Sandbox } from '../../src/operations/calls/sandbox.js'
import { assertCleanAudit } from '../support/audit.js'
import { operatorAccessOf } from '../support/callers.js'
import { operatorsOf } from '../support/operators.js'
import { type AnyRow, type ListPage, pageAt, pagesOf, wholeList } from '../support/pages.js'
import { acceptedAnswer, openCalls } from '../support/rpc_calls.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { idIn, payOut, requestPayout, untilStatus } from '../support/payments.js'
import { aPayout, largestMetadata, payeeOf } from '../support/requests.js'
import { startStack } from '../support/stack.js'

const PRODUCTION = 'api.production.localhost'
const UNKNOWN = '01M7Y8R76ZBRBZPA32270W80C3'

/** Production requires a given master key. */
const masterKeyFile = join(tempFolder(t), 'master.key')
writeFileSync(masterKeyFile, `k1:${'07'.repeat(32)}\n`, { mode: 0o600 })
const stack = await startStack({
  t,
  settings: {
    RAIL_DELAY_MS: '50',
    PRODUCTION_HOSTS: PRODUCTION,
    ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes',
    MASTER_KEY_FILE: masterKeyFile,
    WEBHOOK_ALLOW_PRIVATE: 'false',
  },
})
const { partner } = stack
const { beneficiary } = aPayout()

const refusal = (status: number, code: string): object => ({ status, body: { error: { code } } })

const idsOf = (rows: readonly AnyRow[]): string[] => rows.map(({ id }) => id)

async function availableOf(currency: string): Promise<bigint> {
  const { data } = await pageAt(partner, '/v1/balances')
  const row = data.find((one) => one['currency'] === currency)
  return BigInt((row?.['available'] as string | undefined) ?? '0')
}

t.test('a beneficiary is created, read, listed and disabled', async (t) => {
  const ids: string[] = []
  for (const name of ['one', 'two', 'three']) {
    const created = await partner.request('POST', '/v1/beneficiaries', { ...beneficiary, name })
    t.equal(created.status, 201)
    ids.unshift(idIn(created))
  }
  const [newest = ''] = ids
  const path = `/v1/beneficiaries/${newest}`
  t.match(await partner.request('GET', path), {
    status: 200,
    body: { id: newest, name: 'three', status: 'active', account_last4: '6789' },
  })
  t.same((await pagesOf(partner, '/v1/beneficiaries?limit=2')).map(idsOf), [
    ids.slice(0, 2),
    ids.slice(2),
  ])

  for (const attempt of ['first', 'again']) {
    const disabled = await partner.request('POST', `${path}/disable`)
    t.match(disabled, { status: 200, body: { id: newest, status: 'disabled' } }, attempt)
  }
  const { data } = await pageAt(partner, '/v1/beneficiaries?limit=1')
  t.match(data, [{ id: newest, status: 'disabled' }])
  const { amount, currency, reference } = aPayout()
  const toDisabled = { amount, currency, reference, beneficiary_id: newest }
  t.match(
    await partner.request('POST', '/v1/payouts', toDisabled, withKey('to disabled')),
    refusal(400, 'invalid_beneficiary'),
  )
  for (const [method, suffix] of [['GET', ''] as const, ['POST', '/disable'] as const]) {
    t.match(
      await partner.request(method, `/v1/beneficiaries/ben_${UNKNOWN}${suffix}`),
      refusal(404, 'beneficiary_not_found'),
    )
  }
})

t.test('payouts are listed newest first, with every filter', async (t) => {
  const ids: string[] = []
  for (const reference of ['invoice 1', 'invoice+2 & ฿', 'invoice 3']) {
    ids.unshift(await payOut(partner, `list ${ids.length}`, { reference }))
  }
  const [newest = '', middle = '', oldest = ''] = ids
  for (const id of ids) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  const listed = async (query: string): Promise<string[]> =>
    idsOf((await pageAt(partner, `/v1/payouts?${query}`)).data)

  t.same((await pagesOf(partner, '/v1/payouts?limit=2')).map(idsOf), [[newest, middle], [oldest]])
  t.same(await listed('status=completed'), ids)
  t.same(await listed('status=failed'), [])
  const exactly = new URLSearchParams({ reference: 'invoice+2 & ฿' }).toString()
  t.same(await listed(exactly), [middle])
  t.same(await listed('reference=invoice%201'), [oldest])
  t.same(await listed('reference=invoice'), [], 'no prefix match')

  const { body } = await partner.request('GET', `/v1/payouts/${middle}`)
  const payout = body as { created_at: string; beneficiary: { id: string } }
  t.same((await pageAt(partner, `/v1/payouts?${exactly}`)).data, [body], 'with all members')
  t.same(await listed(`beneficiary_id=${payout.beneficiary.id}`), [middle])
  t.same(await listed(`beneficiary_id=ben_${UNKNOWN}`), [])

  const at = payout.created_at
  t.same(await listed(`created_after=${at}`), [newest], 'the time itself is excluded')
  t.same(await listed(`created_before=${at}`), [oldest])
  const finer = at.replace('Z', '1Z')
  t.same(await listed(`created_before=${finer}`), [middle, oldest])
  const before = new Date(Date.parse(at) - 1).toISOString()
  t.same(await listed(`created_after=${before}&created_before=${finer}`), [middle])
})

t.test('a list rejects unknown parameters and foreign cursors', async (t) => {
  const { next_cursor: cursor } = await pageAt(partner, '/v1/payouts?limit=1')
  const moment = '2026-11-21T00:00:00Z'
  const queries = [
    ...['/v1/payouts?state=failed', '/v1/payouts?limit=1&limit=1', '/v1/payouts?reference=%ff'],
    `/v1/payouts?created_after=${moment}&created_before=${moment}`,
    `/v1/payouts?cursor=${cursor?.replace(/.$/, '!')}`,
    `/v1/payouts?cursor=${cursor}&status=completed`,
    `/v1/beneficiaries?cursor=${cursor}`,
    `/v1/balance_transactions?cursor=${cursor}`,
    ...['/v1/beneficiaries?status=active', '/v1/balance_transactions?limit=0'],
  ]
  for (const path of queries) {
    t.match(await partner.request('GET', path), refusal(400, 'invalid_request'), path)
  }
  t.equal((await partner.request('GET', `/v1/payouts?cursor=${cursor}`)).status, 200)
})

const simulate = (by: Partner, id: string, outcome: string): Promise<HttpAnswer> =>
  by.request('POST', `/v1/sandbox/payouts/${id}/simulate`, { outcome })

/** A payout to an account at which payouts stay `processing`. */
async function payOutStuck(key: string): Promise<string> {
  const id = await payOut(partner, key, { beneficiary: payeeOf('9990000008') })
  await untilStatus(partner, `/v1/payouts/${id}`, 'processing')
  return id
}

t.test('a simulated outcome is applied like a rail report', async (t) => {
  const paid = await payOutStuck('stuck, then paid')
  t.match(await simulate(partner, paid, 'completed'), { status: 202, body: { id: paid } })
  await untilStatus(partner, `/v1/payouts/${paid}`, 'completed')
  t.match(await simulate(partner, paid, 'failed'), refusal(409, 'outcome_not_possible'))
  t.equal((await simulate(partner, paid, 'reversed')).status, 202)
  await untilStatus(partner, `/v1/payouts/${paid}`, 'reversed')

  const failed = await payOutStuck('stuck, then failed')
  t.equal((await simulate(partner, failed, 'failed')).status, 202)
  t.match(await untilStatus(partner, `/v1/payouts/${failed}`, 'failed'), { failed_at: /Z$/ })
  t.same(idsOf((await pageAt(partner, '/v1/payouts?status=failed')).data), [failed])
  t.match(await simulate(partner, `pout_${UNKNOWN}`, 'failed'), refusal(404, 'payout_not_found'))
})

t.test('a deposit is credited at once, and once per key', async (t) => {
  const deposit = { currency: 'THB', amount: '125000' }
  const create = (body: object, key: string): Promise<HttpAnswer> =>
    partner.request('POST', '/v1/funding/deposits', body, withKey(key))
  const before = await availableOf('THB')
  const first = await create(deposit, 'deposit')
  t.match(first, { status: 201, body: deposit })
  t.equal(await availableOf('THB'), before + 125_000n)
  const again = await create(deposit, 'deposit')
  t.same([again.status, again.text], [201, first.text])
  t.match(
    await create({ ...deposit, amount: '1' }, 'deposit'),
    refusal(409, 'idempotency_conflict'),
  )
  t.equal(await availableOf('THB'), before + 125_000n)
  const { data } = await pageAt(partner, '/v1/balance_transactions?limit=1')
  t.match(data, [{ currency: 'THB', amount: '125000', account: 'available' }])
  t.match(data, [{ balance: String(before + 125_000n) }])

  t.equal((await partner.request('POST', '/v1/funding/deposits', deposit)).status, 201)
  t.equal(await availableOf('THB'), before + 250_000n, 'each request without a key is a deposit')
})

t.test('a quote is converted once, and its key replays the conversion', async (t) => {
  const request = { sell_currency: 'THB', sell_amount: '36000', buy_currency: 'USD' }
  const quoted = await partner.request('POST', '/v1/fx/quotes', request)
  t.match(quoted, { status: 201, body: { ...request, expires_at: /Z$/ } })
  const { id, buy_amount } = quoted.body as { id: string; buy_amount: string }
  t.ok(BigInt(buy_amount) > 0n)
  const convert = (quote_id: string, key: string): Promise<HttpAnswer> =>
    partner.request('POST', '/v1/fx/conversions', { quote_id }, withKey(key))

  const [baht, dollars] = [await availableOf('THB'), await availableOf('USD')]
  const first = await convert(id, 'convert')
  t.match(first, { status: 201, body: { ...request, quote_id: id, buy_amount } })
  const again = await convert(id, 'convert')
  t.same([again.status, again.text], [201, first.text])
  t.match(await convert(id, 'convert once more'), refusal(409, 'quote_expired'))
  t.match(await convert(`fxq_${UNKNOWN}`, 'convert'), refusal(409, 'idempotency_conflict'))
  t.match(await convert(`fxq_${UNKNOWN}`, 'of none'), refusal(404, 'fx_quote_not_found'))
  t.equal(await availableOf('THB'), baht - 36_000n)
  t.equal(await availableOf('USD'), dollars + BigInt(buy_amount))

  const tooMuch = { ...request, sell_amount: '9000000000000000' }
  const large = await partner.request('POST', '/v1/fx/quotes', tooMuch)
  const { id: largeId } = large.body as { id: string }
  t.match(await convert(largeId, 'too much'), refusal(422, 'insufficient_balance'))
  const same = { ...request, buy_currency: 'THB' }
  t.match(await partner.request('POST', '/v1/fx/quotes', same), refusal(400, 'invalid_request'))
  const unknown = { ...request, buy_currency: 'ZZZ' }
  t.match(
    await partner.request('POST', '/v1/fx/quotes', unknown),
    refusal(422, 'unsupported_currency'),
  )
})

t.test('every movement is listed once at every page size', async (t) => {
  const inOne = await wholeList(partner, '/v1/balance_transactions?limit=100')
  const inMany = await pagesOf(partner, '/v1/balance_transactions?limit=7')
  t.same(inMany.flat(), inOne)
  t.ok(inMany.length > 1)
  t.equal(new Set(idsOf(inOne)).size, inOne.length)
  const sum = inOne
    .filter(({ currency, account }) => currency === 'THB' && account === 'available')
    .reduce((total, { amount }) => total + BigInt(amount as string), 0n)
  t.equal(sum, await availableOf('THB'))
})

t.test('pages of the largest payouts end early, and other requests are served', async (t) => {
  const reference = 'the largest'
  const largest = { reference, metadata: largestMetadata() }
  const ids: string[] = []
  for (let i = 0; i < 50; i++)
    ids.unshift(idIn(await requestPayout(partner, `largest ${i}`, largest)))
  const query = new URLSearchParams({ reference, limit: '100' }).toString()
  const list = pagesOf(partner, `/v1/payouts?${query}`)
  const gets = ids.map((id) => partner.request('GET', `/v1/payouts/${id}`))
  for (const { status } of await Promise.all(gets)) t.equal(status, 200)
  const pages = await list
  t.ok(pages.length > 1)
  t.same(idsOf(pages.flat()), ids)
})

t.test('production lists nothing of the sandbox', async (t) => {
  const live = await productionPartner()
  for (const path of ['/v1/payouts', '/v1/beneficiaries', '/v1/balance_transactions']) {
    const answer = await live.request('GET', path)
    t.match(answer, { status: 200, body: { next_cursor: null } }, path)
    t.same((answer.body as ListPage).data, [], path)
  }
  const [{ id } = { id: '' }] = (await pageAt(partner, '/v1/payouts?limit=1')).data
  t.match(await simulate(live, id, 'reversed'), refusal(400, 'invalid_request'))
  t.match(
    await live.request('POST', '/v1/funding/deposits', { currency: 'THB', amount: '1' }),
    refusal(400, 'invalid_request'),
  )
  const [{ id: known } = { id: '' }] = (await pageAt(partner, '/v1/beneficiaries?limit=1')).data
  t.match(
    await live.request('GET', `/v1/beneficiaries/${known}`),
    refusal(404, 'beneficiary_not_found'),
  )
})

t.test('sandbox account numbers have no effect in production', async (t) => {
  const live = await productionPartner()
  await openProduction(stack.sandbox)
  for (const account of ['9990000001', '9990000005', '9990000006', '9990000008']) {
    const id = await payOut(live, account, { beneficiary: payeeOf(account) })
    t.ok(await untilStatus(live, `/v1/payouts/${id}`, 'completed'), account)
  }
})

t.test('the audit finds no violation', (t) => assertCleanAudit(t, stack.dataDir))

async function productionPartner(): Promise<Partner> {
  const operators = operatorsOf(stack)
  const key = await operators.issueKey(stack.sandbox.partner_id, 'production')
  operators.close()
  return partnerOf(stack.sandbox, { ...key, host: PRODUCTION })
}

/** Sets a route and a prefund in production. */
async function openProduction({ partner_id }: Sandbox) {
  const { address, token } = operatorAccessOf(stack)
  const { call, close } = openCalls(address, token())
  const actor = { reason: 'production payouts' }
  const tenant = { partner_id, environment: 'production' }
  const route = {
    ...{ tenant, country: 'VN', currency: 'VND', enabled: true, handling: 'on_top' },
    ...{ platform_fixed: '0', platform_bps: 0, rail_fixed: '0', refund_fees_on_reversal: true },
  }
  const prefund = { currency: 'VND', amount: '100000000', idempotency_key: 'production' }
  await acceptedAnswer(call('Operator/SetRoute', { actor, route }))
  await acceptedAnswer(call('Operator/Deposit', { actor, tenant, ...prefund }))
  close()
}
