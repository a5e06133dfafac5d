/**
 * The processor: composition root.
 *
 * - Start: gRPC port, in a cluster a shard, then master keys, books, high-water mark, vault,
 *   memory, bus, rail, pipeline, marks of bus and rail, background work, gRPC server.
 * - Stop: gRPC server, background work, rail, pipeline, relay, bus, books.
 */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { configuredCaller, createCallers } from '../auth/callers.js'
import { loadMasterKeys, type MasterKeys } from '../auth/master_key.js'
import { backupAgeSeconds, readRestoredMark, removeRestoredMark } from '../base/backup_marks.js'
import { childProcess, formerEnded, isSupervised, REPLACES, type ReadyInfo } from '../base/child.js'
import { instant, SECOND, systemClock, systemPause, type Instant } from '../base/clock.js'
import { freeBytesOf, MIB, watchFreeSpace } from '../base/free_space.js'
import { listen } from '../base/grpc_connections.js'
import { openGrpcTls } from '../base/grpc_tls.js'
import { createLog } from '../base/log.js'
import { partsOfTenant } from '../base/ids.js'
import { joinAddress, localHost } from '../base/network.js'
import { openOpsHttp, opsListen, ownReadiness, type Readiness } from '../base/ops_http.js'
import { programOptions } from '../base/program_options.js'
import { systemRandom } from '../base/random.js'
import { reportStartupFaults } from '../base/startup_faults.js'
import { disguisedSandboxFault, sandboxRailFault } from '../base/sandbox_in_production.js'
import { dataFile, requirePrivateDataDir } from '../base/settings.js'
import { readSettings } from '../base/settings_reader.js'
import { FILES, highWaterOf } from '../base/subjects.js'
import { busServer } from '../bus/bus_server.js'
import { connectBus } from '../bus/nats.js'
import { createMetrics } from '../metrics/metrics.js'
import { ownPage, ownVersion, reportProcess } from '../metrics/process_metrics.js'
import { reportStoreFile } from '../metrics/store_files.js'
import { connectRail, type ConnectedRail } from '../rails/client.js'
import { SANDBOX_RAIL } from '../rails/rail.js'
import { readRails, type ConfiguredRail } from '../rails/rails_file.js'
import { createRailTable } from '../rails/rail_table.js'
import { screeningOf } from '../screening/client.js'
import { NoAnswer } from '../store/postgres/answers.js'
import { isLocalStore } from '../store/postgres/connection.js'
import type { Cluster } from '../store/cluster/cluster.js'
import { lockHolder } from '../store/postgres/owned_schema.js'
import { openPostgresStore } from '../store/postgres/store.js'
import { timelinesIn, type Timelines } from '../store/postgres/timelines.js'
import { Deposed, type Store } from '../store/store.js'
import { openStore } from '../store/sqlite/store.js'
import { openTracer } from '../tracing/tracer.js'
import { createChangeLog } from './background/change_log.js'
import { createKeyExpiry } from './background/key_expiry.js'
import { createKeyIndexMoves } from './background/key_index_moves.js'
import { measuredRails } from './background/measured_rails.js'
import { createOpenWorkMonitor } from './background/open_work_monitor.js'
import { createOrphanInquiries } from './background/orphan_inquiries.js'
import { createRailLinks } from './background/rail_links.js'
import { createRelay, type Relay } from './background/relay.js'
import { createRetention } from './background/retention.js'
import { createStuckPaymentMonitor } from './background/stuck_payment_monitor.js'
import { createTimers } from './background/timers.js'
import { isReadOnly, loadMemory } from './cache/memory.js'
import { joinCluster } from './cluster/join.js'
import { registerShardMetrics } from './cluster/metrics.js'
import { createMember, type Member } from './cluster/member.js'
import { openCandidateServer, type CandidateServer } from './candidate_server.js'
import { createSharedSettings } from './cluster/shared_settings.js'
import { railOf, routesNotCarried } from './changes/payment_rail.js'
import { applyRailReport } from './commands/rail_reports/rail_report_apply.js'
import { internalWork } from './cycle/command.js'
import { createBooksClock } from './cycle/books_clock.js'
import { createPipeline } from './cycle/pipeline.js'
import { createScreenedPipeline } from './cycle/screened_pipeline.js'
import { rulesOf } from './cycle/rules.js'
import { openKeyring } from './master_keys/keyring.js'
import { createVault } from './keys/vault.js'
import { createPipelineMeter, createScreeningMeter, registerMetrics } from './metrics.js'
import { createPaymentCounters } from './payment_metrics.js'
import { createQueryRunner } from './queries/query.js'
import { compareUnsubmitted } from './background/orphan_comparison.js'
import { createRecovery, REQUESTED } from './background/recovery.js'
import { createStatementChecker } from './recovery/statement_check.js'
import { createServer, prepareContracts, type ServerLinks } from './server.js'
import { createCommittedEvents } from './servers/event_watch.js'
import type { GatewayProgress } from './servers/command_stream.js'
import { directoryService, type ShardInfo } from './servers/directory_stream.js'
import { systemState } from './servers/operator/system.js'
import type { NewestEvent } from './servers/webhook_control.js'

