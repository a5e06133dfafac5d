/**
 * The books once this process owns them, with the master keys that they need: a SQLite file, a
 * schema of PostgreSQL, or a shard of a cluster, for which a candidate waits.
 *
 * - A candidate is healthy and not ready, and tells gateways the shards and the addresses of the
 *   processors.
 * - A shard whose books cannot be loaded is given up (cluster/failed_loads).
 * - A key file is created only for a sandbox without books: books need the key that made them.
 */
import { existsSync } from 'node:fs'
import { configuredCaller } from '../auth/callers.js'
import { installationOf } from '../auth/fingerprint.js'
import { loadMasterKeys, type MasterKeys } from '../auth/master_key.js'
import { systemClock, systemPause } from '../base/clock.js'
import type { Listener } from '../grpc/connections.js'
import { joinAddress, localHost } from '../base/network.js'
import { dataFile, type Settings } from '../settings/settings.js'
import { FILES } from '../base/subjects.js'
import type { OwnProcess } from '../metrics/own_process.js'
import type { Cluster } from '../store/cluster/cluster.js'
import type { Database } from '../store/database.js'
import { isLocalStore } from '../store/postgres/connection.js'
import { exitAtOnce, orExit } from '../store/postgres/owner_exit.js'
import { lockHolder } from '../store/postgres/owned_schema.js'
import { openPostgresStore } from '../store/postgres/store.js'
import { timelinesIn, type Timelines } from '../store/postgres/timelines.js'
import { openDatabase, type OpenOptions } from '../store/sqlite/database.js'
import { openStore } from '../store/sqlite/store.js'
import type { Store } from '../store/store.js'
import type { Memory } from './cache/memory.js'
import { openCandidateServer, type CandidateServer } from './candidate_server.js'
import { giveUp, openFailedLoads } from './cluster/failed_loads.js'
import { joinCluster } from './cluster/join.js'
import { createMember, type Member } from './cluster/member.js'
import type { ShardInfo } from './servers/directory_stream.js'

export interface OwnedBooks {
  readonly masters: MasterKeys
  readonly books: Store
  /** Undefined means that this processor is in no cluster. */
  readonly member: Member | undefined
  /** As hexadecimal digits. */
  readonly clusterSalt: string | undefined
  /** Waits for the books in memory; a shard for which that fails is given up. */
  readonly whenLoaded: <Loaded>(loading: Promise<Loaded>) => Promise<Loaded>
}

type Opening = Pick<OwnProcess, 'settings' | 'log' | 'random' | 'tls' | 'child' | 'readinessIs'> & {
  readonly listener: Listener
}

const elapsed = (): number => performance.now()

export function openOwnedBooks(opening: Opening): Promise<OwnedBooks> {
  const exit = (error: unknown): void =>
    exitAtOnce(opening.log, 'PostgreSQL does not answer', error)
  return openBooks(opening).catch(orExit(exit))
}

async function openBooks(opening: Opening): Promise<OwnedBooks> {
  const { settings } = opening
  if (settings.CLUSTER !== 'off') return openShard(opening)
  if (settings.STORE_URL !== '') return openSchema(opening)
  const file = dataFile(settings, FILES.processorDatabase)
  const masters = masterKeys(opening, !existsSync(file))
  const open = (path: string, options?: OpenOptions): Promise<Database> =>
    openDatabase(path, { ...options, onMigration: (name) => reportMigration(opening, name) })
  return { masters, books: await openStore(file, open), ...IN_NO_CLUSTER }
}

const IN_NO_CLUSTER: Omit<OwnedBooks, 'masters' | 'books'> = {
  member: undefined,
  clusterSalt: undefined,
  whenLoaded: (loading) => loading,
}

function reportMigration({ child, log }: Opening, migration: string): void {
  log.info({ migration }, 'migrating the books')
  child.migrating()
}

async function openSchema(opening: Opening): Promise<OwnedBooks> {
  const { settings, random, log } = opening
  const books = await openPostgresStore({
    url: settings.STORE_URL,
    shard: settings.SHARD,
    holder: await lockHolder(settings.DATA_DIR, settings.SHARD, random),
    elapsed,
    pause: systemPause,
    timelines: timelines(settings),
    isSyncRequired: isSyncRequired(settings),
    clock: systemClock,
    log,
  })
  return { masters: await masterKeysOf(opening, books), books, ...IN_NO_CLUSTER }
}

