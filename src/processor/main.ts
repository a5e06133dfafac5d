/**
 * The processor: composition root.
 *
 * Arguments: `--rail ADDRESS` (the rail's gRPC), `--listen unix:PATH` (our own processes), `--nats
 * URL`.
 *
 * Start: settings, master keys, store, high-water mark, vault, memory, bus, relay, rail, cycle,
 * judgement of what bus and rail know, timers, doors. Stop:
 * doors, timers, rail, cycle, relay, bus, store.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Registry } from 'prom-client'
import { loadMasterKeys } from '../auth/master_key.js'
import { childProcess, EXIT_BOOKS_BEHIND } from '../base/child.js'
import { SECOND, systemClock } from '../base/clock.js'
import { freeBytesOf, MIB, watchFreeSpace } from '../base/free_space.js'
import { readInternalToken } from '../base/internal_token.js'
import { createLog } from '../base/log.js'
import { systemRandom } from '../base/random.js'
import { dataFile, readSettings } from '../base/settings.js'
import { FILES } from '../base/subjects.js'
import { connectBus } from '../bus/nats.js'
import { connectRail } from '../rails/client.js'
import { openStore, type Store } from '../store/store.js'
import { rulesOf } from './cycle/rules.js'
import { applyRailReport } from './commands/rail_reports/rail_report_apply.js'
import { enterRecovery } from './commands/operators/recovery_enter.js'
import { openKeyring } from './keys/keyring.js'
import { loadMemory } from './cache/memory.js'
import { registerMetrics } from './metrics.js'
import { createPipeline } from './cycle/pipeline.js'
import { createReader } from './queries/query.js'
import { createKeyExpiry } from './background/key_expiry.js'
import { createRailLink } from './background/rail_link.js'
import { createRelay, type Relay } from './background/relay.js'
import { createServer } from './server.js'
import { directoryService } from './servers/directory_stream.js'
import { createAuthInterceptor } from './servers/auth_interceptor.js'
import { createTimers } from './background/timers.js'
import { createAdmission } from './recovery/admission.js'
import { createHighWater, readHighWater } from './recovery/high_water.js'
import { readMarkFile, replaceMarkFile } from './recovery/high_water_file.js'
import { ADVICE, createMarks } from './recovery/marks.js'
import { createStuckPaymentMonitor } from './background/stuck_payment_monitor.js'
import { createVault } from './keys/vault.js'

/** The process must be started anew: what it holds in memory may differ from the disk. */
const EXIT_RECOVER = 70
/** What a start waits for, as far as they can be reached. */
const BUS = 'the bus'
const RAIL = 'the rail'

const { values: args } = parseArgs({
  options: {
    rail: { type: 'string' },
    listen: { type: 'string' },
    nats: { type: 'string' },
  },
})
if (args.rail === undefined) throw new Error('--rail ADDRESS is missing')

const settings = readSettings()
const log = createLog('processor', settings)
const clock = systemClock
const random = systemRandom()
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const token = readInternalToken(settings)
const masterKeyFile = settings.MASTER_KEY_FILE || dataFile(settings, FILES.masterKey)
const isProduction = settings.PRODUCTION_HOSTS.length > 0
const masters = loadMasterKeys(
  masterKeyFile,
  {
    create: !isProduction && !existsSync(dataFile(settings, FILES.processorDatabase)),
    mustBePrivate: true,
  },
  random,
)
const books = await openStore(dataFile(settings, FILES.processorDatabase))
const highWaterFile = dataFile(settings, FILES.highWater)
const markText = readMarkFile(highWaterFile)
const highWaterMark = markText === undefined ? undefined : readHighWater(markText)
if (markText !== undefined && highWaterMark === undefined) {
  log.warn({ file: FILES.highWater }, 'high-water mark not readable, not judged')
}
const highWater = createHighWater({
  write: (mark) => replaceMarkFile(highWaterFile, mark),
  found: highWaterMark,
  pause,
  log,
})
/** The books stay as they are until an operator releases them: reads only. */
const isRecovering = settings.RECOVERY === 'yes' || (await books.isInRecovery())
let isReleased = false
let isServing = false
const store: Store = {
  ...books,
  commit: async (batch) => {
    await books.commit(batch)
    // In recovery mode the mark is the evidence of what was lost.
    if (!isRecovering) highWater.committed(books.marks.progress())
  },
}

/** The process ends. Its last line, whatever is logged, is what the supervisor prints. */
const refuseBooks = (reason: string): Promise<never> =>
  new Promise(() => {
    log.flush(() => {
      process.stdout.write(`The books went back in time: ${reason}; ${ADVICE}.\n`)
      process.exit(EXIT_BOOKS_BEHIND)
    })
  })