/** The process must restart: its memory may differ from the disk. */
const EXIT_RECOVER = 70
/** Another process owns the books: this one must start again as a candidate. */
const EXIT_DEPOSED = 71

reportStartupFaults()
const { replaces } = programOptions(
  'processor',
  'Decides and records every payment and payout.',
  REPLACES,
)

const settings = readSettings()
requirePrivateDataDir(settings)
const log = createLog('processor', settings)
const version = ownVersion()
const startedAt = systemClock.now()
const clock = createBooksClock(systemClock)
const random = systemRandom()
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const rails = readRails(settings)
const tls = openGrpcTls(settings, log)
const metrics = createMetrics()
reportProcess(metrics)
const elapsed = (): number => performance.now()
const tracer = openTracer({
  ...{ process: 'processor', settings, metrics, clock: systemClock, elapsed, random, log },
})
let readinessNow = (): Readiness => ({ ready: false })
const ops = isSupervised()
  ? undefined
  : await openOpsHttp(opsListen(settings), {
      readiness: ownReadiness('processor', () => readinessNow()),
      metrics: () => ownPage('processor', metrics),
    })
let stopNow = (): Promise<void> => Promise.resolve()
let serving = true
let isAnnounced = false
const child = childProcess({ log, metrics: () => metrics.text(), stop: () => stopNow() })

// Before the books: a processor that cannot listen must not take them over, and one that does must
// be ready soon.
if (settings.CLUSTER !== 'off' || replaces) prepareContracts()
if (replaces) await formerEnded()
const listener = await listen(joinAddress({ host: settings.GRPC_HOST, port: settings.GRPC_PORT }))
const { masters, books, member } = await openBooks().catch(orRestart)
const restoredFile = dataFile(settings, FILES.restored)
const recovery = await createRecovery({
  books,
  ...(member === undefined
    ? { highWaterFile: dataFile(settings, FILES.highWater) }
    : {
        highWaterFile: dataFile(settings, highWaterOf(member.shard)),
        formerHighWaterFile: dataFile(settings, FILES.highWater),
        publishedEpoch: member.publishedEpoch,
      }),
  rails: rails.map(({ name }) => name),
  requestedBy: recoveryCause(),
  onEntered: () => removeRestoredMark(restoredFile),
  clock,
  pause: systemPause,
  log,
})
const { store } = recovery
const keyring = await openKeyring(store, masters, random, clock.now())
if (keyring.cutOff.length > 0) {
  log.warn(
    { master_keys: keyring.cutOff },
    'master keys were removed early; session tokens signed with them are rejected now',
  )
}
const vault = createVault(keyring, random)
const memory = await loadMemory(store, vault, clock.now(), {
  warmActors: settings.WARM_ACTORS,
  duplicateWindowMs: settings.DUPLICATE_SCAN_WINDOW_S * SECOND,
})
clock.passed(memory.newestMoment)
if (clock.aheadMs() > SECOND)
  log.warn({ ahead_ms: clock.aheadMs() }, "the books are ahead of this machine's clock")
