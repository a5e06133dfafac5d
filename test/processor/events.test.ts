/** Events of a tenant: their list, their stream, and those that no endpoint subscribes to. */
import t, { type Test } from 'tap'
import { status, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js'
import type { Event__Output as Event } from '../../protos/types/causeway/v1/Event.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_delete.js'
import { switchWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_test.js'
import { updateWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_update.js'
import type { Command } from '../../src/processor/cycle/command.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { listEvents } from '../../src/processor/queries/event_list.js'
import { jsonOf } from '../../src/processor/queries/raw_json.js'
import type { Store } from '../../src/store/store.js'
import { EVENT_STREAMS_PER_TENANT_MAX, LIST_LIMIT_MAX } from '../../src/base/constants.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { eventually } from '../support/eventually.js'
import { aPayout, anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { answerOf } from '../support/rpc_answers.js'
import { readRawJson } from './scenarios.js'
import { OTHER_TENANT, UNCHANGED, request, type View } from './webhook_endpoints.js'
import { META, openPartnerServices, TENANT, type PartnerServices } from './partner_services.js'

/** Parses the page and checks that its text is canonical JSON. */
function pageIn<Parsed>(t: Test, answer: Answer): Parsed {
  const text = jsonOf(viewOf<object>(answer))
  const page = JSON.parse(text) as Parsed
  t.equal(text, JSON.stringify(page))
  return page
}

t.test('events are listed by sequence number, without gaps, of the tenant only', async (t) => {
  const world = await createWorld(t)
  const make = async (tenant: typeof DEMO): Promise<string> =>
    viewOf<View>(await world.run(createWebhookEndpoint(tenant, request()))).id
  const [ours, theirs] = [await make(DEMO), await make(OTHER_TENANT)]
  for (let i = 0; i < 7; i++) await world.run(testWebhookEndpoint(DEMO, ours))
  await world.run(testWebhookEndpoint(OTHER_TENANT, theirs))
  interface EventPage {
    readonly data: readonly { readonly sequence: number; readonly event: object }[]
    readonly next_after: number
    readonly has_more: boolean
  }
  const page = async (after: number, limit?: number): Promise<EventPage> =>
    pageIn(
      t,
      await readRawJson(world, listEvents(DEMO, { after: String(after), ...(limit && { limit }) })),
    )
  const numbers = ({ data }: EventPage): number[] => data.map(({ sequence }) => sequence)
  const first = await page(0, 3)
  t.same(numbers(first), [1, 2, 3])
  t.match(first, { next_after: 3, has_more: true })
  t.match(await page(3, 4), { next_after: 7, has_more: false })
  t.same(numbers(await page(5)), [6, 7])
  t.match(await page(7), { data: [], next_after: 7, has_more: false }, 'no newer events')
  t.match(await page(99), { data: [], next_after: 99 })
  t.same(
    (await page(0)).data.map(({ event }) => JSON.stringify(event)),
    world.events.slice(0, 7).map(({ body }) => body),
  )
  for (const wrong of [{ limit: 0 }, { limit: 101 }, { after: '-1' }]) {
    const answer = await readRawJson(world, listEvents(DEMO, { after: '0', ...wrong }))
    t.equal(codeOf(answer), 'invalid_request')
  }
  t.equal((await world.store.lists.event(OTHER_TENANT, world.events[0]!.id))?.id, undefined)
  t.equal((await world.store.lists.event(DEMO, world.events[0]!.id))?.sequence, 1)
})

interface ListedEvents {
  readonly data: readonly { readonly sequence: number; readonly event: { readonly type: string } }[]
}

for (const rebuilt of [false, true]) {
  const how = rebuilt ? 'rebuilt' : 'warm'

  t.test(`an event without a subscriber is settled in its commit, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const open = async (): Promise<string[]> =>
      (await world.store.openEvents(0, 99)).map(({ type, sequence }) => `${sequence} ${type}`)
    const endpoint = async (types: string[], tenant = DEMO): Promise<string> =>
      viewOf<View>(
        await world.run(createWebhookEndpoint(tenant, { ...request(), enabled_events: types })),
      ).id
    let payouts = 0
    const aPayoutOf = (): Command =>
      createPayout(DEMO, aPayout({ idempotency_key: `payout ${(payouts += 1)}` }))
    /** @returns the open events after one more payout */
    const after = async (): Promise<string[]> => {
      viewOf(await world.run(aPayoutOf()))
      return open()
    }
    t.same(await after(), [], 'there is no endpoint')
    await endpoint(['*'], OTHER_TENANT)
    t.same(await after(), [], 'there is one of another tenant')
    world.clock.pass(1)
    const id = await endpoint(['payout.processing', 'balance.low'])
    t.same(await after(), ['6 payout.processing'], 'one of two types')
    await world.run(switchWebhookEndpoint(DEMO, id, 'disabled'))
    const held = ['6 payout.processing', '7 webhook_endpoint.disabled', '9 payout.processing']
    t.same(await after(), held, 'a disabled endpoint gets its events later')
    const types = ['payout.created']
    await world.run(
      updateWebhookEndpoint(DEMO, { ...UNCHANGED, endpoint_id: id, enabled_events: { types } }),
    )
    t.same(await after(), [...held, '10 payout.created'], 'another filter')
    await world.run(deleteWebhookEndpoint(DEMO, id))
    t.same(await after(), [...held, '10 payout.created'], 'a deleted endpoint gets nothing')
    await world.runAll([aPayoutOf(), createWebhookEndpoint(DEMO, request()), aPayoutOf()])
    const last = ['16 payout.created', '17 payout.processing']
    t.same(await open(), [...held, '10 payout.created', ...last], 'within one batch')
    await world.rebuild()
    t.same(await open(), [...held, '10 payout.created', ...last], 'on disk')

    const listed = await readRawJson(world, listEvents(DEMO, { after: '0' }))
    const { data } = pageIn<ListedEvents>(t, listed)
    t.same(
      data.map(({ sequence }) => sequence),
      Array.from({ length: 17 }, (_, i) => i + 1),
      'all are listed, without a gap',
    )
    for (const { id: event, sequence, isSettled } of world.events.slice(0, 17)) {
      const stored = await world.store.lists.event(DEMO, event)
      const isOpen = [6, 7, 9, 10, 16, 17].includes(sequence)
      t.equal(stored?.settledAt === null, isOpen, `event ${sequence}`)
      t.equal(isSettled, isOpen ? undefined : true)
    }
  })
}

for (const isKept of [false, true]) {
  const outcome = isKept ? 'settled if it is on disk' : 'absent if it is not'
  t.test(`of a failed commit an event without a subscriber is ${outcome}`, async (t) => {
    let fails = false
    const failing = (store: Store): Store => ({
      ...store,
      commit: async (rows) => {
        if (!fails || isKept) await store.commit(rows)
        if (fails) throw new Error('the disk failed')
      },
    })
    const stopped: string[] = []
    const onStop = (reason: string): void => void stopped.push(reason)
    const world = await createWorld(t, { store: failing, onStop })
    fails = true
    void world.run(createPayout(DEMO, aPayout({ idempotency_key: 'lost' })))
    await eventually('the processor stops', () => stopped.length === 1)
    t.equal(world.events.length, 0, 'nothing is published')
    fails = false
    await world.rebuild()
    t.same(await world.store.openEvents(0, 99), [])
    const [first] = pageIn<ListedEvents>(
      t,
      await readRawJson(world, listEvents(DEMO, { after: '0' })),
    ).data
    t.equal(first?.sequence, isKept ? 1 : undefined)
    viewOf(await world.run(createPayout(DEMO, aPayout({ idempotency_key: 'next' }))))
    t.equal(world.events.at(-1)?.sequence, isKept ? 4 : 2, 'numbers go on')
  })
}

t.test('a page of large events ends early', async (t) => {
  const world = await createWorld(t)
  const metadata: Record<string, string> = { 10: '"\\\u0001\u2028', 9: 'ส' }
  for (let i = 0; i < 48; i++) metadata[`key ${i}`.padEnd(100, '.')] = 'ส'.repeat(500)
  for (let i = 0; i < 6; i++) {
    viewOf(await world.run(createPayout(DEMO, aPayout({ idempotency_key: `${i}`, metadata }))))
  }
  const seen: number[] = []
  let pages = 0
  for (let after = '0', more = true; more; pages += 1) {
    const page = pageIn<{ data: { sequence: number }[]; next_after: number; has_more: boolean }>(
      t,
      await readRawJson(world, listEvents(DEMO, { after })),
    )
    seen.push(...page.data.map(({ sequence }) => sequence))
    ;[after, more] = [String(page.next_after), page.has_more]
  }
  t.same(
    seen,
    Array.from({ length: 12 }, (_, i) => i + 1),
  )
  t.ok(pages > 1)
})

interface Watched {
  readonly stream: ClientReadableStream<Event>
  readonly events: Event[]
  readonly ended: Promise<ServiceError>
}

function watch(t: Test, { clients }: PartnerServices, after = 0, tenant: object = TENANT): Watched {
  const stream = clients.Events.Watch({ tenant, after }, META)
  const events: Event[] = []
  stream.on('data', (event: Event) => events.push(event))
  const ended = new Promise<ServiceError>((resolve) => stream.on('error', resolve))
  t.teardown(() => stream.cancel())
  return { stream, events, ended }
}

/** Each cancelled intent has one event. */
async function publish(world: World, count: number): Promise<void> {
  const made = await world.runAll(
    Array.from({ length: count }, () => createIntent(DEMO, anIntent())),
  )
  const ids = made.map((answer) => viewOf<{ intent_id: string }>(answer).intent_id)
  for (const answer of await world.runAll(ids.map((id) => cancelIntent(DEMO, id)))) viewOf(answer)
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i))
const sequences = ({ events }: Watched): string[] => events.map(({ sequence }) => sequence)

t.test('stored events, then new ones, in order and without gaps', async (t) => {
  const services = await openPartnerServices(t)
  const { world } = services
  await publish(world, 3)
  const all = watch(t, services)
  const late = watch(t, services, 2)
  await eventually('the stored ones', () => all.events.length === 3 && late.events.length === 1)
  for (const count of [1, 130, 2]) await publish(world, count)
  await eventually('the new ones', () => all.events.length === 136 && late.events.length === 134)
  t.same(sequences(all), numbers(1, 136))
  t.same(sequences(late), numbers(3, 136))
  const stored = world.events.filter(({ tenant }) => tenant === DEMO)
  t.same(
    all.events.map(({ id, type, body }) => ({ id, type, body })),
    stored.map(({ id, type, body }) => ({ id, type, body })),
    'as webhooks deliver them',
  )
  const again = watch(t, services, 136)
  await publish(world, 1)
  await eventually('after a resumption', () => again.events.length === 1)
  t.same(sequences(again), ['137'])
})

t.test('a stream has the events of its own tenant only', async (t) => {
  const services = await openPartnerServices(t)
  const other = watch(t, services, 0, { ...TENANT, environment: 'production' })
  const own = watch(t, services)
  await publish(services.world, 2)
  await eventually('the own tenant', () => own.events.length === 2)
  t.same(other.events, [])
  const unknownTenant = watch(t, services, 0, { partner_id: 'nobody', environment: 'sandbox' })
  t.equal((await unknownTenant.ended).code, status.INVALID_ARGUMENT)
  const negative = watch(t, services, -1)
  t.equal((await negative.ended).code, status.INVALID_ARGUMENT)
})

t.test('a slow client delays its own stream only, and loses nothing', async (t) => {
  const services = await openPartnerServices(t)
  const { world, clients, reads } = services
  const count = 12 * LIST_LIMIT_MAX
  await publish(world, count)
  const before = reads()
  const slow = watch(t, services)
  slow.stream.pause()
  const list = { limit: 1 }
  const requestOnce = () =>
    answerOf((done) => clients.Events.List({ tenant: TENANT, list }, META, done))
  const requests = 50
  for (let i = 0; i < requests; i++) await requestOnce()
  const pages = reads() - before - requests
  t.ok(pages < 6, `${pages} of 12 pages were read for a client that reads nothing`)
  const other = watch(t, services, count - 1)
  await eventually('another stream', () => other.events.length === 1)
  slow.stream.resume()
  await eventually('the slow one', () => slow.events.length === count)
  t.same(sequences(slow), numbers(1, count))
})

t.test('streams of a tenant are bounded, and a cancelled one frees its place', async (t) => {
  const services = await openPartnerServices(t)
  await publish(services.world, 1)
  const open = Array.from({ length: EVENT_STREAMS_PER_TENANT_MAX }, () => watch(t, services))
  await eventually('all streams are open', () => open.every(({ events }) => events.length === 1))
  const fault = await watch(t, services).ended
  t.equal(fault.code, status.RESOURCE_EXHAUSTED)
  t.same(fault.metadata.get('causeway-error'), ['rate_limited'])
  open[0]!.stream.cancel()
  await eventually('a new stream is accepted', async () => {
    const next = watch(t, services)
    let isRefused = false
    void next.ended.then(() => (isRefused = true))
    await eventually('an answer', () => isRefused || next.events.length === 1)
    return !isRefused
  })
})

t.test('a stopping server ends its streams at once with a retryable status', async (t) => {
  const services = await openPartnerServices(t)
  await publish(services.world, 1)
  const open = watch(t, services)
  await eventually('the stream is open', () => open.events.length === 1)
  const [fault] = await Promise.all([open.ended, services.close()])
  t.equal(fault.code, status.UNAVAILABLE)
  t.same(fault.metadata.get('causeway-retryable'), ['true'])
})
