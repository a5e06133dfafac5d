/**
 * The webhook pool alone: a real nats-server, a real pool, receivers, and a stand-in processor.
 *
 * - Events are published as the relay publishes them. Every event goes to one endpoint; each
 *   endpoint belongs to a partner of its own.
 * - Without a rate the loop is closed: a number of events is published and not accepted yet.
 * - A run counts only when every published event was accepted at its endpoint.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { instant, systemClock } from '../../src/base/clock.js'
import {
  newId,
  type EndpointId,
  type EventId,
  type RequestId,
  type TenantId,
} from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import { connectBus } from '../../src/bus/nats.js'
import { NODE_FLAGS, POOL } from '../../src/supervisor/programs.js'
import { eventually } from '../support/eventually.js'
import { createNatsServer } from '../support/nats_server.js'
import { openStandInProcessor } from '../webhook/directory_stub.js'
import type { WebhookNotice } from './client/load.js'
import type { Tools } from './measured_window.js'
import { usageBetween, usageNow, type Usage } from './process_usage.js'
import { startReceivers, type Arrivals, type Behavior } from './receivers.js'
import { finding, type Finding, type Part } from './result.js'
import { end } from './stacks.js'

export interface PoolSettings {
  readonly endpoints: number
  readonly seconds: number
  /** Events a second; undefined: as many as `outstanding` allows. */
  readonly ratePerSecond: number | undefined
  readonly outstanding: number
  readonly isolation: boolean
}

const FAILING: readonly Behavior[] = ['refusing', 'slow', 'flapping']
const SECRET = 'whsec_of_the_load_tool'
const EVENT_TYPE = 'payout.completed'
const FILLER = { order: 'x'.repeat(650) }
const TICK_MS = 2
const ARRIVED_WITHIN_MS = 60_000
const random = systemRandom()

export async function measurePool(
  { folder }: Pick<Tools, 'folder'>,
  settings: PoolSettings,
): Promise<Part> {
  const { endpoints, seconds, isolation } = settings
  const world = await openWorld(settings, folder)
  try {
    const load = publish(world, settings)
    const play = async (leadInMs: number): Promise<Played> => {
      await sleep(leadInMs)
      await world.receivers.arrivals()
      const [before, startedAt] = [usageNow(world.watched), performance.now()]
      await sleep(seconds * 1_000)
      const { processes } = usageBetween(before, usageNow(world.watched))
      const elapsedMs = performance.now() - startedAt
      return { processes, elapsedMs, ...(await world.receivers.arrivals()) }
    }
    const findings = windowFindings(await play(Math.min(3_000, seconds * 1_000)))
    if (isolation) {
      await world.receivers.setFailures(true)
      const { age } = await play(500)
      await world.receivers.setFailures(false)
      const before = findings.find(({ name }) => name === 'age, p95')?.value ?? Number.NaN
      findings.push(finding('age beside failing endpoints, p95', age.p95, 'ms'))
      findings.push(finding('failing / healthy, p95', age.p95 / before, '×', { atMost: 1.1 }))
    }
    load.stop()
    const title = `webhook pool alone, ${endpoints} endpoints`
    const voidBecause = await arrivalFaults(world, load.published())
    return { sections: [{ title, windows: [], findings }], voidBecause }
  } finally {
    await world.close()
  }
}

type Played = Arrivals & {
  readonly processes: Readonly<Record<string, Usage>>
  readonly elapsedMs: number
}

function windowFindings({ processes, elapsedMs, count, age }: Played): Finding[] {
  const cpu = Object.entries(processes).map(([name, { mainCpuMs, otherCpuMs }]) =>
    finding(`CPU a delivery, ${name}`, (1_000 * (mainCpuMs + otherCpuMs)) / count, 'µs'),
  )
  return [
    finding('deliveries', (1_000 * count) / elapsedMs, '/s'),
    ...[finding('age, p50', age.p50, 'ms'), finding('age, p95', age.p95, 'ms')],
    ...[finding('age, p99', age.p99, 'ms'), ...cpu],
    finding('memory of the pool', processes['pool']?.rssMiB ?? 0, 'MiB'),
  ]
}

const TOKEN = 'wh_load'

type World = Awaited<ReturnType<typeof openWorld>>

