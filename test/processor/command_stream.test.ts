/**
 * Lists and money operations over the gateways' stream and as unary calls, against a real server.
 */
import t, { type Test } from 'tap'
import { credentials, status, type StatusObject } from '@grpc/grpc-js'
import { STREAM_BATCH_MAX, STREAM_BATCH_MAX_BYTES } from '../../src/base/constants.js'
import { MINUTE, plus } from '../../src/base/clock.js'
import { newId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { bearer } from '../../src/grpc/bearer.js'
import { systemRandom } from '../../src/base/random.js'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import type { Reply__Output as Reply } from '../../protos/types/causeway/internal/v1/Reply.js'
import type { ReplyBatch__Output as ReplyBatch } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import { rawBooks } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { withEveryRole } from '../support/callers.js'
import { anIntent, largestMetadata } from '../support/requests.js'
import { answerOf } from '../support/rpc_answers.js'
import { callsTo, type RpcCall } from '../support/rpc_calls.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld, DEMO, type World } from '../support/world.js'
import { aRoute, idsOf, OPERATOR, payout } from './scenarios.js'

const TOKEN = 'it_test'
const TENANT = { partner_id: 'demo', environment: 'sandbox' }

interface Servers {
  readonly world: World
  /** Sends one command of the demo partner over the stream. */
  send(command: Command): Promise<Reply>
  /** Sends the commands in one message. */
  sendAll(commands: readonly Command[]): Promise<Reply[]>
  /** The replies of each message. */
  readonly batches: Reply[][]
  readonly address: string
  /** A unary call. */
  readonly call: RpcCall
  /** Stops the server. */
  close(): Promise<void>
  /** The status with which the stream ended. */
  readonly ended: Promise<StatusObject>
}

async function openServers(t: Test): Promise<Servers> {
  const world = await createWorld(t)
  const callers = withEveryRole(TOKEN, OPERATOR.name)
  const { address, close } = await serveShard(t, { world, callers })
  const { CommandStream } = contracts<CommandStreamProto>().causeway.internal.v1
  const commandStream = new CommandStream(address, credentials.createInsecure())
  const stream = commandStream.Open(bearer(TOKEN))
  const waiting = new Map<number, (reply: Reply) => void>()
  const batches: Reply[][] = []
  const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve))
  stream.on('data', ({ replies, draining }: ReplyBatch) => {
    if (draining) stream.end()
    else batches.push(replies)
    for (const reply of replies) waiting.get(reply.ticket)?.(reply)
  })
  stream.on('error', ({ message }: Error) => {
    for (const [ticket, reply] of waiting)
      reply({
        ...{ ticket, code: message, body: '', replayed: false, violation: null },
        ...{ traceparent: '', parent: '' },
      })
  })
  t.teardown(() => {
    stream.end()
    commandStream.close()
  })
  let ticket = 0
  const sendAll = (commands: readonly Command[]): Promise<Reply[]> => {
    const first = ticket + 1
    ticket += commands.length
    const answered = commands.map(
      (_, i) => new Promise<Reply>((resolve) => waiting.set(first + i, resolve)),
    )
    stream.write({
      commands: commands.map((command, i) => ({
        ticket: first + i,
        tenant: DEMO,
        budget_ms: 5_000,
        ...command,
      })),
    })
    return Promise.all(answered)
  }
  const send = async (command: Command): Promise<Reply> => (await sendAll([command]))[0]!
  const call = callsTo(t, address, TOKEN)
  return { world, send, sendAll, batches, address, call, close, ended }
}

interface WirePage<Row> {
  readonly data: readonly Row[]
  readonly next_cursor?: string
}

/** All pages of a list, one after the other. */
async function allOf<Row>(ask: (page: object) => Promise<WirePage<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = {}; ;) {
    const { data, next_cursor: cursor } = await ask(page)
    rows.push(...data)
    if (cursor === undefined) return rows
    page = { cursor }
  }
}

interface Body {
  readonly id: string
  readonly beneficiary: { readonly id: string }
  readonly data: readonly unknown[]
}

const bodyOf = (reply: Reply): Body => JSON.parse(reply.body) as Body

