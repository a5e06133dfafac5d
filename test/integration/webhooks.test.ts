/** Webhooks on a real stack: the calls of a partner and of an operator, and the deliveries. */
import t from 'tap'
import { HOUR, plus, SECOND, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { openReceiver } from '../../src/operations/partners/webhook_receiver.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { usageError } from '../support/operator_cli.js'
import { operatorsOf } from '../support/operators.js'
import { type EventPage, eventPage, eventsAfter } from '../support/pages.js'
import { startProgram } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, type HttpAnswer } from '../support/partner.js'
import { idIn, payOut, requestPayout, untilStatus } from '../support/payments.js'
import { type ReceivedWebhook, type TestReceiver } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly event_id: string
    readonly event_type: string
    readonly status: string
    readonly request_id: string | null
    readonly next_attempt_at: string | null
    readonly attempts: readonly { readonly status: number | null }[]
  }[]
  readonly next_cursor: string | null
}

// One stack for all tests; each has its own endpoints.
const stack = await startStack({ t, dataDir: tempFolder(t), settings: { RAIL_DELAY_MS: '20' } })
const { partner, ops } = stack
let payouts = 0
const pay = (): Promise<string> => payOut(partner, `webhooks-${++payouts}`)

const at = ({ endpointId }: { endpointId: string }, rest = ''): string =>
  `/v1/webhook_endpoints/${endpointId}${rest}`
const listed = async (to: TestReceiver, query = ''): Promise<Listed> =>
  (await partner.request('GET', at(to, `/deliveries${query}`))).body as Listed
const typesOf = ({ deliveries }: TestReceiver): string[] =>
  deliveries.map(({ eventType }) => eventType)
const isEventOf =
  (payout: string, type?: string) =>
  ({ body, eventType, verdict }: ReceivedWebhook): boolean =>
    verdict === 'valid' && (type ?? eventType) === eventType && body.includes(payout)

t.test('an endpoint is created, read, updated and deleted', async (t) => {
  const mine = await stack.receiver()
  const { body } = await partner.request('GET', at(mine))
  t.match(body, {
    ...{ id: mine.endpointId, status: 'enabled', enabled_events: ['*'], disabled_reason: null },
    ...{ api_version: /^\d{4}-\d\d-\d\d$/, key_id: `${mine.endpointId}_1`, created_at: /Z$/ },
  })
  t.notOk('secret' in (body as object))

  const narrowed = await partner.request('PATCH', at(mine), {
    enabled_events: ['payout.completed'],
  })
  t.match(narrowed.body, { enabled_events: ['payout.completed'] })
  const first = await pay()
  await mine.until('the selected event', isEventOf(first))
  t.match((await partner.request('PATCH', at(mine), { enabled_events: [] })).body, {
    enabled_events: ['*'],
  })
  const second = await pay()
  for (const type of ['payout.created', 'payout.processing', 'payout.completed']) {
    await mine.until(type, isEventOf(second, type))
  }
  t.same(
    typesOf(mine).filter((_, i) => mine.deliveries[i]?.body.includes(first)),
    ['payout.completed'],
  )
  t.match(await partner.request('PATCH', at(mine), { url: 'http://user@x/' }), { status: 400 })

  t.match((await partner.request('DELETE', at(mine))).body, { status: 'deleted' })
  t.match(await partner.request('GET', at(mine)), { status: 404 })
})

t.test('unknown and foreign endpoints and events get the same 404', async (t) => {
  const mine = await stack.receiver()
  const { event } = (await partner.request('POST', at(mine, '/test'))).body as {
    event: { id: string }
  }
  const operators = operatorsOf(stack)
  t.teardown(() => operators.close())
  const other = partnerOf(stack.sandbox, await operators.createPartner('umbrella'))
  await eventually(
    'the gateway has the key',
    async () => (await other.request('GET', '/v1/events')).status === 200,
  )
  const refusals = new Set<string>()
  const without = ({ status, text }: HttpAnswer): string =>
    `${status} ${text.replace(/req_[0-9A-Z]{26}/, 'req')}`
  for (const [method, rest, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { description: 'mine' }],
    ['DELETE', '', undefined],
    ['POST', '/enable', undefined],
    ['POST', '/disable', undefined],
    ['POST', '/rotate_secret', undefined],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/recover', { since: '2026-01-01T00:00:00Z' }],
  ] as const) {
    refusals.add(without(await other.request(method, at(mine, rest), body)))
    const unknown = { endpointId: 'we_00000000000000000000000000' }
    refusals.add(without(await partner.request(method, at(unknown, rest), body)))
  }
  const resend = (id: string) => `/v1/events/${id}/resend`
  const to = { endpoint_id: mine.endpointId }
  refusals.add(without(await other.request('POST', resend(event.id), to)))
  t.equal(refusals.size, 1)
  t.match([...refusals][0], /^404 .*webhook_endpoint_not_found/)
  const events = new Set([
    without(await other.request('POST', resend(event.id))),
    without(await partner.request('POST', resend('evt_00000000000000000000000000'))),
  ])
  t.equal(events.size, 1)
  t.match([...events][0], /^404 .*event_not_found/)
  t.match((await other.request('GET', '/v1/events')).body, { data: [], next_after: 0 })
})

