/**
 * Webhook deliveries, measured: a real nats-server, a real pool, receivers in a process of their
 * own.
 *
 * Owns: the world around the pool, windows of load, what is printed of them. Does not own: the
 * receivers' manners (deliveries_receiver), the processor, which only stands in here: events are
 * put on the bus as the relay puts them.
 *
 * - Every event goes to one endpoint. Each endpoint belongs to a partner of its own.
 * - Without a rate the loop is closed: so many events are published and not accepted yet. That
 *   tells how much the pool can do. With a rate it is open, and latencies are what partners feel.
 * - A run counts only when every published event was accepted at its endpoint.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { instant, systemClock } from '../../../src/base/clock.js'
import { newId, type EndpointId, type EventId, type TenantId } from '../../../src/base/ids.js'
import { ensureInternalToken } from '../../../src/base/internal_token.js'
import { createLog } from '../../../src/base/log.js'
import { projectRoot } from '../../../src/base/protos.js'
import { systemRandom } from '../../../src/base/random.js'
import { readSettings } from '../../../src/base/settings.js'
import { connectBus, type Bus } from '../../../src/bus/nats.js'
import { NODE_FLAGS, POOL } from '../../../src/supervisor/programs.js'
import { eventually } from '../../support/eventually.js'
import { createNatsServer } from '../../support/nats_server.js'
import { openStandInProcessor } from '../../webhook/directory_stub.js'
import {
  bodyEnd,
  nowMicros,
  type FromReceivers,
  type Got,
  type Manner,
  type ToReceivers,
} from './deliveries_receiver.js'
import { usageBetween, usageNow, type Watched } from '../measurement/usage.js'

const random = systemRandom()
const EVENT_TYPE = 'payout.completed'
const WARM_UP_MS = 3_000
const LEAD_IN_MS = 500
const TICK_MS = 2
const SETTLED_WITHIN_MS = 60_000

export interface DeliveriesSettings {
  readonly endpoints: number
  readonly seconds: number
  /** Events a second; undefined: as many as `outstanding` allows. */
  readonly ratePerSecond: number | undefined
  readonly outstanding: number
  /** Further flags of Node for the pool's process, `--cpu-prof` for instance. */
  readonly poolFlags: readonly string[]
}

export interface DeliveriesResult {
  readonly seconds: number
  readonly ratePerSecond: number
  /** From the publishing of an event to its arrival at the receiver. */
  readonly latency: Latency
  /** CPU time of one delivery. */
  readonly cpuMicros: { readonly main: number; readonly others: number; readonly nats: number }
  readonly rssMiB: number
  /** Accepted more than once: at least once allows it, a quiet run has none. */
  readonly again: number
  readonly faults: readonly string[]
}

export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface IsolationResult {
  /** Of the well-behaved endpoints, before and while the others misbehave. */
  readonly before: Latency
  readonly during: Latency
  /** `during` / `before`. */
  readonly p50Ratio: number
  readonly p95Ratio: number
  readonly faults: readonly string[]
}

/** One warm-up, one window, and the wait until everything has arrived. */
export async function measureDeliveries(
  settings: DeliveriesSettings,
  folder: string,
): Promise<DeliveriesResult> {
  const world = await openWorld(settings, folder)
  try {
    const load = startLoad(world, settings)
    await warmUp(settings)
    await world.report()
    const before = usageNow(world.watched)
    const began = performance.now()
    await pause(settings.seconds * 1_000)
    const after = usageNow(world.watched)
    const seconds = (performance.now() - began) / 1_000
    const window = await world.report()
    load.stop()

    const { processes } = usageBetween(before, after)
    const accepted = window.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0)
    const micros = (ms = 0): number => (ms * 1_000) / Math.max(1, accepted)
    const faults = await arrived(world, load.published())
    return {
      seconds,
      ratePerSecond: accepted / seconds,
      latency: latencyOf(window),
      cpuMicros: {
        main: micros(processes['pool']?.mainThreadCpuMs),
        others: micros(processes['pool']?.otherThreadsCpuMs),
        nats:
          micros(processes['nats']?.mainThreadCpuMs) + micros(processes['nats']?.otherThreadsCpuMs),
      },
      rssMiB: processes['pool']?.rssMiB ?? 0,
      again: window.reduce((sum, one) => sum + one.again, 0),
      faults,
    }
  } finally {
    await world.close()
  }
}