await member?.adopt([...memory.partners.keys()])
const { corruptRows } = memory
for (const { id, isCorrupt } of memory.endpoints.values()) {
  if (isCorrupt !== true || !corruptRows.add(id)) continue
  log.error({ entity_id: id }, 'webhook endpoint is corrupt; it counts as disabled')
}
const callers = createCallers(settings.CALLERS.map(configuredCaller), clock, memory.callers)
const directory = directoryService(memory, vault, shardInfoOf(member))
member?.onAddresses(directory.addressesChanged)
const disk = watchFreeSpace({
  reserveBytes: settings.DISK_RESERVE_MB * MIB,
  read: () => freeBytesOf(resolve(settings.DATA_DIR)),
  log,
})
await disk.start()

const bus = connectBus({
  ...busServer(settings),
  consumes: false,
  admit: async (newest) => recovery.admitBus(await ownEvent(newest)),
  clock,
  log,
})
/** As the rail names these books. */
const shardAtRail = settings.STORE_URL === '' ? {} : { shard: member?.shard ?? settings.SHARD }
const rules = rulesOf(settings, createRailTable(rails))
for (const { route, rail: name } of routesNotCarried(memory, rules.rails)) {
  log.error({ route, rail: name }, 'RAILS_FILE does not give a route to its rail: it is down')
}
const rail = measuredRails(
  metrics,
  createRailLinks(
    new Map(rails.map((configured) => [configured.name, connectTo(configured)])),
    clock,
    submissionsStoppedSince,
    log,
  ),
)
const counters = createPaymentCounters(metrics, railOf)
const changeLog = createChangeLog({
  clock,
  log,
  createdPerSecond: settings.LOG_CREATED_PER_SECOND,
  othersPerSecond: settings.LOG_TRANSITIONS_PER_SECOND,
})
let relay: Relay | undefined
const committedEvents = createCommittedEvents()
const pipeline = createPipeline({
  clock,
  random,
  store,
  memory,
  vault,
  rules,
  log,
  yieldToEventLoop,
  rail,
  publish: (events) => {
    relay?.push(events)
    committedEvents.committed(events)
  },
  logChanges: (transitions, actions) => {
    counters.committed(transitions)
    changeLog.committed(transitions, actions)
    if (actions.length > 0) reportState()
  },
  tracer,
  meter: createPipelineMeter(metrics, elapsed),
  directoryChanged: (partners, endpoints) => directory.changed(partners, endpoints),
  diskIsLow: () => disk.isLow(),
  stop: exitAtOnce,
})
const screening = screeningOf(settings, tls, log)
/** What servers submit to: it screens their commands. */
const front =
  screening === undefined
    ? pipeline
    : createScreenedPipeline(pipeline, screening, createScreeningMeter(metrics, elapsed))
store.onFailure((error) => exitAtOnce('the store failed', error))
member?.onFailure((error) => exitAtOnce('the cluster failed', error))
await recovery.enter(pipeline, memory)
rail.onReport((reports, name, finalityWindowMs) => {
  if (isReadOnly(memory)) return // unacknowledged reports come again with the next link
  for (const report of reports) {
    pipeline.submit(internalWork(applyRailReport(report, finalityWindowMs, name), 'rail'))
  }
})
await recovery.checkSources()

