/**
 * A support case: `find` by every kind of id, the log of a failed payment, and a search of all
 * files for values that must not be in them.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bearer } from '../../src/grpc/bearer.js'
import { systemClock } from '../../src/base/clock.js'
import { newId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { storeFiles } from '../support/books.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { withKey, type HttpAnswer } from '../support/partner.js'
import { idIn, requestPayout } from '../support/payments.js'
import { anIntent, payeeOf, promptPayQr } from '../support/requests.js'
import { acceptedAnswer, callsTo } from '../support/rpc_calls.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const ACCOUNT = '99900073518264920001' // a sandbox account that is closed
const MOBILE = '0066879135246'
const NAME = 'Marked Beneficiary Zq7'

const THB_7 = { currency: 'THB', amount: '7' }

interface Found {
  readonly actions: readonly { readonly action: string; readonly subject: string }[]
  readonly data: readonly {
    readonly id: string
    readonly kind: string
    readonly tenant: string
    readonly state: string
    readonly found_by: string
    readonly request_id?: string
    readonly failure_code?: string
    readonly events: readonly {
      readonly id: string
      readonly type: string
      readonly cause: string
      readonly request_id?: string
      readonly deliveries: readonly { readonly id: string; readonly state: string }[]
    }[]
  }[]
}

const dataDir = tempFolder(t)
const stack = await startStack({ t, dataDir, settings: { RAIL_DELAY_MS: '20' } })
const { partner, ops } = stack
const receiver = await stack.receiver(() => 404)
const find = async (id: string): Promise<Found> => (await ops.json('find', id)) as unknown as Found

const requestIdOf = ({ headers }: HttpAnswer): string => String(headers['x-request-id'])

const accepted = await requestPayout(partner, 'key of the case', {
  ...{ reference: 'case 4711', beneficiary: payeeOf(ACCOUNT, { name: NAME }) },
})
const payout = idIn(accepted)
const payoutRequest = requestIdOf(accepted)

const user = { ...anIntent(), partner_user_id: 'somchai@example' }
const created = await partner.request(
  ...(['POST', '/v1/payment_intents', user, withKey('intent of the case')] as const),
)
const { intent_id: intent, session_token: token } = created.body as {
  intent_id: string
  session_token: string
}
const app = partner.session(token)
const qr = promptPayQr(MOBILE)
const scanned = await app.request('POST', `/v1/payment_intents/${intent}/scan`, {
  ...{ qr_payload: qr, local_amount_minor_units: '36000' },
})
const confirmed = await app.request(
  'POST',
  `/v1/payment_intents/${intent}/confirm`,
  undefined,
  withKey('confirm of the case'),
)
await eventually('the payout failed, its webhook is dead', async () => {
  const { data } = await find(payout)
  const last = data[0]?.events.at(-1)
  return last?.type === 'payout.failed' && last.deliveries[0]?.state === 'dead'
})
await eventually(
  'the intent is captured',
  async () => (await find(intent)).data[0]?.state === 'captured',
)

t.test('find accepts every kind of id', async (t) => {
  const [byId] = (await find(payout)).data
  t.match(byId, {
    ...{ id: payout, kind: 'payout', tenant: 'demo_sandbox', state: 'failed', found_by: 'id' },
    ...{ request_id: payoutRequest, failure_code: 'account_closed' },
    events: [
      { type: 'payout.created', cause: 'request', request_id: payoutRequest },
      { type: 'payout.processing', cause: 'request', request_id: payoutRequest },
      { type: 'payout.failed', cause: 'rail', deliveries: [{ state: 'dead' }] },
    ],
  })
  const failed = byId!.events[2]!
  for (const [text, foundBy] of [
    [payoutRequest, 'request_id'],
    ['case 4711', 'reference'],
    ['key of the case', 'idempotency_key'],
    [failed.id, 'event_id'],
    [failed.deliveries[0]!.id, 'delivery_id'],
  ] as const) {
    const { data } = await find(text)
    const hit = data.find(({ id }) => id === payout)
    t.match(hit, { found_by: foundBy, state: 'failed' }, foundBy)
  }
  for (const [text, foundBy] of [
    [intent, 'id'],
    [requestIdOf(created), 'request_id'],
    [requestIdOf(scanned), 'request_id'],
    [requestIdOf(confirmed), 'request_id'],
    ['intent of the case', 'idempotency_key'],
    ['somchai@example', 'partner_user_id'],
  ] as const) {
    const { data } = await find(text)
    t.match(data, [{ id: intent, found_by: foundBy, state: 'captured' }], text)
  }
  const beneficiaryId = (accepted.body as { beneficiary: { id: string } }).beneficiary.id
  t.match(await find(beneficiaryId), {
    data: [{ kind: 'beneficiary', state: 'active', request_id: payoutRequest }],
  })
  t.match(await find(receiver.endpointId), {
    data: [{ kind: 'webhook_endpoint', state: 'enabled' }],
  })
})

t.test('find prints readable lines, and says when it finds nothing', async (t) => {
  const { out, exitCode } = await ops('find', payoutRequest)
  t.equal(exitCode, 0)
  t.match(out, `payout ${payout}\n`)
  t.match(out, 'failed (account_closed)')
  t.match(out, new RegExp(`payout\\.failed +evt_\\w+ +rail`))
  t.match(out, /dead +dlv_\w+ +to we_\w+, 1 attempts, http_404/)
  const nothing = await ops('find', 'no such id')
  t.equal(nothing.exitCode, 1)
  t.match(nothing.out, 'Nothing found for no such id in the books.')
  const read = await partner.request('GET', '/v1/balances')
  await eventually('a read is in no book, and its log line is found', async () => {
    const unknown = await ops('find', requestIdOf(read))
    const [first, , line = ''] = unknown.out.split('\n')
    t.match(first, /^Nothing found for req_\w+ in the books\.$/)
    return /gateway +request served .* status=200 /.test(line)
  })
})

t.test('find accepts the request id of an operator', async (t) => {
  const { address, token } = operatorAccessOf(stack)
  const call = callsTo(t, address, token())
  const actor = { reason: 'a test' }
  const tenant = { partner_id: 'acme', environment: 'sandbox' }
  const endpoint = { endpoint_id: receiver.endpointId }
  const { data: routes } = await acceptedAnswer(call<{ data: object[] }>('Operator/ListRoutes'))
  const named = { name: 'an_adapter' }
  for (const [rpc, request, action] of [
    ['Operator/CreatePartner', { partner_id: 'acme' }, 'create_partner'],
    ['Operator/IssueKey', { tenant }, 'issue_key'],
    ['Operator/Deposit', { tenant, ...THB_7, idempotency_key: 'd' }, 'deposit'],
    ['Operator/SetRate', { currency: 'THB', rate: '36' }, 'set_rate'],
    ['Operator/SetRoute', { route: routes[0] }, 'set_route'],
    ['Operator/SetBalanceAlert', { tenant, currency: 'THB', threshold: '1' }, 'set_balance_alert'],
    ['PartnerAdmin/SetAllowedIps', { partner_id: 'acme', values: [] }, 'partner_allowed_ips'],
    ['PartnerAdmin/SetPackages', { partner_id: 'acme', values: [] }, 'partner_packages'],
    ['PartnerAdmin/SetCorridors', { partner_id: 'acme', values: [] }, 'partner_corridors'],
    ['PartnerAdmin/SetRateLimit', { partner_id: 'acme', per_second: 9 }, 'partner_rate_limit'],
    ['PartnerAdmin/Suspend', { partner_id: 'acme' }, 'partner_suspend'],
    ['PartnerAdmin/Resume', { partner_id: 'acme' }, 'partner_resume'],
    ['WebhookAdmin/DisableEndpoint', endpoint, 'webhook_endpoint_disabled'],
    ['WebhookAdmin/EnableEndpoint', endpoint, 'webhook_endpoint_enabled'],
    ['Callers/Create', { ...named, kind: 'service', partners: ['acme'] }, 'create_caller'],
    ['Callers/Rotate', named, 'rotate_caller'],
    ['Callers/Revoke', named, 'revoke_caller'],
  ] as const) {
    const requestId = newId('request', systemClock.now(), systemRandom())
    const metadata = bearer(token())
    metadata.set('x-request-id', requestId)
    await acceptedAnswer(call(rpc, { actor, ...request }, metadata))
    t.match(await find(requestId), { actions: [{ action }] }, action)
    if (action === 'deposit') t.match(await find(requestId), { data: [{ kind: 'deposit' }] })
  }
})

const recordsOf = (process: string): Record<string, unknown>[] =>
  stack
    .logOf(process)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

t.test('the log has every step of the failed payout', async (t) => {
  const lines = recordsOf('processor').filter((record) => record['entity_id'] === payout)
  t.match(lines, [
    { message: 'transition', from: null, to: 'created', request_id: payoutRequest },
    { from: 'created', to: 'processing', cause: 'request', request_id: payoutRequest },
    { from: 'processing', to: 'failed', cause: 'rail', failure_code: 'account_closed' },
  ])
  await eventually('the dead deliveries are logged', () => {
    const dead = recordsOf('webhooks').filter(({ message }) => message === 'delivery is dead')
    return dead.some(
      ({ event_type, reason }) => event_type === 'payout.failed' && reason === 'http_404',
    )
  })
})

t.test('planted values are in no file', async (t) => {
  const { secret } = (
    await partner.request('POST', `/v1/webhook_endpoints/${receiver.endpointId}/rotate_secret`, {})
  ).body as { secret: string }
  t.match(secret, /^whsec_.{20}/)
  const planted = {
    'signing secret': stack.sandbox.signing_secret,
    'session token': token,
    'session token, its signature': token.slice(token.lastIndexOf('.') + 1),
    'webhook secret': secret,
    'account number': ACCOUNT,
    'QR payload': qr,
    'mobile number in the QR payload': MOBILE,
  }
  assertNowhere(t, planted)
  t.equal(await stack.stop(), 0)
  assertNowhere(t, planted)
  const logs = filesBelow(join(dataDir, 'logs'))
  for (const file of logs) t.notOk(readFileSync(file).includes(NAME), `${file}: the name`)
})

/** `sandbox.json` is the place of the sandbox partner's credentials. */
function assertNowhere(t: Test, planted: Readonly<Record<string, string>>): void {
  const files = filesBelow(dataDir).filter((file) => !file.endsWith('sandbox.json'))
  for (const wanted of [...storeFiles(), 'rail.db', 'processor.log', '.blk']) {
    t.ok(
      files.some((file) => file.includes(wanted)),
      `${wanted} is searched`,
    )
  }
  for (const file of files) {
    const bytes = contentOf(file)
    for (const [what, value] of Object.entries(planted)) {
      t.notOk(bytes.includes(value), `${file.slice(dataDir.length)}: ${what}`)
    }
  }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())

/** Empty when the running stack has renamed the file; the search repeats after the stop. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