const MISBEHAVE: readonly Manner[] = ['refuses', 'slow', 'flaps']

/** At a fixed rate: the same endpoints before and while the first three misbehave. */
export async function measureIsolation(
  settings: DeliveriesSettings & { readonly ratePerSecond: number },
  folder: string,
): Promise<IsolationResult> {
  const world = await openWorld(settings, folder)
  try {
    const load = startLoad(world, settings)
    const well = (all: readonly Got[]): readonly Got[] => all.slice(MISBEHAVE.length)
    await warmUp(settings)
    await world.report()
    await pause(settings.seconds * 1_000)
    const before = latencyOf(well(await world.report()))
    for (const [endpoint, manner] of MISBEHAVE.entries()) world.behave(endpoint, manner)
    await pause(LEAD_IN_MS)
    await world.report()
    await pause(settings.seconds * 1_000)
    const during = latencyOf(well(await world.report()))
    load.stop()
    for (const endpoint of MISBEHAVE.keys()) world.behave(endpoint, 'prompt')
    return {
      before,
      during,
      p50Ratio: during.p50 / before.p50,
      p95Ratio: during.p95 / before.p95,
      faults: await arrived(world, load.published()),
    }
  } finally {
    await world.close()
  }
}

interface World {
  readonly bus: Bus
  readonly tenants: readonly TenantId[]
  readonly watched: readonly Watched[]
  /** Events that arrived, each counted once. */
  accepted(): number
  behave(endpoint: number, manner: Manner): void
  report(): Promise<readonly Got[]>
  close(): Promise<void>
}

async function openWorld(settings: DeliveriesSettings, folder: string): Promise<World> {
  mkdirSync(folder, { recursive: true })
  const nats = await createNatsServer(folder)
  await nats.start()
  const environment = {
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    NATS_URL: nats.url,
    RATE_LIMIT: 'off',
  }
  const token = ensureInternalToken(readSettings(environment, ''), random)
  const processor = await openStandInProcessor(token)
  const receivers = await startReceivers(settings.endpoints)
  const tenants = receivers.ports.map((port, index) => {
    const tenant = `partner-${index}_sandbox` as TenantId
    processor.setEndpoint({
      id: newId<EndpointId>('endpoint', systemClock.now(), random),
      tenant,
      url: `http://127.0.0.1:${port}/webhooks/payouts?source=measurement`,
      enabled_events: ['*'],
      status: 'enabled',
      secrets: [{ key_id: 'whk_1', secret: 'whsec_of_the_measurement', active_from: '0' }],
      created_at: '0',
    })
    return tenant
  })
  const pool = await startPool(folder, processor.address, environment, settings.poolFlags)
  const log = createLog('load', { LOG_LEVEL: 'silent' })
  const bus = connectBus({ url: nats.url, consumes: false, clock: systemClock, log })
  await eventually('bus up', () => bus.publisher.room() > 0)
  return {
    bus,
    tenants,
    watched: [
      { name: 'pool', pid: pool.pid ?? 0 },
      { name: 'nats', pid: nats.pid() },
    ],
    accepted: receivers.accepted,
    behave: (endpoint, manner) => receivers.send({ kind: 'manner', endpoint, manner }),
    report: receivers.report,
    close: async () => {
      await end(pool)
      await bus.close()
      await end(receivers.process)
      processor.close()
      await nats.kill()
    },
  }
}

async function startPool(
  folder: string,
  processor: string,
  environment: Readonly<Record<string, string>>,
  flags: readonly string[],
): Promise<ChildProcess> {
  const pool = fork(join(projectRoot(), '.build', POOL), ['--processor', processor], {
    cwd: folder,
    execArgv: [...(NODE_FLAGS[POOL] ?? []), ...flags],
    env: {
      PATH: process.env['PATH'],
      ...environment,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      WEBHOOK_BACKOFF_SCALE_PCT: '1',
    },
  })
  await once(pool, 'message')
  return pool
}

