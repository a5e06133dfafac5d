/** The stream of events: order, resumption, tenants, backpressure, bounds, a stopping server. */
import { status, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { Event__Output as Event } from '../../protos/types/causeway/v1/Event.js'
import { EVENT_STREAMS_PER_TENANT_MAX, LIST_LIMIT_MAX } from '../../src/base/constants.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { eventually } from '../support/eventually.js'
import { anIntent } from '../support/requests.js'
import { DEMO, viewOf, type World } from '../support/world.js'
import { META, openPartnerServices, TENANT, type PartnerServices } from './partner_services.js'
import { answerOf } from '../support/rpc_answers.js'

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