const timers = createTimers({
  ...{ clock, store, pipeline, rail, memory, corruptRows, log },
  pause: systemPause,
})
const keyExpiry = createKeyExpiry({ clock, memory, pipeline })
const keyIndexMoves = createKeyIndexMoves({ memory, pipeline })
const retention = createRetention({
  ...{ clock, memory, pipeline, log, lists: store.lists },
  keep: {
    events: settings.EVENTS_KEEP_DAYS,
    payoutKeys: settings.PAYOUT_KEYS_KEEP_DAYS,
    otherKeys: settings.IDEMPOTENCY_KEYS_KEEP_DAYS,
    requests: settings.REQUESTS_KEEP_DAYS,
  },
})
const orphanInquiries = createOrphanInquiries({ memory, rails: rail.all() })
const sharedSettings =
  member && !recovery.isActive
    ? createSharedSettings({
        ...{ shard: member.shard, cluster: member.settings, memory, pipeline, log },
        onFault: () => setServing(),
      })
    : undefined
const stuckPaymentMonitor = createStuckPaymentMonitor({ clock, lists: store.lists, log })
const openWork = createOpenWorkMonitor({
  ...{ clock, lists: store.lists, rails: rail.names, log },
  onUnnamedRails: () => reportState(),
})
if (recovery.isVerified()) await startBackgroundWork()
else {
  recovery.onVerified(() => {
    startBackgroundWork().catch((error: unknown) =>
      exitAtOnce('payments could not be compared with orphan executions', error),
    )
  })
}
stuckPaymentMonitor.start()
openWork.start()

const reader = createQueryRunner(
  { lists: store.lists, vault, brand: settings.BRAND, corruptRows },
  log,
)
const links: ServerLinks = {
  events: committedEvents,
  idle: () => front.idle(),
  onPool: (number, newest) => void comparePool(number, newest),
  webhookPools: settings.WEBHOOK_POOLS,
  behind: () => recovery.behind(),
  statements: createStatementChecker(() => books.marks.newestSubmission(), rail.summarize),
  ...shardAtRail,
  mode: () => recovery.state(),
  released: () => recovery.released(),
  placements: member,
  progress: settings.STORE_URL === '' ? undefined : gatewayProgress(),
  shards: member?.cluster,
  systemState: () => systemState({ settings, version, startedAt, shard: member?.shard ?? '' }),
}
await catchUpSettings()
const dependencies = {
  ...{ clock, random, sampler: tracer?.sampler, memory, pipeline: front, reader },
}
const server = createServer(dependencies, callers, directory, links, tls)
const grpcPort = await server.bind(listener)
if (settings.GRPC_SOCKET !== '') {
  rmSync(settings.GRPC_SOCKET, { force: true }) // of a killed run
  await server.bind(`unix:${settings.GRPC_SOCKET}`)
}

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
  ...{
    pipeline,
    memory,
    rules,
    bus,
    timers,
    stuckPaymentMonitor,
    openWork,
    recovery,
    disk,
    clock,
    retention,
  },
  store: books,
  backlog: () => relay?.backlog(),
  backupAgeSeconds: () => backupAgeSeconds(dataFile(settings, FILES.lastBackup), clock.now()),
})
readinessNow = () => ({
  ready: serving && memory.settingsFault === null,
  ...recovery.state(),
  bus: bus.status(),
  ...railReadiness(rail.faults()),
  ...(screening === undefined ? {} : { screening: screening.fault() ?? 'up' }),
  disk: disk.isLow() ? 'low' : 'ok',
  ...degradedBy(),
  ...(member === undefined ? {} : { ...ownerOf(member), gateways: server.gateways() }),
  ...(memory.settingsFault === null ? {} : { settings_fault: memory.settingsFault }),
})
stopNow = async () => {
  serving = false
  await server.close()
  keyExpiry.stop()
  keyIndexMoves.stop()
  orphanInquiries.stop()
  await retention.stop()
  await timers.stop()
  await sharedSettings?.stop()
  await stuckPaymentMonitor.stop()
  await openWork.stop()
  await disk.stop()
  await rail.close()
  await front.idle()
  screening?.close()
  changeLog.stop()
  await relay?.stop()
  await bus.close()
  await tracer?.stop()
  await recovery.close()
  await store.close()
  await member?.close()
  await ops?.close()
}
recovery.serving(() => child.stop('recovery mode starts or ends'))
member?.onMove((to) => {
  directory.withdraw()
  child.stop(`the shard moves to ${to}`, EXIT_DEPOSED)
})
if (member !== undefined) await announce(member)
isAnnounced = true
setServing()
if (settings.PRODUCTION_HOSTS.length > 0 && settings.RATE_MAX_AGE_S === 0) {
  log.warn('RATE_MAX_AGE_S is 0: production quotes rates of any age')
}
child.ready(readyInfo())
recovery.onState(reportState)
log.info({ port: grpcPort, ...(member === undefined ? {} : ownerOf(member)) }, 'serving')