t.test('every operation is routed to its command', async (t) => {
  const { send } = await openServers(t)
  const made = bodyOf(await send({ create_payout: payout({ reference: 'r' }) }))
  const beneficiary_id = made.beneficiary.id
  t.match(bodyOf(await send({ get_beneficiary: { beneficiary_id } })), { status: 'active' })
  t.match(bodyOf(await send({ disable_beneficiary: { beneficiary_id } })), { status: 'disabled' })
  t.match(bodyOf(await send({ list_beneficiaries: {} })), { data: [{ id: beneficiary_id }] })
  t.same(bodyOf(await send({ list_payouts: { reference: 'r' } })), {
    data: [made],
    next_cursor: null,
  })
  t.same(bodyOf(await send({ list_payouts: { reference: 'R' } })).data, [])
  t.equal((await send({ list_payouts: { limit: 101 } })).code, 'invalid_request')
  t.equal((await send({ list_payouts: { limit: 0 } })).code, 'invalid_request')
  t.match(bodyOf(await send({ list_balance_transactions: { limit: 1 } })), {
    data: [{ type: 'payout_accepted', account: 'reserved' }],
    next_cursor: /./,
  })
  const simulate_payout = { payout_id: made.id, outcome: 'completed' }
  t.match(bodyOf(await send({ simulate_payout })), { status: 'processing' })
  const deposited = await send({ create_deposit: { currency: 'JPY', amount: '7' } })
  t.match(bodyOf(deposited), { id: /^dep_/, amount: '7' })
  const terms = { sell_currency: 'USD', sell_amount: '100', buy_currency: 'THB' }
  const quote = bodyOf(await send({ create_fx_quote: terms }))
  const create_fx_conversion = { quote_id: quote.id, idempotency_key: 'k' }
  t.match(bodyOf(await send({ create_fx_conversion })), { id: /^fxc_/, buy_amount: '3600' })
  t.ok((await send({ create_fx_conversion })).replayed)
})

interface Caused {
  readonly type: string
  readonly cause: string
  readonly request_id: string | null
}

t.test('the request id is stored with the effects of a request', async (t) => {
  const { world, send, address, call } = await openServers(t)
  const { Payouts } = contracts<PayoutsProto>().causeway.v1
  const payouts = new Payouts(address, credentials.createInsecure())
  t.teardown(() => payouts.close())
  const reader = await rawBooks(world.folder)
  t.teardown(() => reader.close())
  const idOf = (at: number): string => newId('request', plus(world.clock.now(), at), systemRandom())
  const eventsOf = (id: string): Promise<Caused[]> =>
    reader.all<Caused>(
      'SELECT type, cause, request_id FROM events WHERE entity = ? ORDER BY position',
      [id],
    )

  const requestId = idOf(1)
  const made = bodyOf(await send({ request_id: requestId, create_payout: payout() }))
  t.same(await eventsOf(made.id), [
    { type: 'payout.created', cause: 'request', request_id: requestId },
    { type: 'payout.processing', cause: 'request', request_id: requestId },
  ])
  const [stored] = await reader.all<{ context: string; of: string }>(
    `SELECT p.context, b.request_id AS of FROM payouts p JOIN beneficiaries b
     ON b.id = p.beneficiary WHERE p.id = ?`,
    [made.id],
  )
  t.match(JSON.parse(stored?.context ?? ''), { requestId })
  t.equal(stored?.of, requestId, 'the beneficiary created with it')
  t.equal(JSON.stringify(made).includes(requestId), false, 'no public view contains it')

  const intentRequest = idOf(2)
  const intent = JSON.parse(
    (await send({ request_id: intentRequest, create_intent: anIntent() })).body,
  ) as { intent_id: string }
  const [row] = await reader.all<{ context: string }>('SELECT context FROM intents WHERE id = ?', [
    intent.intent_id,
  ])
  t.match(JSON.parse(row?.context ?? ''), { requestId: intentRequest })

  const ofCaller = async (given?: string): Promise<{ echoed: unknown; stored: Caused[] }> => {
    const metadata = bearer(TOKEN)
    if (given !== undefined) metadata.set('x-request-id', given)
    const payoutRequest = payout({ idempotency_key: `caller ${given}` })
    let echoed: unknown
    const { id } = await answerOf<{ id: string }>((done) =>
      payouts
        .Create({ tenant: TENANT, payout: payoutRequest }, metadata, done)
        .on('metadata', (sent) => (echoed = sent.get('x-request-id')[0])),
    )
    return { echoed, stored: await eventsOf(id) }
  }
  const own = idOf(3)
  t.match(await ofCaller(own), { echoed: own, stored: [{ request_id: own }, { request_id: own }] })
  for (const given of [undefined, 'mine', `${own}"`, own.toLowerCase()]) {
    const { echoed, stored: events } = await ofCaller(given)
    t.match(echoed, /^req_[0-9A-Z]{26}$/)
    t.not(echoed, given)
    t.match(events, [{ request_id: echoed }, { request_id: echoed }])
  }

  const byOperator = bearer(TOKEN)
  byOperator.set('x-request-id', own)
  const actor = { reason: 'the rate of today' }
  await call('Operator/SetRate', { actor, currency: 'THB', rate: '36' }, byOperator)
  t.same(await reader.all('SELECT action, request_id FROM operator_log'), [
    { action: 'set_rate', request_id: own },
  ])
})

