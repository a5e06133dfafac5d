/**
 * The webhook pool: composition root.
 *
 * It is ready once directory and bus are up. While another process owns its schema, it waits as a
 * candidate and connects to nothing else.
 */
import type { EventOutcomesClient } from '../../protos/types/causeway/internal/v1/EventOutcomes.js'
import type { WebhookControlClient } from '../../protos/types/causeway/internal/v1/WebhookControl.js'
import type { ProtoGrpcType as ControlTypes } from '../../protos/types/webhook_control.js'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as WebhookTypes } from '../../protos/types/webhooks.js'
import { systemClock, systemPause } from '../../src/base/clock.js'
import { CHANNEL } from '../../src/grpc/channel.js'
import type { EndpointId, TenantId } from '../../src/base/ids.js'
import { watchProcessorAddresses } from '../../src/grpc/processor_addresses.js'
import { contracts } from '../../src/grpc/contracts.js'
import { createRenewedClient } from '../../src/grpc/renewed_client.js'
import { dataFile } from '../../src/settings/settings.js'
import { createSteadyClock } from '../../src/base/steady_clock.js'
import { webhookDatabase, webhookSchema } from '../../src/base/subjects.js'
import { openOwnProcess } from '../../src/metrics/own_process.js'
import { degradedBy, reportChanges, type StateReport } from '../../src/process/state_report.js'
import { reportFreeSpace, reportStoreFile } from '../../src/metrics/store_files.js'
import { busServer } from '../../src/bus/bus_server.js'
import { connectBus } from '../../src/bus/nats.js'
import { openTracer } from '../../src/tracing/tracer.js'
import { createControlHandler } from './control/control_handler.js'
import { openControlStream, type ControlStream } from './control/control_stream.js'
import { createEndpointDirectory, type Subscription } from './endpoint/endpoint_directory.js'
import { createEventClaims } from './intake/event_claims.js'
import { createEventConsumer } from './intake/event_consumer.js'
import { startRetention } from './store/retention.js'
import { createAttemptMeter, registerMetrics } from './metrics.js'
import { createDeadDeliveryReporter } from './intake/dead_delivery_reporter.js'
import { createEventOutcomeReporter } from './intake/event_outcome_reporter.js'
import { createDeadLetterLog } from './dead_letter_log.js'
import { createPool } from './pool.js'
import { createRedriver } from './control/redrive.js'
import { createSender } from './sending/sender.js'
import { exitAtOnce, orExit } from '../../src/store/postgres/owner_exit.js'
import { lockHolder } from '../../src/store/postgres/owned_schema.js'
import { openPostgresPool, type PostgresPool } from './store/postgres/store.js'
import { openWebhookStore, type CorruptRow } from './store/store.js'
import { nameServers, systemNames } from './sending/target_guard.js'
import { openAdminQueries } from './store/admin_queries.js'

const READY_CHECK_EVERY_MS = 20
const CANDIDATE = { ready: false, mode: 'candidate' }

const own = await openOwnProcess(
  'webhooks',
  'Delivers events to the webhook endpoints of partners.',
)
const { settings, log, random, tls, metrics, child } = own
const clock = systemClock
const token = settings.PROCESSOR_TOKEN
const allowPrivate = settings.WEBHOOK_ALLOW_PRIVATE

await own.formerEnded()
const { store, adminQueries } = await openStore()
const elapsed = (): number => performance.now()
const tracer = openTracer({
  ...{ process: 'webhooks', settings, metrics, clock, elapsed, random, log },
})
const sender = createSender({
  brand: settings.BRAND,
  rules: { allowPrivate },
  resolve: allowPrivate ? systemNames : nameServers(),
  clock,
  random,
})
const { Directory, EventOutcomes, WebhookControl } = contracts<
  DirectoryTypes & WebhookTypes & ControlTypes
>(
  'causeway/internal/v1/directory.proto',
  'causeway/internal/v1/webhooks.proto',
  'causeway/internal/v1/webhook_control.proto',
).causeway.internal.v1