t.test('a test event is sent to one endpoint only, with a valid signature', async (t) => {
  const [mine, other] = [await stack.receiver(), await stack.receiver()]
  await partner.request('PATCH', at(mine), { enabled_events: ['payout.reversed'] })
  const { status, body } = await partner.request('POST', at(mine, '/test'))
  t.equal(status, 202)
  const { event } = body as { event: { id: string } }
  const delivered = await mine.until('the test event', ({ eventId }) => eventId === event.id)
  t.match(delivered, { verdict: 'valid', eventType: 'webhook_endpoint.test' })
  t.equal(delivered.body.toString(), JSON.stringify(event), 'as in the response')
  const payout = await pay()
  await other.until('a later event', isEventOf(payout, 'payout.completed'))
  t.notOk(typesOf(other).includes('webhook_endpoint.test'))
})

t.test('a disabled endpoint holds its events and gets them when enabled', async (t) => {
  const [mine, other] = [await stack.receiver(), await stack.receiver()]
  t.match((await partner.request('POST', at(mine, '/disable'))).body, {
    ...{ status: 'disabled', disabled_reason: 'by_partner' },
  })
  t.match(await partner.request('POST', at(mine, '/test')), { status: 409 })
  const shown = (await partner.request('GET', at(mine))).body
  const disabled = await other.until(
    'the other endpoint gets the event',
    ({ eventType, body }) =>
      eventType === 'webhook_endpoint.disabled' && body.includes(mine.endpointId),
  )
  const event = JSON.parse(disabled.body.toString()) as { data: object }
  t.same([disabled.verdict, event.data], ['valid', { webhook_endpoint: shown }])
  const feed = (await partner.request('GET', '/v1/events?after=0&limit=100')).body
  t.ok(JSON.stringify(feed).includes(disabled.body.toString()), 'the list of events has it')
  const payout = await pay()
  await other.until('the other endpoint gets it', isEventOf(payout, 'payout.completed'))
  await eventually('all are pending', async () => (await listed(mine)).data.length === 3)
  t.same(new Set((await listed(mine)).data.map((each) => each.status)), new Set(['pending']))
  t.equal(mine.deliveries.length, 0)

  t.match((await partner.request('POST', at(mine, '/enable'))).body, { status: 'enabled' })
  for (const type of ['payout.created', 'payout.processing', 'payout.completed']) {
    await mine.until(`${type} after enabling`, isEventOf(payout, type))
  }

  const off = await ops('webhooks disable', mine.endpointId, '--reason', 'a test')
  t.match(off.out, `${mine.endpointId} is disabled`)
  t.match((await partner.request('GET', at(mine))).body, { disabled_reason: 'by_operator' })
  t.match(await ops('webhooks enable', mine.endpointId), usageError('--reason'))
  await ops.json('webhooks enable', mine.endpointId, '--reason', 'a test')
})

t.test('a rotated secret signs from its activation on', async (t) => {
  const mine = await stack.receiver()
  const rotate = async (activate_at: string) => {
    const { body } = await partner.request('POST', at(mine, '/rotate_secret'), { activate_at })
    const rotated = body as { key_id: string; secret: string; activate_at: string }
    mine.trust(rotated.key_id, rotated.secret)
    return rotated
  }
  const inAnHour = toRfc3339(plus(systemClock.now(), HOUR))
  const planned = await rotate(inAnHour)
  t.match(planned, { key_id: `${mine.endpointId}_2`, secret: /^whsec_/, activate_at: inAnHour })
  const keyOf = ({ headers }: ReceivedWebhook) => headers['x-service-key-id']
  const test = async (): Promise<ReceivedWebhook> => {
    const { event } = (await partner.request('POST', at(mine, '/test'))).body as {
      event: { id: string }
    }
    return mine.until('the test event', ({ eventId }) => eventId === event.id)
  }
  t.equal(keyOf(await test()), `${mine.endpointId}_1`)
  const next_key = { key_id: planned.key_id, activate_at: inAnHour }
  t.match((await partner.request('GET', at(mine))).body, { next_key })

  const { key_id, activate_at } = await rotate(toRfc3339(plus(systemClock.now(), 1_500)))
  await eventually('the newest secret signs', async () => keyOf(await test()) === key_id)
  const signed = mine.deliveries.filter((each) => keyOf(each) === key_id)
  t.ok(signed.every(({ headers }) => String(headers['x-service-timestamp']) >= activate_at))
  t.match((await partner.request('GET', at(mine))).body, { key_id })
  t.same(new Set(mine.deliveries.map(({ verdict }) => verdict)), new Set(['valid']))
})

