/**
 * Payments of a year ago leave the books of a running stack for an archive: what operators and
 * partners then see, and the audit of both. The clock of the first stack, and of its partner, is a
 * year behind; each payment is made by all processes.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DAY, plus, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { createRetention } from '../../src/processor/background/retention.js'
import { assertCleanAudit, auditOf } from '../support/audit.js'
import { allEventsAreSettled, storeSettings } from '../support/books.js'
import { clockSkew } from '../support/clock_skew.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { printed, refused } from '../support/operator_cli.js'
import { withKey, type HttpAnswer } from '../support/partner.js'
import { payByQr, payOut, requestPayout, untilStatus } from '../support/payments.js'
import { anIntent } from '../support/requests.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { createWorld, MASTER } from '../support/world.js'

const YEAR_MS = 365 * DAY
const REASON = ['--reason', 'a year is over']

interface Paid {
  readonly intents: readonly string[]
  readonly payouts: readonly string[]
}

/** Payments by a stack and a partner whose clocks are a year behind. */
async function payAYearAgo(dataDir: string): Promise<Paid> {
  const machine = Date.now.bind(Date)
  Date.now = () => machine() - YEAR_MS
  try {
    const settings = { RAIL_DELAY_MS: '5', ...clockSkew(-YEAR_MS) }
    const stack = await startStack({ dataDir, settings })
    const partner = stack.partner
    const intents = ['one', 'two'].map(async (key) => (await payByQr(partner, key)).id)
    const payouts = ['pay 1', 'pay 2', 'pay 3'].map((key) => payOut(partner, key))
    const paid = { intents: await Promise.all(intents), payouts: await Promise.all(payouts) }
    for (const id of paid.intents)
      await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
    for (const id of paid.payouts) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
    await eventually('the events are settled', () => allEventsAreSettled(dataDir))
    await stack.stop()
    return paid
  } finally {
    Date.now = machine
  }
}

/** The idempotency keys of QR payments end 31 days after the day of the first run. */
async function endKeys(dataDir: string): Promise<void> {
  const startedAt = systemClock.now() - YEAR_MS + DAY
  const home = { testdir: () => dataDir, teardown: () => undefined }
  const world = await createWorld(home, { startedAt })
  const retention = createRetention({
    keep: { events: 0, payoutKeys: 0, otherKeys: 31, requests: 0 },
    ...{ clock: world.clock, lists: world.store.lists, memory: world.memory() },
    isSteady: () => true,
    pipeline: { submit: (work) => world.submit(work) },
    log: SILENT_LOG,
    pauseMs: 0,
  })
  await retention.run()
  world.clock.pass(33 * DAY)
  await retention.run()
  await world.close()
}

const dataDir = tempFolder(t)
const key = `${MASTER.kid}:${MASTER.bytes.toString('hex')}\n`
writeFileSync(join(dataDir, FILES.masterKey), key, { mode: 0o600 })
const { intents, payouts } = await payAYearAgo(dataDir)
await endKeys(dataDir)
const stack = await startStack({ t, dataDir })
const { partner, ops } = stack
const young = await payOut(partner, 'young')
await untilStatus(partner, `/v1/payouts/${young}`, 'completed')
const folder = join(dataDir, 'archive')
mkdirSync(folder, { mode: 0o700 })
const file = join(folder, 'payments.db')
const halfAYearAgo = toRfc3339(plus(systemClock.now(), -190 * DAY))

t.test('ended payments of long ago move, and the trial balance stays', async (t) => {
  const before = await ops.json('trial-balance')
  const archive = ['archive', file, '--before', halfAYearAgo, ...REASON]
  t.match(
    await ops(...archive),
    printed(`${intents.length + payouts.length} payments moved to ${file}; 0 stay`),
  )
  t.match(await ops(...archive), printed('0 payments moved'), 'a second run')
  t.same(await ops.json('trial-balance'), before)
  const { data } = await ops.json('actions')
  t.match((data as object[])[0], { action: 'archive_payments', reason: 'a year is over' })
})

t.test('operators are told where a payment is', async (t) => {
  const told = (id: string) => ({
    exitCode: 1,
    err: `${id} has left the books for the archive ${file}.\n`,
  })
  for (const [kind, ids] of [
    ['intent', intents],
    ['payout', payouts],
  ] as const) {
    for (const id of ids) {
      const { data } = await ops.json('find', id)
      t.match(data, [{ id, state: 'archived', archive: file, tenant: 'demo_sandbox' }])
      t.match(await ops('find', id), printed(file))
      t.match(await ops(kind, 'show', id), told(id))
      const reverse = [kind, 'reverse', id, '--evidence', 'a letter', ...REASON]
      t.match(await ops(...reverse), told(id))
    }
  }
  const unknown = 'pout_01KA00000000000000000000000'
  t.match(await ops('payout show', unknown), refused('No such payout.\n'))
  t.match(await ops('payout show', young), printed('completed'))
})

t.test('partners have the young payment only, and a key is not paid twice', async (t) => {
  const idsIn = async (path: string): Promise<readonly string[]> => {
    const { body } = await partner.request('GET', path)
    return (body as { data: { id?: string; intent_id?: string }[] }).data.map(
      ({ id, intent_id: intent }) => id ?? intent ?? '',
    )
  }
  t.same(await idsIn('/v1/payouts'), [young])
  t.same(await idsIn('/v1/payment_intents'), [])
  t.same(await idsIn('/v1/payment_intents?partner_user_id=user%20one'), [])

  const gone = (answer: HttpAnswer, code: string): void => {
    t.match(answer, { status: 404, body: { error: { code } } })
  }
  const [intent = ''] = intents
  const [payout = ''] = payouts
  gone(await partner.request('GET', `/v1/payouts/${payout}`), 'payout_not_found')
  const path = `/v1/payment_intents/${intent}`
  gone(await partner.request('GET', path), 'payment_intent_not_found')
  const refund = await partner.request('POST', `${path}/refund`, undefined, withKey('refund'))
  gone(refund, 'payment_intent_not_found')
  gone(await partner.request('POST', `${path}/cancel`), 'payment_intent_not_found')

  t.equal(await payOut(partner, 'pay 1'), payout, 'the key of an archived payout answers')
  t.match(await requestPayout(partner, 'pay 1', { amount: '126000', reference: 'another' }), {
    ...{ status: 409, body: { error: { code: 'duplicate_payout' } } },
  })
  const request = { ...anIntent(), partner_user_id: 'user one' }
  const again = withKey('create one')
  const made = await partner.request('POST', '/v1/payment_intents', request, again)
  t.equal(made.status, 201, 'the key of an archived intent has ended')
  t.not((made.body as { intent_id: string }).intent_id, intent)
})

t.test('the audit reads books and archive as one', async (t) => {
  await eventually('the events are settled', () => allEventsAreSettled(dataDir))
  await stack.stop()
  const report = await assertCleanAudit(t, dataDir)
  t.match(report, /ok +archive_has_what_left +\(5 rows/)

  const elsewhere = join(dataDir, 'elsewhere.db')
  renameSync(file, elsewhere)
  const lost = await auditOf(dataDir)
  t.match(lost, { clean: false, report: 'archive_has_what_left' })
  const found = await auditOf(dataDir, storeSettings(dataDir), ['--archive', elsewhere])
  t.ok(found.clean, found.report)
  renameSync(elsewhere, join(folder, 'payments.db'))
  const inFolder = await auditOf(dataDir, storeSettings(dataDir), ['--archive', folder])
  t.ok(inFolder.clean, inFolder.report)
})
