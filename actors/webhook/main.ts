/**
 * The webhook pool: composition root.
 *
 * Arguments: `--processor ADDRESS` (the processor's gRPC), `--nats URL`.
 *
 * Start: settings, store, sender, pool, directory, bus, intake. It serves when directory and bus
 * are there. Stop: the same backwards.
 */
import { parseArgs } from 'node:util'
import { credentials } from '@grpc/grpc-js'
import { Registry } from 'prom-client'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as WebhookTypes } from '../../protos/types/webhooks.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/bounds.js'
import { childProcess } from '../../src/base/child.js'
import { SECOND, systemClock } from '../../src/base/clock.js'
import { readInternalToken } from '../../src/base/internal_token.js'
import { createLog } from '../../src/base/log.js'
import { contracts } from '../../src/base/protos.js'
import { systemRandom } from '../../src/base/random.js'
import { dataFile, readSettings } from '../../src/base/settings.js'
import { FILES } from '../../src/base/subjects.js'
import { connectBus } from '../../src/bus/nats.js'
import { createIntake } from './consumer.js'
import { watchEndpoints } from './endpoints.js'
import { startJanitor } from './janitor.js'
import { registerMeasures } from './measures.js'
import { createOutcomes } from './outcomes.js'
import { createPool } from './pool.js'
import { createSender } from './sender.js'
import { openWebhookStore } from './store.js'
import { nameServers, systemNames } from './target_guard.js'

/** The process must be started anew: what it holds in memory may differ from the disk. */
const EXIT_RECOVER = 70
const LOOK_EVERY_MS = 20
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': SECOND,
  'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  'grpc.enable_retries': 0,
  'grpc.keepalive_time_ms': 10 * SECOND,
  'grpc.keepalive_timeout_ms': 5 * SECOND,
}

const { values: args } = parseArgs({
  options: { processor: { type: 'string' }, nats: { type: 'string' } },
})
if (args.processor === undefined) throw new Error('--processor ADDRESS is missing')

const settings = readSettings()
const log = createLog('webhooks', settings)
const clock = systemClock
const random = systemRandom()
const token = readInternalToken(settings)
const allowPrivate = settings.WEBHOOK_ALLOW_PRIVATE

const store = await openWebhookStore(dataFile(settings, FILES.webhookDatabase), (fault) => {
  log.fatal({ err: fault }, 'webhook store failed')
  log.flush(() => process.exit(EXIT_RECOVER))
})
const sender = createSender({
  brand: settings.BRAND,
  rules: { allowPrivate },
  resolve: allowPrivate ? systemNames : nameServers(),
  clock,
  random,
})
const { Directory } = contracts<DirectoryTypes>().causeway.v1
const { EventOutcomes } = contracts<WebhookTypes>().causeway.v1
const insecure = credentials.createInsecure()
const directory = new Directory(args.processor, insecure, CHANNEL)
const recorder = new EventOutcomes(args.processor, insecure, CHANNEL)

const registry = new Registry()
const outcomes = createOutcomes({ client: recorder, token, store, clock, log })
const pool = createPool({
  sender,
  store,
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
const janitor = startJanitor(store, clock)

const endpoints = watchEndpoints({ client: directory, token, log })
const bus = connectBus({ url: args.nats ?? settings.NATS_URL, consumes: true, clock, log })
const intake = createIntake({
  consumer: bus.consumer,
  endpoints,
  store,
  deliver: (deliveries) => pool.deliver(deliveries),
  settled: () => outcomes.wake(),
  clock,
  random,
  log,
})
endpoints.onTold((endpoint) => {
  pool.meet(endpoint)
  intake.meet(endpoint)
})
const measures = registerMeasures(registry, { counts: intake.counts, pool: () => pool.state() })
const reading = intake.run()

const child = childProcess({
  metrics: () => registry.metrics(),
  stop: async () => {
    clearInterval(looking)
    endpoints.close()
    await bus.close()
    await reading
    await intake.idle()
    await pool.stop()
    await sender.close()
    await janitor.stop()
    await outcomes.stop()
    await store.close()
    directory.close()
    recorder.close()
  },
})

const looking = setInterval(() => {
  if (bus.status() === 'down' || !endpoints.isInStep()) return
  clearInterval(looking)
  child.ready()
  log.info('serving')
}, LOOK_EVERY_MS)
