/**
 * The processor: composition root, in the order of its start. Stopping goes from the outside in.
 *
 * - The gRPC port comes before the books: a processor that cannot listen must not take them over.
 * - Before the first call the books are compared with the high-water file, and with the bus and the
 *   rails if they can be reached, and the cluster's settings are applied.
 */
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { configuredCaller, createCallers } from '../auth/callers.js'
import { openOperatorCertificates } from '../auth/operator_ca.js'
import { knownBackupAgeSeconds } from '../files/backup_marks.js'
import { EXIT_DEPOSED } from '../process/child.js'
import { reportChanges, type StateReport } from '../process/state_report.js'
import { instant, plus, systemClock, systemPause, type Instant } from '../base/clock.js'
import { crashPoint } from '../base/crash_point.js'
import { freeBytesOf, MIB, watchFreeSpace } from '../files/free_space.js'
import { listen } from '../grpc/connections.js'
import { joinAddress } from '../base/network.js'
import { dataFile } from '../settings/settings.js'
import { FILES } from '../base/subjects.js'
import { busServer } from '../bus/bus_server.js'
import { connectBus } from '../bus/nats.js'
import { openOwnProcess } from '../metrics/own_process.js'
import { ownVersion } from '../metrics/process_metrics.js'
import { reportStoreFile } from '../metrics/store_files.js'
import type { RailReport } from '../rails/rail.js'
import { readRails } from '../rails/rails_file.js'
import { createRailTable } from '../rails/rail_table.js'
import { screeningOf } from '../screening/client.js'
import { connectToPrimary, parseStoreUrl, type Connection } from '../store/postgres/connection.js'
import { exitAtOnce } from '../store/postgres/owner_exit.js'
import { openTracer } from '../tracing/tracer.js'
import { createChangeLog } from './background/change_log.js'
import { createLateRelay } from './background/late_relay.js'
import { measuredRails } from './background/measured_rails.js'
import { createMovedReports } from './background/moved_reports.js'
import { createRefusalLog } from './background/refusal_log.js'
import { createRailLinks } from './background/rail_links.js'
import { createBackgroundWork } from './background_work.js'
import { isReadOnly } from './cache/memory.js'
import { railOf, routesNotCarried } from './changes/payment_rail.js'
import type { Member } from './cluster/member.js'
import { registerShardMetrics } from './cluster/metrics.js'
import { createPartnerCopies } from './cluster/partner_copies.js'
import { createPartnerMoves, indexEntriesOf } from './cluster/partner_move.js'
import { checkPartnerMove } from './cluster/partner_move_check.js'
import { applyRailReport } from './commands/rail_reports/rail_report_apply.js'
import { createBooksClock } from './cycle/books_clock.js'
import { internalWork } from './cycle/command.js'
import { createPipeline } from './cycle/pipeline.js'
import { rulesOf } from './cycle/rules.js'
import { createScreenedPipeline } from './cycle/screened_pipeline.js'
import { loadBooks, memoryOptions } from './loaded_books.js'
import { createPipelineMeter, createScreeningMeter, registerMetrics } from './metrics.js'
import { connectToRail, createOutsideMarks, openRecovery, shardAtRail } from './outside_marks.js'
import {
  advertisedAddress,
  installationIds,
  openOwnedBooks,
  shardInfoOf,
  timelines,
} from './owned_books.js'
import { createPaymentCounters } from './payment_metrics.js'
import { createQueryRunner } from './queries/query.js'
import { ownerOf, readinessOf, readyInfo, type ReadinessSources } from './readiness.js'
import { createStatementChecker } from './recovery/statement_check.js'
import { createServer, prepareContracts, type ServerLinks } from './server.js'
import { createCallReport } from './servers/call_report.js'
import { directoryService } from './servers/directory_stream.js'
import { createCommittedEvents } from './servers/event_watch.js'
import { systemState } from './servers/operator/system.js'