function connectTo({
  name,
  address,
  token,
  tls: files,
  environments,
}: ConfiguredRail): ConnectedRail {
  const faultOfSandbox = (): string | undefined =>
    sandboxRailFault(settings) ??
    (environments.includes('production') ? disguisedSandboxFault(settings, name) : undefined)
  return connectRail({
    ...{ name, address, token, log },
    ...shardAtRail,
    tls: files === null ? tls : openGrpcTls(files, log),
    admit: ({ name: kind, newestInstruction }) => {
      const fault = kind === SANDBOX_RAIL ? faultOfSandbox() : undefined
      if (fault !== undefined) refuseToServe(fault)
      return recovery.admitRail(name, newestInstruction)
    },
  })
}

function refuseToServe(fault: string): never {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}

/** A candidate that has no answer looks for the primary again. */
function orRestart(error: unknown): Promise<never> {
  if (!(error instanceof NoAnswer)) throw error
  exitAtOnce('PostgreSQL does not answer', error)
  return new Promise<never>(() => undefined)
}

/** Memory may differ from the books: nothing more is answered. */
function exitAtOnce(reason: string, error: unknown): void {
  log.fatal({ error }, reason)
  log.flush(() => process.exit(error instanceof Deposed ? EXIT_DEPOSED : EXIT_RECOVER))
}

function readyInfo(): ReadyInfo {
  return {
    port: grpcPort,
    ...recovery.state(),
    ...degradedBy(),
    ...(member === undefined ? {} : { shard: member.shard }),
  }
}

/** To the supervisor, once this process serves. */
function reportState(): void {
  if (isAnnounced) child.update(readyInfo())
}

/** Not in recovery mode. Unverified books begin it when they are verified. */
async function startBackgroundWork(): Promise<void> {
  if (recovery.isActive) return
  await compareUnsubmitted({ store, memory, pipeline, log })
  if (!serving) return
  relay = createRelay({
    bus: bus.publisher,
    openEvents: (after, limit) => store.openEvents(after, limit),
    clock,
    log,
  })
  timers.start()
  keyExpiry.start()
  keyIndexMoves.start()
  retention.start()
  orphanInquiries.start()
}

function submissionsStoppedSince(): Instant | null {
  return memory.recovery === null ? null : instant(memory.recovery.entered_at)
}

/** A pool does not wait for the comparison. */
async function comparePool(number: number, newest: NewestEvent | null): Promise<void> {
  try {
    await recovery.admitPool(number, await ownEvent(newest))
  } catch (error) {
    log.error({ error, pool: number }, 'failed to compare the newest event of a webhook pool')
  }
}

/** The event's id if it is of these books, else null: bus and pools have those of all shards. */
async function ownEvent(newest: NewestEvent | null): Promise<string | null> {
  if (newest === null || member === undefined) return newest?.id ?? null
  if (newest.tenant === undefined) return null
  const { partner } = partsOfTenant(newest.tenant)
  // Restored books can lack a partner that is placed in this shard.
  const isOwn =
    memory.partners.has(partner) || (await member.whereIs(partner))?.shard === member.shard
  return isOwn ? newest.id : null
}

