/**
 * The webhook pool: composition root.
 *
 * Arguments: `--processor ADDRESS` (the processor's gRPC), `--nats URL`, `--number N` (which of
 * several pools it is, from 1: each has its own books).
 *
 * Start: settings, store, sender, outcomes, pool, directory, bus, intake, janitor, desk. It serves
 * when directory and bus are there. Stop: desk, directory, intake, bus, pool, sender, janitor,
 * outcomes, store.
 */
import { parseArgs } from 'node:util'
import { credentials } from '@grpc/grpc-js'
import { Registry } from 'prom-client'
import type { ProtoGrpcType as DeskTypes } from '../../protos/types/delivery_desk.js'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as WebhookTypes } from '../../protos/types/webhooks.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/bounds.js'
import { childProcess } from '../../src/base/child.js'
import { SECOND, systemClock } from '../../src/base/clock.js'
import { readInternalToken } from '../../src/base/internal_token.js'
import { createLog } from '../../src/base/log.js'
import { contracts } from '../../src/base/protos.js'
import { systemRandom } from '../../src/base/random.js'
import { RECONNECT } from '../../src/base/retry.js'
import { dataFile, readSettings } from '../../src/base/settings.js'
import { webhookDatabase } from '../../src/base/subjects.js'
import { connectBus } from '../../src/bus/nats.js'
import { createClerk } from './clerk.js'
import { attendDesk } from './desk.js'
import { watchEndpoints } from './endpoints.js'
import { createIntake } from './intake.js'
import { startJanitor } from './janitor.js'
import { registerMeasures } from './measures.js'
import { createOutcomes } from './outcomes.js'
import { createPool } from './pool.js'
import { createRedriver } from './redrive.js'
import { createSender } from './sender.js'
import { openWebhookStore } from './store.js'
import { nameServers, systemNames } from './target_guard.js'
import { openViews } from './views.js'

/** The process must be started anew: what it holds in memory may differ from the disk. */
const EXIT_RECOVER = 70
const LOOK_EVERY_MS = 20
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': RECONNECT.firstMs,
  'grpc.max_reconnect_backoff_ms': RECONNECT.maxMs,
  'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  'grpc.enable_retries': 0,
  'grpc.keepalive_time_ms': 10 * SECOND,
  'grpc.keepalive_timeout_ms': 5 * SECOND,
}

const { values: args } = parseArgs({
  options: {
    processor: { type: 'string' },
    nats: { type: 'string' },
    number: { type: 'string', default: '1' },
  },
})
if (args.processor === undefined) throw new Error('--processor ADDRESS is missing')

const settings = readSettings()
const log = createLog('webhooks', settings)
const clock = systemClock
const random = systemRandom()
const token = readInternalToken(settings)
const allowPrivate = settings.WEBHOOK_ALLOW_PRIVATE

const books = dataFile(settings, webhookDatabase(Number(args.number)))
const store = await openWebhookStore(books, (fault) => {
  log.fatal({ err: fault }, 'webhook store failed')
  log.flush(() => process.exit(EXIT_RECOVER))
})
const views = await openViews(books)
const sender = createSender({
  brand: settings.BRAND,
  rules: { allowPrivate },
  resolve: allowPrivate ? systemNames : nameServers(),
  clock,
  random,
})
const { Directory } = contracts<DirectoryTypes>().causeway.v1
const { EventOutcomes } = contracts<WebhookTypes>().causeway.v1
const { DeliveryDesk } = contracts<DeskTypes>().causeway.v1
const insecure = credentials.createInsecure()
const directory = new Directory(args.processor, insecure, CHANNEL)
const recorder = new EventOutcomes(args.processor, insecure, CHANNEL)
const deskClient = new DeliveryDesk(args.processor, insecure, CHANNEL)

const registry = new Registry()
const outcomes = createOutcomes({ client: recorder, token, store, clock, log })
const pool = createPool({
  sender,
  store,
  ratePerSecond: settings.RATE_LIMIT === 'off' ? null : settings.WEBHOOK_RATE_PER_SECOND,
  backoff: {
    attemptsMax: settings.WEBHOOK_MAX_ATTEMPTS,
    scalePct: settings.WEBHOOK_BACKOFF_SCALE_PCT,
  },
  clock,
  random,
  log,
  settled: () => outcomes.wake(),
  disable: (endpointId, reason) => outcomes.disable(endpointId, reason),
  tried: (tried) => measures.tried(tried),
})
await pool.start()
outcomes.wake()

const endpoints = watchEndpoints({ client: directory, token, log })
const bus = connectBus({ url: args.nats ?? settings.NATS_URL, consumes: true, clock, log })
const intake = createIntake({
  consumer: bus.consumer,
  endpoints,
  store,
  deliver: (deliveries, stored) => pool.deliver(deliveries, stored),
  settled: () => outcomes.wake(),
  clock,
  random,
  log,
})
endpoints.onTold((endpoint) => {
  pool.meet(endpoint)
  intake.meet(endpoint)
})
endpoints.onPaused((paused) => pool.pause(paused))
const measures = registerMeasures(registry, {
  counts: intake.counts,
  pool: () => pool.state(),
  views,
  clock,
})
const janitor = startJanitor(
  { forget: (before, behind) => intake.inTurn(() => store.forget(before, behind)) },
  clock,
)
const redriver = createRedriver({ views, store, pool, intake, endpoints, clock, random })
const clerk = createClerk({ views, redriver, pool, clock, log })
const desk = attendDesk({
  client: deskClient,
  token,
  clerk,
  pool: Number(args.number),
  lastReceived: () => store.lastReceived(),
  log,
})
const reading = intake.run()

const looking = setInterval(() => {
  if (bus.status() === 'down' || !endpoints.isInStep()) return
  clearInterval(looking)
  child.ready()
  log.info('serving')
}, LOOK_EVERY_MS)

const child = childProcess({
  metrics: () => registry.metrics(),
  stop: async () => {
    clearInterval(looking)
    await desk.leave()
    bus.consumer.close()
    endpoints.close()
    await reading
    await intake.idle()
    await bus.close()
    await pool.stop()
    await sender.close()
    await janitor.stop()
    await outcomes.stop()
    await views.close()
    await store.close()
    directory.close()
    recorder.close()
    deskClient.close()
  },
})