t.test('a list consumes its nonce, and a consumed nonce is refused', async (t) => {
  const { send } = await openServers(t)
  const signed_by = { key_id: 'demo_sandbox_2026q4', nonce: Buffer.alloc(32, 3) }
  t.equal((await send({ list_payouts: {}, signed_by })).code, '')
  const again = await send({ list_payouts: {}, signed_by })
  t.same([again.code, again.body], ['authentication_failed', ''])
  t.equal((await send({ get_balances: {}, signed_by })).code, 'authentication_failed')
})

t.test('a request of a gateway with a wrong clock is refused', async (t) => {
  const { send, world } = await openServers(t)
  const signedAt = async (ms: number): Promise<string | undefined> => {
    const nonce = Buffer.alloc(32, 4)
    const signed_by = { key_id: 'demo_sandbox_2026q4', nonce, signed_at: Math.floor(ms / 1_000) }
    return (await send({ get_balances: {}, signed_by })).code
  }
  t.equal(await signedAt(world.clock.now() - 6 * MINUTE), 'authentication_failed', 'slow')
  t.equal(await signedAt(world.clock.now() + 6 * MINUTE), 'authentication_failed', 'fast')
  t.equal(await signedAt(world.clock.now()), '', 'neither has consumed the nonce')
})

t.test('a command for a partner of another shard is answered not_here', async (t) => {
  const { send } = await openServers(t)
  const tenant = 'acme_sandbox'
  const signed_by = { key_id: 'acme_sandbox_2026q4', nonce: Buffer.alloc(32, 3) }
  const session = { intent_id: 'pi_01KA00000000000000000000000', session_jti: 'A'.repeat(22) }
  for (const command of [
    { get_balances: {}, signed_by },
    { consume_nonce_only: true, signed_by },
    { list_payouts: {}, signed_by },
    { confirm_intent: session },
    { check_session: session },
    { get_receipt: { intent_id: session.intent_id, subject: 's'.repeat(43) } },
  ]) {
    const { code, body } = await send({ tenant, ...command })
    t.same([code, body], ['not_here', ''], Object.keys(command).join())
  }
  const own = await send({ get_balances: {}, signed_by })
  t.equal(own.code, 'authentication_failed', 'an unknown key of an own partner')
  t.equal((await send({ confirm_intent: session })).code, 'authentication_failed')
})

t.test('a list contains everything acknowledged before it', async (t) => {
  const { send } = await openServers(t)
  for (let i = 1; i <= 20; i++) {
    await send({ create_payout: payout() })
    const { data } = bodyOf(await send({ list_payouts: {} }))
    t.equal(data.length, i)
  }
})

t.test('replies released together are split into messages within the gRPC limit', async (t) => {
  const { send, sendAll, batches } = await openServers(t)
  const { id } = bodyOf(await send({ create_payout: payout({ metadata: largestMetadata() }) }))
  batches.length = 0
  await sendAll(Array.from({ length: 2 * STREAM_BATCH_MAX }, () => ({ get_balances: {} })))
  t.ok(Math.max(...batches.map(({ length }) => length)) <= STREAM_BATCH_MAX)

  batches.length = 0
  const long = Array.from({ length: 60 }, () => ({ get_payout: { payout_id: id } }))
  const replies = await sendAll(long)
  t.same([...new Set(replies.map(({ code }) => code))], [''])
  const bytesOf = (batch: Reply[]): number =>
    batch.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
  t.ok(Math.max(...batches.map(bytesOf)) <= STREAM_BATCH_MAX_BYTES)
})

t.test('a list of the longest payouts fits the default message size of a channel', async (t) => {
  const { sendAll, call } = await openServers(t)
  const metadata = largestMetadata('🙂')
  const held = Array.from({ length: 40 }, () => ({
    create_payout: payout({ amount: '100', reference: 'sandbox:review', metadata }),
  }))
  const ids = (await sendAll(held)).map((reply) => bodyOf(reply).id)
  const listed = await allOf<{ id: string }>((page) =>
    call('Payouts/List', { tenant: TENANT, list: { limit: 100, ...page } }),
  )
  const waiting = await allOf<{ payout: { id: string } }>((page) =>
    call('Operator/ListHeldPayouts', { limit: 100, ...page }),
  )
  const oldestFirst = ids.toSorted()
  t.same(idsOf(listed), oldestFirst.toReversed())
  t.same(
    waiting.map(({ payout: { id } }) => id),
    oldestFirst,
  )
})