/** Not in health checks while a setting for all shards cannot be applied. */
function setServing(): void {
  if (isAnnounced) server.setServing(memory.settingsFault === null)
}

/** Before the first call: the books have the settings of the cluster, or refuse writes. */
async function catchUpSettings(): Promise<void> {
  try {
    await sharedSettings?.catchUp()
  } catch (error) {
    exitAtOnce('the settings for all shards are not applied', error)
    await new Promise<never>(() => undefined)
  }
}

/** Resolves when this process serves the shard. */
async function announce(member: Member): Promise<void> {
  try {
    await sharedSettings?.catchUp()
    sharedSettings?.start()
    await member.serve(advertisedAddress(grpcPort), recovery.isActive, server.gateways)
  } catch (error) {
    exitAtOnce('the shard is not served', error)
    await new Promise<never>(() => undefined)
  }
}

/** For the directory streams: gateways route by it. */
function shardInfoOf(owner: Member | undefined): ShardInfo {
  const shard = owner?.shard ?? (settings.STORE_URL === '' ? '' : settings.SHARD)
  return {
    shard,
    epoch: () => books.marks.progress().epoch,
    shards: () => owner?.shards() ?? [],
    addresses: () => owner?.addresses() ?? [],
  }
}

function degradedBy(): { readonly degraded?: string } {
  const faults = [
    ...[books.synchrony?.()?.fault ?? []].flat(),
    ...[...openWork.unnamedRails()].map(
      ([name, count]) => `RAILS_FILE does not name the rail ${name} of ${count} open payments`,
    ),
    ...[member?.reachedInstead() ?? []]
      .flat()
      .map((other) => `no gateway reaches this processor, and ${other} is reached`),
    ...[...memory.pauses.keys()].map((subject) => `submissions are paused: ${subject}`),
    ...routesNotCarried(memory, rules.rails).map(
      ({ route, rail: name }) => `RAILS_FILE does not give ${route} to its rail ${name}`,
    ),
  ]
  return faults.length === 0 ? {} : { degraded: faults.join('; ') }
}

/** The marks that gateways carry from one owner of the books to the next. */
function gatewayProgress(): GatewayProgress {
  const shard = member?.shard ?? settings.SHARD
  return {
    mark: () => {
      const { booksId, epoch, lastBatch } = books.marks.progress()
      return { shard, books_id: booksId, epoch, batch: lastBatch }
    },
    shown: (marks) => {
      for (const mark of marks) {
        if (mark.shard !== shard) continue
        const [epoch, lastBatch] = [Number(mark.epoch), Number(mark.batch)]
        recovery
          .admitGateway({ booksId: mark.books_id, epoch, lastBatch })
          .catch((error: unknown) => log.warn({ error }, 'a mark of a gateway is not compared'))
      }
    },
  }
}

function railReadiness(faults: ReadonlyMap<string, string | null>): object {
  const named = [...faults]
  const [first] = named.filter(([, fault]) => fault !== null)
  return {
    rails: Object.fromEntries(named.map(([name, fault]) => [name, fault ?? 'up'])),
    ...(first === undefined
      ? { rail: 'up' }
      : { rail: 'down', rail_fault: named.length === 1 ? first[1] : first.join(': ') }),
  }
}

function ownerOf({ name, shard, epoch }: Member): object {
  return { processor: name, shard, epoch }
}

function advertisedAddress(port: number): string {
  if (settings.GRPC_ADVERTISE !== '') return settings.GRPC_ADVERTISE
  return joinAddress({ host: localHost(settings.GRPC_HOST), port })
}

interface OwnedBooks {
  readonly masters: MasterKeys
  readonly books: Store
  readonly member: Member | undefined
}