const endpoints = createEndpointDirectory({ token, log })
/** By address. */
const processors = new Map<string, Processor>()
const clientOfEndpoint = (id: EndpointId): EventOutcomesClient | undefined => {
  const endpoint = endpoints.get(id)
  return endpoint && recorderOf(endpoint.tenant)
}
const outcomes = createEventOutcomeReporter({
  clientOf: recorderOf,
  clientOfEndpoint,
  urlOf: (id) => {
    const endpoint = endpoints.get(id)
    return endpoint?.status === 'enabled' ? endpoint.url : undefined
  },
  token,
  store,
  failed: poolFailed,
  clock,
  log,
})
const deadDeliveries = createDeadDeliveryReporter({
  pool: settings.WEBHOOK_POOL_NUMBER,
  clients: () =>
    [...processors.values()]
      .filter(({ subscription }) => subscription.isComplete())
      .map(({ recorder }) => recorder()),
  clientOfEndpoint,
  token,
  adminQueries,
  clock,
  elapsed,
  failed: poolFailed,
  log,
})
const deadLetters = createDeadLetterLog({
  clock,
  log,
  perSecond: settings.LOG_TRANSITIONS_PER_SECOND,
})
const pool = createPool({
  sender,
  tracer,
  store,
  ratePerSecond: settings.RATE_LIMIT === 'off' ? null : settings.WEBHOOK_RATE_PER_SECOND,
  backoff: {
    attemptsMax: settings.WEBHOOK_MAX_ATTEMPTS,
    scalePct: settings.WEBHOOK_BACKOFF_SCALE_PCT,
  },
  clock,
  random,
  log,
  isPaused: endpoints.isPaused,
  settled: () => outcomes.schedule(),
  disable: outcomes.disable,
  onAttempt: createAttemptMeter(metrics),
  deadLetters,
  deadChanged: () => deadDeliveries.schedule(),
  failed: poolFailed,
})
await pool.start()
outcomes.schedule()

const { installations } = endpoints
const bus = connectBus({ ...busServer(settings), consumes: true, installations, clock, log })
const claims = createEventClaims({
  pool: settings.WEBHOOK_POOL_NUMBER,
  clientOf: (tenant) => processorOf(tenant)?.controlClient(),
  isAllSynced: endpoints.isAllSynced,
  ...{ token, store, clock },
  pause: systemPause,
})
const eventConsumer = createEventConsumer({
  consumer: bus.consumer,
  endpoints,
  store,
  claims,
  deliver: (deliveries, stored) => pool.deliver(deliveries, stored),
  settled: () => outcomes.schedule(),
  failed: poolFailed,
  clock,
  random,
  log,
})
endpoints.onChange((endpoint) => {
  pool.applyEndpoint(endpoint)
  eventConsumer.applyEndpoint(endpoint)
})
endpoints.onComplete(() => deadDeliveries.schedule())
registerMetrics(metrics, {
  counts: eventConsumer.counts,
  pool: () => pool.state(),
  adminQueries,
  store,
  bus,
  clock,
})
const retention = startRetention(
  {
    removeSettled: (before, after) =>
      eventConsumer.inOrder(() => store.removeSettled(before, after)),
  },
  clock,
  createSteadyClock(clock, elapsed).isSteady,
  { delivered: settings.WEBHOOK_KEEP_DELIVERED_DAYS, dead: settings.WEBHOOK_KEEP_DEAD_DAYS },
  poolFailed,
)
const redriver = createRedriver({
  adminQueries,
  store,
  pool,
  eventConsumer,
  endpoints,
  clock,
  random,
})
const handleControl = createControlHandler({
  ...{ adminQueries, redriver, pool, store, claims, clock, log },
})
const several = settings.PROCESSORS.length > 0
const addresses = watchProcessorAddresses(
  several ? settings.PROCESSORS : [settings.PROCESSOR_ADDRESS],
  connectTo,
  log,
)
const consuming = eventConsumer.run()

let stateReport: StateReport | undefined
const stateNow = () =>
  degradedBy([
    ...(bus.status() === 'up' ? [] : ['the bus is down: no event arrives']),
    ...(endpoints.isAllSynced()
      ? []
      : ['a processor is away: changes of its endpoints do not arrive']),
  ])
const readyCheck = setInterval(() => {
  if (bus.status() === 'down' || !endpoints.isAllSynced()) return
  clearInterval(readyCheck)
  child.ready(stateNow())
  stateReport = reportChanges(child, stateNow)
  log.info('serving')
}, READY_CHECK_EVERY_MS)