t.test('more concurrent lists than the limit are refused', async (t) => {
  const { send } = await openServers(t)
  const replies = await Promise.all(Array.from({ length: 600 }, () => send({ list_payouts: {} })))
  const codes = new Set(replies.map(({ code }) => code))
  t.ok(codes.has(''), 'some are answered')
  codes.delete('')
  codes.delete('configuration_error')
  t.equal(codes.size, 0, 'the others are refused with a retryable code')
  t.equal((await send({ list_payouts: {} })).code, '', 'and can be retried')
})

t.test('internal services list payouts', async (t) => {
  const { send, call } = await openServers(t)
  const made = bodyOf(await send({ create_payout: payout() }))
  await send({ create_payout: payout({ reference: 'sandbox:review' }) })
  const list = (filter: object, tenant = TENANT) =>
    call<WirePage<{ id: string }>>('Payouts/List', { tenant, list: filter })
  const first = await list({ status: 'processing', limit: 1 })
  t.match(first, { data: [{ id: made.id }] })
  t.equal(first.next_cursor, undefined)
  t.type((await list({ limit: 1 })).next_cursor, 'string')
  t.equal((await list({}, { ...TENANT, partner_id: 'none' })).code, 'invalid_request')
  t.equal((await list({ status: 'held' })).code, 'invalid_request')
  const unauthenticated = await call(
    'Payouts/List',
    { tenant: TENANT, list: {} },
    bearer('it_other'),
  )
  t.equal(unauthenticated.code, 'authentication_failed')
})

t.test('a stop answers every received command, then ends the stream', async (t) => {
  const { send, sendAll, batches, close, ended } = await openServers(t)
  await send({ get_balances: {} })
  batches.length = 0
  const answers = sendAll(Array.from({ length: 1_500 }, () => ({ create_intent: anIntent() })))
  await eventually('the first commands are answered', () => batches.length > 0)
  await close()
  t.same([...new Set((await answers).map(({ code }) => code))], [''])
  t.equal((await ended).code, status.OK)
})

t.test('operators review payouts, set rates and settle discrepancies', async (t) => {
  const { send, call } = await openServers(t)
  const held = bodyOf(await send({ create_payout: payout({ reference: 'sandbox:review' }) }))
  const payout_id = held.id
  t.match(await call('Operator/ListHeldPayouts'), {
    data: [{ tenant: DEMO, payout: { id: payout_id } }],
  })
  for (const [given, code] of [
    [{}, 'invalid_request'],
    [{ actor: { reason: '' } }, 'invalid_request'],
    [{ actor: { name: 'another', reason: 'r' } }, 'operator_name_differs'],
  ] as const) {
    const refused = await call('Operator/ApprovePayout', { ...given, payout_id })
    t.equal(refused.code, code, 'a change needs a reason, and the name of its caller')
  }
  const evidence = 'statement'
  const completed = { outcome: 'completed', evidence }
  const settlement = { discrepancy_id: 'dis_x', settlement: 'keep', evidence }
  for (const [rpc, request, outcome] of [
    ['ApprovePayout', { payout_id }, { id: payout_id, status: 'processing' }],
    ['ResolvePayout', { payout_id, ...completed }, { status: 'completed' }],
    ['ReversePayout', { payout_id, evidence }, { status: 'reversed' }],
    ['RejectPayout', { payout_id }, { code: 'payout_not_held' }],
    ['ResolveDiscrepancy', settlement, { code: 'discrepancy_not_found' }],
  ] as const) {
    t.match(await call(`Operator/${rpc}`, { actor: OPERATOR, ...request }), outcome, rpc)
  }
  t.match(await call('Operator/ListDiscrepancies'), { data: [] })
})

t.test('operators set routes and alerts', async (t) => {
  const { send, call } = await openServers(t)
  const route = { ...aRoute({ amount_max: '5' }), tenant: TENANT }
  t.match(await call('Operator/SetRoute', { actor: OPERATOR, route }), {
    ...{ tenant: TENANT, country: 'VN', amount_max: '5', enabled: true },
  })
  t.equal((await send({ create_payout: payout() })).code, 'payout_limit_exceeded')
  const routes = await call<{ data: object[] }>('Operator/ListRoutes')
  t.equal(routes.data.length, 4)
  const nowhere = { ...route, tenant: { ...TENANT, partner_id: 'none' } }
  const refused = await call('Operator/SetRoute', { actor: OPERATOR, route: nowhere })
  t.equal(refused.code, 'invalid_request', 'an unknown tenant sets no default of all tenants')
  const alert = { actor: OPERATOR, tenant: TENANT, currency: 'VND', threshold: '5' }
  t.equal((await call('Operator/SetBalanceAlert', alert)).code, undefined)
})