const own = await openOwnProcess('processor', 'Decides and records every payment and payout.')
const { settings, log, random, tls, metrics, child } = own
const version = ownVersion()
const startedAt = systemClock.now()
const clock = createBooksClock(systemClock)
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const rails = readRails(settings)
const elapsed = (): number => performance.now()
const tracer = openTracer({
  ...{ process: 'processor', settings, metrics, clock: systemClock, elapsed, random, log },
})
let serving = true
let isAnnounced = false
let stateReport: StateReport | undefined = undefined

// The port and the books. A processor that takes books over must be ready soon.
if (settings.CLUSTER !== 'off' || own.replaces) prepareContracts()
await own.formerEnded()
const listener = await listen(joinAddress({ host: settings.GRPC_HOST, port: settings.GRPC_PORT }))
const { masters, books, member, clusterSalt, whenLoaded } = await openOwnedBooks({
  ...own,
  listener,
})
const owned = { settings, books, member, log }
const recovery = await openRecovery(owned, { rails, clock })
const { store } = recovery

// Keys and memory.
const { vault, memory } = await whenLoaded(
  loadBooks({ settings, store, masters, member, clock, random, log }),
)
const { corruptRows } = memory
const callers = createCallers(
  settings.CALLERS.map(configuredCaller),
  clock,
  memory.callers,
  openOperatorCertificates(settings, systemClock),
)
const installations = installationIds(memory, clusterSalt)
const [installation] = installations
const directory = directoryService(memory, vault, { ...shardInfoOf(owned), installation })
member?.onAddresses(directory.addressesChanged)
const disk = watchFreeSpace({
  reserveBytes: settings.DISK_RESERVE_MB * MIB,
  read: () => freeBytesOf(resolve(settings.DATA_DIR)),
  log,
})
await disk.start()

// Bus and rails.
const marks = createOutsideMarks(owned, { recovery, memory })
const bus = connectBus({
  ...busServer(settings),
  consumes: false,
  installations: () => installations,
  admit: marks.admitBus,
  clock,
  log,
})
const rules = rulesOf(settings, createRailTable(rails))
for (const { route, rail: name } of routesNotCarried(memory, rules.rails)) {
  log.error({ route, rail: name }, 'RAILS_FILE does not give a route to its rail: it is down')
}
const connected = rails.map(
  (configured) =>
    [configured.name, connectToRail(configured, owned, { tls, recovery, memory })] as const,
)
const rail = measuredRails(
  metrics,
  createRailLinks(new Map(connected), clock, submissionsStoppedSince, log),
)

// The cycle.
const counters = createPaymentCounters(metrics, railOf)
const changeLog = createChangeLog({
  clock,
  log,
  createdPerSecond: settings.LOG_CREATED_PER_SECOND,
  othersPerSecond: settings.LOG_TRANSITIONS_PER_SECOND,
})
const refusalLog = createRefusalLog({ clock, log, perSecond: settings.LOG_REFUSALS_PER_SECOND })
const relay = createLateRelay({
  bus: bus.publisher,
  openEvents: (after, limit) => store.openEvents(after, limit),
  clock,
  log,
})
const committedEvents = createCommittedEvents()
/** That of the PostgreSQL server, so that a wrong clock of this machine refuses no request. */
const requestClock = { now: () => plus(systemClock.now(), -(store.clockOffsetMs?.() ?? 0)) }
const pipeline = createPipeline({
  ...{ clock, requestClock },
  random,
  store,
  memory,
  vault,
  rules,
  log,
  yieldToEventLoop,
  rail,
  publish: (events) => {
    relay.push(events)
    committedEvents.committed(events)
  },
  logChanges: (transitions, actions) => {
    counters.committed(transitions)
    changeLog.committed(transitions, actions)
    if (actions.length > 0) reportState()
  },
  tracer,
  meter: createPipelineMeter(metrics, elapsed, refusalLog),
  directoryChanged: (partners, endpoints) => directory.changed(partners, endpoints),
  diskIsLow: () => disk.isLow(),
  stop: exit,
})
const screening = screeningOf(settings, tls, log)
/** What servers submit to: it screens their commands. */
const front =
  screening === undefined
    ? pipeline
    : createScreenedPipeline(pipeline, screening, createScreeningMeter(metrics, elapsed))