t.test('deliveries are listed with their attempts, and an event is resent', async (t) => {
  const mine = await stack.receiver()
  const accepted = await requestPayout(partner, 'listed')
  const payout = idIn(accepted)
  const completed = await mine.until('the last event', isEventOf(payout, 'payout.completed'))
  await eventually('all are listed', async () => {
    const { data } = await listed(mine)
    return data.length === 3 && data.every(({ status }) => status === 'delivered')
  })
  const requestIds = (await listed(mine)).data.map(
    (row) => [row.event_type, row.request_id] as const,
  )
  const requestId = accepted.headers['x-request-id']
  t.same(Object.fromEntries(requestIds), {
    'payout.created': requestId,
    'payout.processing': requestId,
    'payout.completed': null,
  })
  t.notOk(
    mine.deliveries.some(({ body }) => body.includes('req_')),
    'bodies do not contain the attempt',
  )
  const first = await listed(mine, '?limit=2')
  t.equal(first.data.length, 2)
  t.match(first.data[0], {
    ...{ event_type: 'payout.completed', endpoint_id: mine.endpointId, next_attempt_at: null },
    attempts: [{ number: 1, at: /Z$/, status: 200, reason: 'http_200', reply: '' }],
  })
  const rest = await listed(mine, `?limit=2&cursor=${first.next_cursor ?? ''}`)
  t.same([rest.data.length, rest.next_cursor], [1, null])

  const resend = `/v1/events/${completed.eventId}/resend`
  const again = await partner.request('POST', resend, { endpoint_id: mine.endpointId })
  t.match(again, { status: 202, body: { event_id: completed.eventId } })
  const resent = await mine.until('the resent event', ({ verdict }) => verdict === 'duplicate')
  t.equal(resent.eventId, completed.eventId)
  t.equal(resent.body.toString(), completed.body.toString(), 'the same bytes')
  await eventually('both attempts are listed', async () => {
    const { data } = await listed(mine)
    return data[0]?.status === 'delivered' && data[0].attempts.length === 2
  })
})

t.test('dead letters are listed and redriven by operators and by the partner', async (t) => {
  let status = 404
  const mine = await stack.receiver(() => status)
  await pay()
  await eventually('three deliveries are dead', async () => {
    const { data } = await listed(mine)
    return data.length === 3 && data.every((each) => each.status === 'dead')
  })
  const dead = await ops.json('webhooks dead', '--endpoint', mine.endpointId)
  const letters = dead['data'] as { id: string; reason: string; tries: number }[]
  t.match(letters, [{ reason: 'http_404', tries: 1 }, {}, {}])
  t.match(await ops.out('webhooks dead'), letters[0]?.id)
  t.match(await ops.out('webhooks status'), /^dead letters +[3-9]/m)
  t.match(await ops.out('webhooks endpoints'), `${mine.endpointId}  demo_sandbox`)

  status = 200
  const one = letters[0]?.id ?? ''
  t.match(await ops('webhooks redrive', one), usageError('--reason'))
  t.match(await ops('webhooks redrive --reason r'), usageError('Name a delivery'))
  t.match(await ops('webhooks redrive dlv_0 --reason r'), { exitCode: 1 })
  t.same(await ops.json('webhooks redrive', one, '--reason', 'ticket 7'), {
    redriven: 1,
    more: false,
    missing_pools: [],
  })
  await eventually('the event is delivered', () => mine.events.size === 1)
  t.match(await ops.out('actions'), /webhook_redrive/)

  status = 503
  await pay()
  await eventually('three deliveries wait for a retry that is not near', async () => {
    const soon = toRfc3339(plus(systemClock.now(), 3 * SECOND))
    const waiting = (await listed(mine)).data.filter((each) => each.status === 'waiting')
    return waiting.length === 3 && waiting.every((each) => (each.next_attempt_at ?? '') > soon)
  })
  status = 200
  const since = '2026-01-01T00:00:00Z'
  const recovered = await partner.request('POST', at(mine, '/recover'), { since })
  t.match(recovered, { status: 202, body: { redriven: 5, has_more: false } })
  await eventually('all are delivered', () => mine.events.size === 6)
  const none = await ops.json(
    ...['webhooks', 'redrive', '--endpoint', mine.endpointId, '--reason', 'r'],
  )
  t.equal(none['redriven'], 0)
  const late = ['webhooks', 'redrive', '--endpoint', mine.endpointId, '--since', since]
  t.equal((await ops.json(...late, '--reason', 'r'))['redriven'], 0)
  t.match(await ops(...late.slice(0, -1), 'noon', '--reason', 'r'), usageError(/noon/))
  t.match(await ops.out('webhooks poison'), 'There are none.')
})