const marks = createMarks(store.marks)
if (highWaterMark !== undefined) {
  const mark = { kind: 'high_water', source: FILES.highWater, progress: highWaterMark } as const
  const judgement = await marks.judge(mark)
  if (judgement.kind === 'behind' && !isRecovering) await refuseBooks(judgement.reason)
}
const admission = createAdmission({
  marks,
  awaited: [BUS, RAIL],
  onBehind: (reason, late) => void onBehind(reason, late),
  pause,
  log,
})
const keyring = await openKeyring(store, masters, random, clock.now())
if (keyring.cutOff.length > 0) {
  log.warn({ master_keys: keyring.cutOff }, 'removed early: session tokens they signed end now')
}
const vault = createVault(keyring, random)
const memory = await loadMemory(store, vault, clock.now(), {
  warmActors: settings.WARM_ACTORS,
  duplicateWindowMs: settings.DUPLICATE_SCAN_WINDOW_S * SECOND,
})
const auth = createAuthInterceptor(token)
const directory = directoryService(memory, vault, auth)
const bus = connectBus({
  url: args.nats ?? settings.NATS_URL,
  consumes: false,
  admit: (id) => admission.admits(BUS, id === null ? null : { kind: 'event', source: BUS, id }),
  clock,
  log,
})
const railConnection = connectRail({
  address: args.rail,
  token,
  log,
  admit: ({ name, newestInstruction: id }) => {
    const source = `rail ${name}`
    return admission.admits(RAIL, id === null ? null : { kind: 'instruction', source, id })
  },
})
const rail = createRailLink(railConnection, clock)

const disk = watchFreeSpace({
  reserveBytes: settings.DISK_RESERVE_MB * MIB,
  read: () => freeBytesOf(resolve(settings.DATA_DIR)),
  log,
})
await disk.start()
let relay: Relay | undefined
const pipeline = createPipeline({
  clock,
  random,
  store,
  memory,
  vault,
  rules: rulesOf(settings),
  log,
  yieldToEventLoop,
  rail,
  publish: (events) => relay?.push(events),
  directoryChanged: (partners, endpoints) => directory.changed(partners, endpoints),
  diskIsLow: () => disk.isLow(),
  stop: (reason, error) => {
    log.fatal({ err: error }, reason)
    log.flush(() => process.exit(EXIT_RECOVER))
  },
})
/** Recovery mode begins before the first caller is served, or when a mark is judged late. */
const enter = (cause: string): Promise<void> =>
  new Promise((resolve) =>
    pipeline.submit({
      queueKey: 'ours',
      command: enterRecovery(cause),
      deadline: null,
      signedBy: null,
      reply: () => resolve(),
    }),
  )

/** Late, callers are served already: all but reads is refused, and the process starts anew. */
async function onBehind(reason: string, late: boolean): Promise<void> {
  if (isRecovering) return log.warn({ reason }, 'the books are behind')
  if (!late || !isServing) return refuseBooks(reason)
  await enter(reason)
  log.error({ reason }, 'the books went back in time: recovery mode')
  child.stop()
}

if (isRecovering) await enter('RECOVERY=yes')
if (memory.recovery !== null) {
  log.warn({ cause: memory.recovery.cause }, 'recovery mode: reads only, until it is released')
}

rail.onReport((reports) => {
  if (memory.recovery !== null) return // not acknowledged, so they come again with the next link
  const { finalityWindowMs } = rail.describe()
  for (const report of reports) {
    pipeline.submit({
      queueKey: 'ours',
      command: applyRailReport(report, finalityWindowMs),
      deadline: null,
      signedBy: null,
      reply: () => undefined,
    })
  }
})
await admission.start()
if (!isRecovering) highWater.committed(books.marks.progress())
const timers = createTimers({ clock, store, pipeline, log, pause })
const keyExpiry = createKeyExpiry({ clock, memory, pipeline })
if (!isRecovering) {
  relay = createRelay({
    bus: bus.publisher,
    openEvents: (after, limit) => store.openEvents(after, limit),
    clock,
    log,
  })
  timers.start()
  keyExpiry.start()
}
const stuckPaymentMonitor = createStuckPaymentMonitor({ clock, lists: store.lists, log })
stuckPaymentMonitor.start()

const { corruptRows } = memory
const reader = createReader({ lists: store.lists, vault, brand: settings.BRAND, corruptRows }, log)
const server = createServer({ clock, memory, pipeline, reader, auth }, directory, {
  onPool: (number, id) => {
    const source = `webhook pool ${number}`
    void admission.admits(source, id === null ? null : { kind: 'event', source, id })
  },
  behind: () => marks.behind(),
  released: () => {
    isReleased = true
    child.stop()
  },
})
const grpcPort = await server.bind(`127.0.0.1:${settings.GRPC_PORT}`)
if (args.listen !== undefined) await server.bind(args.listen)

const NOTHING_WAITS = { waiting: 0, catchingUp: false }
const registry = new Registry()
registerMetrics(registry, {
  pipeline,
  memory,
  relay: { backlog: () => relay?.backlog() ?? NOTHING_WAITS },
  timers,
  stuckPaymentMonitor,
})
const child = childProcess({
  metrics: () => registry.metrics(),
  stop: async () => {
    await server.close()
    keyExpiry.stop()
    await timers.stop()
    await stuckPaymentMonitor.stop()
    await disk.stop()
    await rail.close()
    await pipeline.idle()
    await relay?.stop()
    await bus.close()
    if (isReleased) {
      await books.raiseEpoch(highWaterMark?.epoch ?? 0)
      highWater.committed(books.marks.progress())
    }
    await highWater.stop()
    await store.close()
  },
})
isServing = true
child.ready({ port: grpcPort, mode: isRecovering ? 'recovery' : 'normal' })
log.info({ port: grpcPort }, 'serving')