store.onFailure((error) => exit('the store failed', error))
member?.onFailure((error) => exit('the cluster failed', error))
await recovery.enter(pipeline, memory)
const movedReports =
  member &&
  (await createMovedReports({
    ...{ shard: member.shard, stored: member.reports, memory, pipeline, rail, log },
  }))
const connectForMove = (purpose: string): Promise<Connection> => {
  const targets = parseStoreUrl(settings.STORE_URL)
  return connectToPrimary(targets, 'cluster', purpose, timelines(settings).known())
}
const partnerMoves =
  member &&
  createPartnerMoves({
    ...{ shard: member.shard, moves: member.moves, store, memory, vault, clock, pipeline },
    ...{ directory, elapsed, pause: systemPause, log },
    options: memoryOptions(settings),
    connect: connectForMove,
    left: (partner, payments) => movedReports?.leaves(partner, payments),
    moved: (tenants) => {
      relay.readAgain()
      committedEvents.committed(tenants.map((tenant) => ({ tenant })))
    },
    restart: (reason) => {
      log.warn({ reason }, 'the processor ends, to read its books from the beginning')
      log.flush(() => process.exit(EXIT_DEPOSED))
    },
    failed: exit,
  })
const partnerCopies =
  member &&
  createPartnerCopies({
    ...{ shard: member.shard, moves: member.moves, connect: connectForMove },
    willLeave: (partner, payments) => movedReports?.leaves(partner, payments),
    forget: (keys) => memory.keyIndex.remove(indexEntriesOf(keys)),
    ...{ elapsed, pause: systemPause, log },
  })
const { shard: ownShard } = shardAtRail(owned)
rail.onReport((...given) =>
  partnerMoves === undefined
    ? applyReports(...given)
    : partnerMoves.whenFree(() => applyReports(...given)),
)
function applyReports(all: readonly RailReport[], name: string, finalityWindowMs: number): void {
  if (isReadOnly(memory)) return // unacknowledged reports come again with the next link
  const reports = movedReports?.forwarded(all, name, finalityWindowMs) ?? all
  for (const report of reports) {
    const isForeign = (report.shard ?? ownShard) !== ownShard
    const command = applyRailReport(report, finalityWindowMs, name, isForeign)
    pipeline.submit(internalWork(command, 'rail'))
  }
}
await recovery.checkSources()

// Background work.
const work = createBackgroundWork({
  ...{ settings, clock, elapsed, recovery, memory, pipeline, rail, relay, member, log },
  movedReports,
  onSettingsFault: setServing,
  onUnnamedRails: reportState,
  isStopping: () => !serving,
  failed: exit,
})
const { sharedSettings } = work
await work.start()

// The server.
const reader = createQueryRunner(
  { lists: store.lists, vault, brand: settings.BRAND, corruptRows },
  log,
)
const links: ServerLinks = {
  events: committedEvents,
  idle: () => front.idle(),
  onPool: marks.comparePool,
  webhookPools: settings.WEBHOOK_POOLS,
  behind: () => recovery.behind(),
  isBusChecked: () => recovery.isBusChecked(),
  statements: createStatementChecker(() => books.marks.newestSubmission(), rail.summarize),
  ...shardAtRail(owned),
  mode: () => recovery.state(),
  released: () => recovery.released(),
  placements: member,
  progress: settings.STORE_URL === '' ? undefined : marks.gateways,
  shards: member && {
    ...member.cluster,
    checkPartnerMove: (move) =>
      checkPartnerMove(move, {
        ...{ url: settings.STORE_URL, timelines: timelines(settings), masters, random },
      }),
  },
  observe: createCallReport({
    ...{ metrics, clock, elapsed, log },
    refusalsPerSecond: settings.LOG_REFUSALS_PER_SECOND,
  }),
  ratePerSecond: settings.RATE_LIMIT_PER_SECOND,
  systemState: () => systemState({ settings, version, startedAt, shard: member?.shard ?? '' }),
}
await mustSucceed('the settings for all shards are not applied', async () =>
  sharedSettings?.catchUp(),
)
const dependencies = {
  ...{ clock, random, sampler: tracer?.sampler, memory, pipeline: front, reader },
}
const server = createServer(dependencies, callers, directory, links, tls)
const grpcPort = await server.bind(listener)
if (settings.GRPC_SOCKET !== '') {
  rmSync(settings.GRPC_SOCKET, { force: true }) // of a killed run
  await server.bind(`unix:${settings.GRPC_SOCKET}`)
}