t.test('the list of events has no gap while events are added', async (t) => {
  const mine = await stack.receiver()
  const start = (await eventsAfter(partner, 0)).at(-1)?.sequence ?? 0
  let paying = true
  const payments = (async () => {
    const paid: string[] = []
    for (let i = 0; i < 8; i++) {
      const tests = [1, 2, 3].map(() => partner.request('POST', at(mine, '/test')))
      paid.push((await Promise.all([pay(), ...tests]))[0])
    }
    for (const id of paid) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
    paying = false
  })()
  const seen: EventPage['data'][number][] = []
  for (let after = start, more = true; paying || more;) {
    const page = await eventPage(partner, after, 7)
    seen.push(...page.data)
    ;[after, more] = [page.next_after, page.has_more || page.data.length > 0]
  }
  await payments
  t.ok(seen.length >= 8 * 6, `${seen.length} events`)
  t.same(
    seen.map(({ sequence }) => sequence),
    seen.map((_, i) => start + i + 1),
  )
  const listed = await eventsAfter(partner, start, 7)
  await eventually('all were delivered', () =>
    listed.every(({ event }) => mine.events.has(event.id)),
  )
  for (const { event } of listed) {
    t.equal(mine.events.get(event.id)?.body.toString(), JSON.stringify(event), 'as delivered')
  }
})

t.test('a frozen or killed pool is a 504 or 503 for its queries only', async (t) => {
  const mine = await stack.receiver()
  stack.kill('webhooks', 'SIGSTOP')
  try {
    const pending = partner.request('GET', at(mine, '/deliveries'))
    t.equal((await partner.request('GET', at(mine))).status, 200)
    t.equal((await partner.request('GET', '/v1/events')).status, 200)
    t.match(await pending, { status: 504, body: { error: { code: 'timeout' } } })
  } finally {
    stack.kill('webhooks', 'SIGCONT')
  }
  await eventually('the pool answers again', async () => (await listed(mine)).data.length === 0)
  stack.kill('webhooks')
  const refused = await eventually('no pool is connected', async () => {
    const answer = await partner.request('GET', at(mine, '/deliveries'))
    return answer.status === 503 && answer
  })
  t.match(refused.body, { error: { code: 'configuration_error' } })
  for (const restarted of ['webhooks', 'processor']) {
    await stack.untilServing()
    await eventually(`a pool is connected after the restart of ${restarted}`, async () => {
      return (await partner.request('GET', at(mine, '/deliveries'))).status === 200
    })
    if (restarted === 'webhooks') stack.kill('processor')
  }
})

t.test('listen shows deliveries and forwards them with valid signatures', async (t) => {
  let secrets: Record<string, string> = {}
  const target = await openReceiver({
    ...{ clock: systemClock, brand: 'Service', port: 0 },
    secretOf: (keyId) => secrets[keyId],
    answer: () => 202,
  })
  t.teardown(() => target.close())
  const { child, output, ended } = startProgram(
    'operations/main.js',
    ['listen', '--forward-to', `${target.url}/in?a=b`],
    { DATA_DIR: stack.dataDir },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const shown = await eventually(
    'the listener runs',
    () => /^WEBHOOK_SECRETS='(.*)'$/m.exec(output.err)?.[1],
  )
  secrets = JSON.parse(shown) as typeof secrets
  const [, endpointId = ''] = /\/in\?a=b as (we_\S+);/.exec(output.err) ?? []
  t.equal((await partner.request('POST', at({ endpointId }, '/test'))).status, 202)
  const printed = /^webhook_endpoint\.test +evt_\S+  valid, answered 202$/m
  await eventually('it prints the test event', () => printed.test(output.out))
  t.equal(target.deliveries[0]?.verdict, 'valid')
  const refusing = await stack.receiver(() => 404)
  t.equal((await partner.request('POST', at(refusing, '/test'))).status, 202)
  const dead = new RegExp(
    `^dead: webhook_endpoint\\.test evt_\\S+ at ${refusing.endpointId}: http_404$`,
    'm',
  )
  await eventually('it prints the dead letter of another endpoint', () => dead.test(output.err))
  child.kill('SIGINT')
  t.equal((await ended).exitCode, 0)
  t.match(await partner.request('GET', at({ endpointId })), { status: 404 }, 'deleted')
})

t.test('metrics of webhooks, and a clean audit', async (t) => {
  const metrics = await stack.metrics()
  for (const name of ['backlog', 'oldest_age_seconds', 'open_breakers', 'dead_letters']) {
    t.match(metrics, new RegExp(`^causeway_webhook_${name}\\{[^}]*\\} \\d`, 'm'), name)
  }
  t.equal(await stack.stop(), 0)
  await assertCleanAudit(t, stack.dataDir)
})