async function openWorld({ endpoints, isolation }: PoolSettings, folder: string) {
  mkdirSync(folder, { recursive: true })
  const nats = await createNatsServer(folder)
  await nats.start()
  const environment = {
    ...{ DATA_DIR: folder, LOG_LEVEL: 'error', NATS_URL: nats.url, RATE_LIMIT: 'off' },
    ...{ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_BACKOFF_SCALE_PCT: '1', PROCESSOR_TOKEN: TOKEN },
  }
  const processor = await openStandInProcessor(TOKEN)
  const receivers = await startReceivers()
  const behaviors = Array.from({ length: endpoints }, (_, index): Behavior =>
    isolation ? (FAILING[index] ?? 'healthy') : 'healthy',
  )
  const urls = await receivers.listen(behaviors)
  await receivers.useSecrets(urls.map(() => SECRET))
  const tenants = urls.map((url, index) => {
    const tenant = `partner-${index}_sandbox` as TenantId
    const id = newId<EndpointId>('endpoint', systemClock.now(), random)
    const secrets = [{ key_id: 'whk_1', secret: SECRET, active_from: '0' }]
    const endpoint = { id, tenant, url, enabled_events: ['*'], status: 'enabled', secrets }
    processor.setEndpoint({ ...endpoint, created_at: '0' })
    return tenant
  })
  let accepted = 0
  const notices = await receivers.port()
  notices.on('message', ({ entities }: WebhookNotice) => (accepted += entities.length))
  const main = join(projectRoot(), '.build', POOL)
  const execArgv = [...(NODE_FLAGS[POOL] ?? [])]
  const address = { PROCESSOR_ADDRESS: processor.address }
  const env = { PATH: process.env['PATH'], ...environment, ...address }
  const pool = fork(main, { cwd: folder, execArgv, env })
  await once(pool, 'message')
  const log = createLog('load', { LOG_LEVEL: 'silent' })
  const bus = connectBus({ url: nats.url, consumes: false, clock: systemClock, log })
  await eventually('the bus is connected', () => bus.publisher.capacity() > 0)
  return {
    ...{ bus, tenants, receivers },
    watched: [
      { name: 'pool', pid: pool.pid ?? 0 },
      { name: 'nats', pid: nats.pid() },
    ],
    accepted: () => accepted,
    close: async () => {
      await end(pool)
      await bus.close()
      notices.close()
      await receivers.stop()
      processor.close()
      await nats.kill()
    },
  }
}

function publish({ bus, tenants, accepted }: World, settings: PoolSettings) {
  const { ratePerSecond, outstanding } = settings
  let published = 0
  let lost = 0
  const startedAt = performance.now()
  const due = (): number =>
    ratePerSecond === undefined
      ? outstanding - (published - accepted())
      : Math.floor(((performance.now() - startedAt) * ratePerSecond) / 1_000) - published
  const timer = setInterval(() => {
    for (let left = Math.min(due(), bus.publisher.capacity()); left > 0; left -= 1) {
      published += 1
      const event = anEvent(published, tenants[published % tenants.length] ?? tenants[0]!)
      void bus.publisher.publish(event, event.id).then((stored) => {
        if (!stored) lost += 1
      })
    }
  }, TICK_MS)
  return { published: () => published - lost, stop: () => clearInterval(timer) }
}

/** As long as the event of a completed payout. */
function anEvent(number: number, tenant: TenantId) {
  const createdAt = instant(systemClock.now())
  const id = newId<EventId>('event', createdAt, random)
  const payout = { id: id.replace('evt_', 'pout_'), status: 'completed', metadata: FILLER }
  const created_at = new Date(createdAt).toISOString()
  const published_at = performance.timeOrigin + performance.now()
  const body = JSON.stringify({ id, type: EVENT_TYPE, created_at, data: { payout }, published_at })
  const requestId = newId<RequestId>('request', createdAt, random)
  const place = { position: number, sequence: number }
  return { ...place, id, tenant, type: EVENT_TYPE, createdAt, body, requestId }
}

async function arrivalFaults({ receivers }: World, published: number): Promise<string[]> {
  const total = async (of: 'answered' | 'faults'): Promise<number> =>
    (await receivers.received()).reduce((sum, one) => sum + one[of], 0)
  const all = async () => (await total('answered')) >= published
  const arrived = await eventually('all events arrived', all, ARRIVED_WITHIN_MS).catch(() => false)
  const invalid = await total('faults')
  return [
    ...(arrived ? [] : [`${await total('answered')} of ${published} published events arrived`]),
    ...(invalid === 0 ? [] : [`${invalid} invalid webhooks`]),
  ]
}