let serving = true
own.readinessIs(() => {
  const isInStep = endpoints.isAllSynced()
  const status = bus.status()
  const state = { ready: serving && status === 'up' && isInStep, bus: status, isInStep }
  return state
})
own.stopsBy(async () => {
  serving = false
  clearInterval(readyCheck)
  stateReport?.stop()
  addresses.stop()
  await Promise.all([...processors.values()].map(({ control }) => control.close()))
  bus.consumer.close()
  endpoints.close()
  await consuming
  await eventConsumer.idle()
  await bus.close()
  await pool.stop()
  deadLetters.stop()
  await sender.close()
  await tracer?.stop()
  await retention.stop()
  await outcomes.stop()
  await deadDeliveries.stop()
  await adminQueries.close()
  await store.close()
  for (const { clients } of processors.values()) clients.forEach((client) => client.close())
})

interface Processor {
  readonly subscription: Subscription
  readonly recorder: () => EventOutcomesClient
  readonly control: ControlStream
  readonly controlClient: () => WebhookControlClient
  readonly clients: readonly { close(): void }[]
}

/** Called with all addresses, at first and when they change. */
function connectTo(found: readonly string[]): void {
  for (const [address, processor] of processors) {
    if (found.includes(address)) continue
    processors.delete(address)
    processor.subscription.close()
    processor.control
      .close()
      .then(() => processor.clients.forEach((client) => client.close()))
      .catch(poolFailed)
  }
  for (const address of found) {
    if (!processors.has(address)) processors.set(address, connectProcessor(address))
  }
}

function connectProcessor(address: string): Processor {
  const channel = tls.channelCredentials(address)
  const options = { ...CHANNEL, ...tls.channelOptions(address) }
  const directory = createRenewedClient(
    (given) => new Directory(address, channel, { ...options, ...given }),
  )
  const recorder = createRenewedClient(
    (given) => new EventOutcomes(address, channel, { ...options, ...given }),
  )
  const control = createRenewedClient(
    (given) => new WebhookControl(address, channel, { ...options, ...given }),
  )
  const subscription = endpoints.add(directory.current)
  subscription.complete.then(() => outcomes.schedule()).catch(poolFailed)
  const controlStream = openControlStream({
    client: control.current,
    token,
    handle: handleControl,
    pool: settings.WEBHOOK_POOL_NUMBER,
    lastReceived: async () => {
      if (!several) return store.lastReceived()
      await subscription.complete
      return store.lastReceived((tenant) => subscription.has(tenant))
    },
    log,
  })
  return {
    ...{ subscription, control: controlStream },
    ...{ recorder: recorder.current, controlClient: control.current },
    clients: [directory, recorder, control],
  }
}

function processorOf(tenant: TenantId): Processor | undefined {
  const found = endpoints.subscriptionOf(tenant)
  return [...processors.values()].find(({ subscription }) => subscription === found)
}

function recorderOf(tenant: TenantId): EventOutcomesClient | undefined {
  return processorOf(tenant)?.recorder()
}

async function openStore(): Promise<PostgresPool> {
  const number = settings.WEBHOOK_POOL_NUMBER
  const reports = { failed: poolFailed, corrupt: reportCorrupt }
  const url = settings.WEBHOOK_STORE_URL || settings.STORE_URL
  if (url === '') {
    const database = dataFile(settings, webhookDatabase(number))
    reportStoreFile(metrics, database)
    reportFreeSpace(metrics, settings.DATA_DIR)
    const store = await openWebhookStore(database, reports)
    return { store, adminQueries: await openAdminQueries(database) }
  }
  const shard = webhookSchema(settings.WEBHOOK_POOL_SCHEMA, number)
  const options = {
    url,
    shard,
    holder: await lockHolder(settings.DATA_DIR, shard, random),
    elapsed: () => performance.now(),
    pause: systemPause,
    onWaiting: () => {
      own.readinessIs(() => CANDIDATE)
      child.waiting({ mode: CANDIDATE.mode })
    },
    log,
  }
  return openPostgresPool(options, reports).catch(orExit(poolFailed))
}

function poolFailed(fault: unknown): void {
  exitAtOnce(log, 'webhook pool failed', fault)
}

function reportCorrupt({ id, eventId, endpointId }: CorruptRow, reason: string): void {
  const row = { delivery_id: id, event_id: eventId, endpoint_id: endpointId, reason }
  log.error(row, 'corrupt row; it is left as it is, and all other deliveries go on')
}