async function openShard(opening: Opening): Promise<OwnedBooks> {
  const { settings, random, tls, child, listener, readinessIs, log } = opening
  let server: CandidateServer | undefined
  const gateways = (): number => server?.gateways() ?? 0
  const serveGateways = async (cluster: Cluster): Promise<void> => {
    const configured = settings.CALLERS.map(configuredCaller)
    const given = { listener, cluster, configured, tls, log }
    server = await openCandidateServer({ ...given, clock: systemClock, pause: systemPause })
  }
  const file = masterKeyFile(settings)
  const failedLoads = openFailedLoads(dataFile(settings, FILES.failedLoads), systemClock)
  const { cluster, shard, books } = await joinCluster({
    settings,
    random,
    timelines: timelines(settings),
    address: advertisedAddress(settings, listener.port),
    isSyncRequired: isSyncRequired(settings),
    clock: systemClock,
    masterKeys: () => (existsSync(file) ? masterKeys(opening, false) : []).map(({ kid }) => kid),
    failedLoad: failedLoads.reasonOf,
    elapsed,
    pause: systemPause,
    gateways,
    onWaiting: async (processor, cluster) => {
      readinessIs(() => ({ ready: false, mode: 'candidate', processor, gateways: gateways() }))
      await serveGateways(cluster)
      child.waiting({ mode: 'candidate', port: listener.port })
    },
    log,
  })
  server?.close()
  const { epoch } = books.marks.progress()
  const clusterSalt = await cluster.shareSalt(shard, epoch) // before the first commit
  const member = await createMember({ cluster, shard, epoch, elapsed, pause: systemPause, log })
  const orGiveUp = <Loaded>(loading: Promise<Loaded>): Promise<Loaded> =>
    loading.catch((error: unknown) => giveUp({ shard, books, cluster, failedLoads, log }, error))
  const masters = await orGiveUp(masterKeysOf(opening, books))
  const whenLoaded = async <Loaded>(loading: Promise<Loaded>): Promise<Loaded> => {
    const loaded = await orGiveUp(loading)
    failedLoads.loaded(shard)
    return loaded
  }
  return { masters, books, member, clusterSalt, whenLoaded }
}

function isSyncRequired({ STORE_SYNC: sync, STORE_URL: url }: Settings): boolean {
  return sync === 'required' || (sync === 'auto' && !isLocalStore(url))
}

export function timelines(settings: Settings): Timelines {
  return timelinesIn(
    dataFile(settings, FILES.timeline),
    settings.RECOVERY === 'yes' || existsSync(dataFile(settings, FILES.restored)),
  )
}

async function masterKeysOf(opening: Opening, books: Store): Promise<MasterKeys> {
  const { masterKeys: known } = await books.keyRows()
  return masterKeys(opening, known.length === 0)
}

function masterKeys({ settings, random }: Opening, areBooksNew: boolean): MasterKeys {
  const isProduction = settings.PRODUCTION_HOSTS.length > 0
  return loadMasterKeys(
    masterKeyFile(settings),
    { create: !isProduction && areBooksNew, isNamed: settings.MASTER_KEY_FILE !== '' },
    random,
  )
}

function masterKeyFile(settings: Settings): string {
  return settings.MASTER_KEY_FILE || dataFile(settings, FILES.masterKey)
}

/** For the directory streams: gateways route by it. */
export function shardInfoOf({
  settings,
  books,
  member,
}: Pick<OwnedBooks, 'books' | 'member'> & { readonly settings: Settings }): ShardInfo {
  const shard = member?.shard ?? (settings.STORE_URL === '' ? '' : settings.SHARD)
  return {
    shard,
    epoch: () => books.marks.progress().epoch,
    shards: () => member?.shards() ?? [],
    addresses: () => member?.addresses() ?? [],
  }
}

/**
 * The ids of this installation, the present one first. Books that were there before their cluster
 * have an own one, and the bus may know them by it.
 */
export function installationIds(
  { installation }: Pick<Memory, 'installation'>,
  clusterSalt: string | undefined,
): readonly [string, ...string[]] {
  if (clusterSalt === undefined) return [installation]
  return [installationOf(Buffer.from(clusterSalt, 'hex')), installation]
}

/** Where other machines reach this processor. */
export function advertisedAddress(settings: Settings, port: number): string {
  if (settings.GRPC_ADVERTISE !== '') return settings.GRPC_ADVERTISE
  return joinAddress({ host: localHost(settings.GRPC_HOST), port })
}