/** Opens the books once this process owns them, and the master keys that they need. */
async function openBooks(): Promise<OwnedBooks> {
  if (settings.CLUSTER !== 'off') return openShard()
  if (settings.STORE_URL === '') {
    const file = dataFile(settings, FILES.processorDatabase)
    const masters = masterKeys(!existsSync(file))
    return { masters, books: await openStore(file), member: undefined }
  }
  const books = await openPostgresStore({
    url: settings.STORE_URL,
    shard: settings.SHARD,
    holder: await lockHolder(settings.DATA_DIR, settings.SHARD, random),
    elapsed: () => performance.now(),
    pause: systemPause,
    timelines: timelines(),
    isSyncRequired: isSyncRequired(),
    clock: systemClock,
    log,
  })
  return { masters: await masterKeysOf(books), books, member: undefined }
}

async function openShard(): Promise<OwnedBooks> {
  let server: CandidateServer | undefined
  const gateways = (): number => server?.gateways() ?? 0
  const serveGateways = async (cluster: Cluster): Promise<void> => {
    const configured = settings.CALLERS.map(configuredCaller)
    const given = { listener, cluster, configured, tls, log }
    server = await openCandidateServer({ ...given, clock: systemClock, pause: systemPause })
  }
  const { cluster, shard, books } = await joinCluster({
    settings,
    random,
    timelines: timelines(),
    address: advertisedAddress(listener.port),
    isSyncRequired: isSyncRequired(),
    clock: systemClock,
    masterKeys: () => (existsSync(masterKeyFile()) ? masterKeys(false) : []).map(({ kid }) => kid),
    elapsed: () => performance.now(),
    pause: systemPause,
    gateways,
    onWaiting: async (processor, cluster) => {
      readinessNow = () => ({ ready: false, mode: 'candidate', processor, gateways: gateways() })
      await serveGateways(cluster)
      child.waiting({ mode: 'candidate', port: listener.port })
    },
    log,
  })
  server?.close()
  const { epoch } = books.marks.progress()
  const given = { cluster, shard, epoch, elapsed: () => performance.now() }
  const member = await createMember({ ...given, pause: systemPause, log })
  return { masters: await masterKeysOf(books), books, member }
}

function isSyncRequired(): boolean {
  const { STORE_SYNC: sync, STORE_URL: url } = settings
  return sync === 'required' || (sync === 'auto' && !isLocalStore(url))
}

function timelines(): Timelines {
  return timelinesIn(
    dataFile(settings, FILES.timeline),
    settings.RECOVERY === 'yes' || existsSync(dataFile(settings, FILES.restored)),
  )
}

/** Why this start begins recovery mode. */
function recoveryCause(): string | undefined {
  const mark = readRestoredMark(restoredFile)
  if (mark === undefined) return settings.RECOVERY === 'yes' ? REQUESTED : undefined
  const { booksId, snapshotAt } = mark
  if (booksId === null || booksId === books.marks.progress().booksId) {
    return `the backup of ${snapshotAt} was restored`
  }
  return refuseToServe(
    `${restoredFile} is of other books: restore the backup again, into an empty DATA_DIR`,
  )
}

async function masterKeysOf(books: Store): Promise<MasterKeys> {
  const { masterKeys: known } = await books.keyRows()
  return masterKeys(known.length === 0)
}

function masterKeyFile(): string {
  return settings.MASTER_KEY_FILE || dataFile(settings, FILES.masterKey)
}

/** Creates the key file only for a sandbox without books: books need the key that made them. */
function masterKeys(areBooksNew: boolean): MasterKeys {
  const isProduction = settings.PRODUCTION_HOSTS.length > 0
  return loadMasterKeys(
    masterKeyFile(),
    { create: !isProduction && areBooksNew, isNamed: settings.MASTER_KEY_FILE !== '' },
    random,
  )
}