// Metrics and readiness.
if (member !== undefined) {
  registerShardMetrics(metrics, member, member.cluster, {
    gateways: server.gateways,
    isUnreached: () => member.reachedInstead() !== undefined,
  })
}
if (settings.STORE_URL === '') {
  reportStoreFile(metrics, dataFile(settings, FILES.processorDatabase))
}
registerMetrics(metrics, {
  ...work,
  ...{ pipeline, memory, rules, bus, recovery, disk, clock },
  store: books,
  backlog: relay.backlog,
  backupAgeSeconds: () =>
    knownBackupAgeSeconds(
      ...([dataFile(settings, FILES.lastBackup), settings.STORE_URL !== '', clock.now()] as const),
    ),
})
const state: ReadinessSources = {
  ...{ books, member, recovery, memory, rules, bus, rail, screening, disk },
  openWork: work.openWork,
  isServing: () => serving,
  gateways: () => server.gateways(),
}
own.readinessIs(() => readinessOf(state))
own.stopsBy(async () => {
  serving = false
  stateReport?.stop()
  await partnerCopies?.stop()
  await partnerMoves?.stop()
  await server.close()
  await work.stop()
  await disk.stop()
  await rail.close()
  await front.idle()
  screening?.close()
  changeLog.stop()
  await relay.stop()
  await bus.close()
  await tracer?.stop()
  await recovery.close()
  await store.close()
  await member?.close()
})

// From here on it serves.
recovery.serving(() => child.stop('recovery mode starts or ends'))
member?.onMove((reason) => {
  directory.withdraw()
  crashPoint('move.withdrawn')
  child.stop(reason, EXIT_DEPOSED)
})
if (member !== undefined) await mustSucceed('the shard is not served', () => announce(member))
isAnnounced = true
if (!recovery.isActive) {
  partnerMoves?.start()
  partnerCopies?.start()
}
setServing()
if (settings.PRODUCTION_HOSTS.length > 0 && settings.RATE_MAX_AGE_S === 0) {
  log.warn('RATE_MAX_AGE_S is 0: production quotes rates of any age')
}
child.ready(readyInfo(grpcPort, state))
stateReport = reportChanges(child, () => readyInfo(grpcPort, state))
recovery.onState(reportState)
log.info({ port: grpcPort, ...(member === undefined ? {} : ownerOf(member)) }, 'serving')

function exit(reason: string, error: unknown): void {
  exitAtOnce(log, reason, error)
}

/** A step without which this process must not serve: it ends, and the caller waits for that. */
async function mustSucceed(reason: string, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    exit(reason, error)
    await new Promise<never>(() => undefined)
  }
}

/** To the supervisor at once, when this process serves. */
function reportState(): void {
  stateReport?.look()
}

/** Not in health checks while a setting for all shards cannot be applied. */
function setServing(): void {
  if (isAnnounced) server.setServing(memory.settingsFault === null)
}

function submissionsStoppedSince(): Instant | null {
  return memory.recovery === null ? null : instant(memory.recovery.entered_at)
}

/** Resolves when this process serves the shard. */
async function announce(member: Member): Promise<void> {
  await sharedSettings?.catchUp()
  sharedSettings?.start()
  const address = advertisedAddress(settings, grpcPort)
  crashPoint('take_over.loaded')
  await member.serve(address, recovery.isActive, server.gateways)
  crashPoint('take_over.announced')
}
