/** Calls send the events that the tables of the guide name, and every type can be triggered. */
import t from 'tap'
import { ROUTES } from '../../gateway/app.js'
import { EVENT_TYPES } from '../../src/base/event_types.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { pathOf } from '../support/lifecycle.js'
import { eventsAfter } from '../support/pages.js'
import { withKey } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { wholePartnerGuide } from '../support/partner_guide.js'
import { anIntent, payeeOf, payoutBody, scanOf, sessionOf } from '../support/requests.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

type EventType = (typeof EVENT_TYPES)[number]

const guide = wholePartnerGuide()
const stack = await startStack({ t, dataDir: tempFolder(t), settings: { RAIL_DELAY_MS: '20' } })
const { partner } = stack
const receiver = await stack.receiver()

/** The code of the guide. */
const REFUSES_REFUNDS = /refuses refunds: `([0-9A-Z]+)`/.exec(guide)?.[1] ?? ''

const post = async (path: string, body?: object, key?: string): Promise<Record<string, string>> => {
  const answer = await partner.request('POST', path, body, key === undefined ? {} : withKey(key))
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body as Record<string, string>
}
const create = (user: string) =>
  post('/v1/payment_intents', { ...anIntent(), partner_user_id: user }, `create ${user}`)
const captured = async (key: string): Promise<string> => {
  const { id } = await payByQr(partner, key)
  await untilStatus(partner, pathOf(id), 'captured')
  return id
}
const payTo = (account: string, key: string): Promise<string> =>
  payOut(partner, key, { beneficiary: payeeOf(account) })

const TRIGGERS: Readonly<Record<EventType, () => Promise<unknown>>> = {
  'payment_intent.authorized': () => payByQr(partner, 'authorized'),
  'payment_intent.captured': () => captured('captured'),
  'payment_intent.failed': () => payByQr(partner, 'failed', { partner_user_id: 'user+fail' }),
  'payment_intent.expired': () => create('user+expire'),
  'payment_intent.cancelled': async () => {
    const { intent_id: id = '' } = await create('cancelled')
    await post(`${pathOf(id)}/cancel`)
  },
  'payment_intent.refunded': async () => {
    await post(`${pathOf(await captured('refunded'))}/refund`, undefined, 'refund 1')
  },
  'payment_intent.refund_failed': async () => {
    const { intent_id: id = '', session_token: token = '' } = await create('not refunded')
    const app = partner.session(token)
    const scan = { qr_payload: REFUSES_REFUNDS, local_amount_minor_units: '36000' }
    t.equal((await app.request('POST', `${pathOf(id)}/scan`, scan)).status, 200)
    await app.request('POST', `${pathOf(id)}/confirm`, undefined, withKey('confirm 1'))
    await untilStatus(partner, pathOf(id), 'captured')
    await post(`${pathOf(id)}/refund`, undefined, 'refund 2')
  },
  'payout.created': () => payOut(partner, 'created'),
  'payout.processing': () => payOut(partner, 'processing'),
  'payout.completed': () => payOut(partner, 'completed'),
  'payout.failed': () => payTo('9990000001', 'failed payout'),
  'payout.reversed': () => payTo('9990000005', 'reversed payout'),
  'balance.low': () => payOut(partner, 'low', { reference: 'sandbox:balance_low' }),
  'webhook_endpoint.disabled': async () => {
    const other = await stack.receiver()
    await post(`/v1/webhook_endpoints/${other.endpointId}/disable`)
  },
  'webhook_endpoint.deliveries_dead': async () => {
    await stack.receiver(() => 400)
    await payOut(partner, 'refused delivery')
  },
  'webhook_endpoint.test': () => post(`/v1/webhook_endpoints/${receiver.endpointId}/test`),
}

let after = 0
/** The types of the events since the last call. */
async function newTypes(): Promise<string[]> {
  const events = await eventsAfter(partner, after)
  after = events.at(-1)?.sequence ?? after
  return events.map(({ event }) => event.type)
}

t.test('the guide has the events of every call that changes something', async (t) => {
  const [, table = ''] = /\| Call \| Event \| .+\n\|(?:---\|)+\n((?:\|.*\n)+)/.exec(guide) ?? []
  const rows = table.trim().split('\n')
  const calls = rows.map((row) => /^\| `([^`]+)` \|/.exec(row)?.[1])
  const changes = ROUTES.filter(({ auth, method }) => auth !== 'none' && method !== 'GET')
  t.same(calls.sort(), changes.map(({ method, path }) => `${method} ${path}`).sort())
  const named = [...table.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type = '']) => type)
  const others = ['balance.low', 'webhook_endpoint.deliveries_dead']
  t.same([...new Set([...named, ...others])].sort(), [...EVENT_TYPES].sort())
})

t.test('creates and changes without an event in the table send none', async (t) => {
  const endpoint = `/v1/webhook_endpoints/${receiver.endpointId}`
  const { intent_id: id = '', session_token: token = '' } = await create('quiet')
  await post(`${pathOf(id)}/session`, sessionOf(anIntent({ partner_user_id: 'quiet' })))
  const app = partner.session(token)
  t.equal((await app.request('POST', `${pathOf(id)}/scan`, scanOf())).status, 200)
  const { id: beneficiary = '' } = await post('/v1/beneficiaries', payoutBody().beneficiary!)
  await post(`/v1/beneficiaries/${beneficiary}/disable`)
  await post('/v1/funding/deposits', { amount: '100', currency: 'USD' })
  const change = await partner.request('PATCH', endpoint, { description: 'quiet' })
  t.equal(change.status, 200)
  await post(`${endpoint}/rotate_secret`)
  t.same(await newTypes(), [])
})

for (const type of EVENT_TYPES) {
  t.test(`${type} is triggered`, async (t) => {
    await newTypes()
    await TRIGGERS[type]()
    await eventually(type, async () => (await newTypes()).includes(type), 30_000)
    t.pass()
  })
}

t.test('the guide has a trigger for every event type, and no other type', async (t) => {
  const [, table = ''] = /\| Event \| How \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(guide) ?? []
  const listed = table
    .split('\n')
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([a-z_.]+)`/g)])
    .map(([, type]) => type)
  t.same(listed.sort(), [...EVENT_TYPES].sort())
})

t.test('the books of all triggers are clean', async (t) => {
  await assertCleanAudit(t, stack.dataDir)
})