async function startReceivers(count: number) {
  const child = fork(
    join(projectRoot(), '.build/test/load/deliveries/deliveries_receiver.js'),
    [`${count}`],
    {
      serialization: 'advanced',
    },
  )
  let accepted = 0
  let ports: (ports: readonly number[]) => void = () => undefined
  let reported: (receivers: readonly Got[]) => void = () => undefined
  child.on('message', (message: FromReceivers) => {
    if (message.kind === 'count') accepted = message.accepted
    else if (message.kind === 'ports') ports(message.ports)
    else reported(message.receivers)
  })
  const send = (message: ToReceivers): void => void child.send(message)
  return {
    process: child,
    ports: await new Promise<readonly number[]>((resolve) => (ports = resolve)),
    accepted: () => accepted,
    send,
    report: () =>
      new Promise<readonly Got[]>((resolve) => {
        reported = resolve
        send({ kind: 'report' })
      }),
  }
}

const warmUp = ({ seconds }: DeliveriesSettings): Promise<void> =>
  pause(Math.min(WARM_UP_MS, seconds * 1_000))

function startLoad(
  { bus, tenants, accepted }: World,
  { ratePerSecond, outstanding }: DeliveriesSettings,
) {
  let published = 0
  let lost = 0
  const began = performance.now()

  const due = (): number =>
    ratePerSecond === undefined
      ? outstanding - (published - accepted())
      : Math.floor(((performance.now() - began) * ratePerSecond) / 1_000) - published

  const publish = (): void => {
    const count = Math.min(due(), bus.publisher.room())
    for (let left = count; left > 0; left -= 1) {
      published += 1
      const event = anEvent(published, tenants[published % tenants.length] ?? tenants[0]!)
      void bus.publisher.publish(event, event.id).then((stored) => {
        if (!stored) lost += 1
      })
    }
  }
  const timer = setInterval(publish, TICK_MS)
  return {
    published: () => published - lost,
    stop: () => clearInterval(timer),
  }
}

/** What a completed payout looks like, in size. */
function anEvent(number: number, tenant: TenantId) {
  const createdAt = instant(systemClock.now())
  const id = newId<EventId>('event', createdAt, random)
  const at = new Date(createdAt).toISOString()
  const payout = {
    id: id.replace('evt_', 'pout_'),
    status: 'completed',
    amount: '1250000',
    recipient_amount: '1250000',
    currency: 'VND',
    fee_details: { service: '2500', rail: '1000' },
    fee: '3500',
    total: '1253500',
    reference: `invoice-${number}`,
    beneficiary: { id: id.replace('evt_', 'ben_'), name: 'Nguyễn Văn An', account_last4: '6789' },
    rail: { type: 'bank_transfer', transaction_id: `FT${number}` },
    metadata: { order: `${number}` },
    created_at: at,
    processing_at: at,
    completed_at: at,
    failed_at: null,
    reversed_at: null,
    failure: null,
  }
  const head = JSON.stringify({
    id,
    type: EVENT_TYPE,
    webhook_event_id: id,
    webhook_event_type: EVENT_TYPE,
    api_version: '2026-10-01',
    created_at: at,
    data: { payout },
  })
  const body = `${head.slice(0, -1)},${bodyEnd(number, nowMicros())}`
  return { position: number, id, tenant, type: EVENT_TYPE, sequence: number, createdAt, body }
}

/** D3. */
async function arrived({ accepted }: World, published: number): Promise<readonly string[]> {
  try {
    await eventually('all arrived', () => accepted() >= published, SETTLED_WITHIN_MS)
    return accepted() === published ? [] : [`${accepted()} arrived of ${published} published`]
  } catch {
    return [`only ${accepted()} arrived of ${published} published`]
  }
}

function latencyOf(receivers: readonly Got[]): Latency {
  const all = Float64Array.from(receivers.flatMap(({ latenciesMs }) => [...latenciesMs])).sort()
  const at = (share: number): number =>
    all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: all.at(-1) ?? 0 }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
