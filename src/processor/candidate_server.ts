/**
 * The gRPC server of a processor that waits for a shard: gateways connect to it as to an owner, so
 * it knows how many of them reach it.
 *
 * Does not own: the port, which the server of the owner takes next (grpc/connections).
 *
 * - It announces no partners and decides no command: one that arrives is answered `not_here`.
 * - Stored callers are read from the books of all shards. A caller that is revoked in one of them
 *   is revoked here.
 * - A failed look at the cluster is repeated: meanwhile gateways get what was seen last. That the
 *   server of the cluster is lost ends the process elsewhere (cluster/join).
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { CommandBatch__Output as CommandBatch } from '../../protos/types/causeway/internal/v1/CommandBatch.js'
import type { CommandStreamHandlers } from '../../protos/types/causeway/internal/v1/CommandStream.js'
import type { DirectoryHandlers } from '../../protos/types/causeway/internal/v1/Directory.js'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { ReplyBatch } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import { createCallers, type ConfiguredCaller, type StoredCaller } from '../auth/callers.js'
import { SECOND, type Clock } from '../base/clock.js'
import type { Listener } from '../grpc/connections.js'
import type { GrpcTls } from '../grpc/tls.js'
import type { Logger } from '../base/log.js'
import { contracts } from '../grpc/contracts.js'
import type { Cluster } from '../store/cluster/cluster.js'
import type { Row } from '../store/tables.js'
import { storedCaller } from './cache/stored_callers.js'
import { openGrpcPort } from './grpc_port.js'
import { createDirectoryWatchers } from './servers/directory_watchers.js'

const LOOK_EVERY_MS = SECOND
/** Gateways end their streams when they are asked to. */
const CLOSE_WITHIN_MS = SECOND

export interface CandidateServer {
  /** Gateways that are connected. */
  gateways(): number
  /** Leaves the port to the next server at once. */
  close(): void
}

export interface CandidateServerOptions {
  readonly listener: Listener
  readonly cluster: Pick<Cluster, 'shardNames' | 'addresses' | 'storedGateways'>
  readonly configured: readonly ConfiguredCaller[]
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  readonly tls: GrpcTls
  readonly log: Logger
}

type GatewayStream = ServerDuplexStream<CommandBatch, ReplyBatch>

/** Resolves when gateways can connect. */
export async function openCandidateServer(
  options: CandidateServerOptions,
): Promise<CandidateServer> {
  const { listener, cluster, configured, clock, pause, tls, log } = options
  const stored = new Map<string, StoredCaller>()
  const streams = new Set<GatewayStream>()
  const watchers = createDirectoryWatchers<PartnerUpdate>(() => pause(0))
  let shards: readonly string[] = []
  let addresses: readonly string[] = []
  let isClosed = false

  const look = async (): Promise<void> => {
    shards = await cluster.shardNames()
    const before = addresses.join()
    addresses = await cluster.addresses()
    if (addresses.join() !== before) watchers.send(() => ({ addresses: [...addresses] }))
    const rows = await cluster.storedGateways()
    stored.clear()
    for (const row of inOrder(rows)) stored.set(row.name, storedCaller(row))
  }
  const watch = async (): Promise<void> => {
    let isReadable = true
    while (!isClosed) {
      await pause(LOOK_EVERY_MS)
      if (isClosed) return
      try {
        await look()
        isReadable = true
      } catch (error) {
        if (isReadable && !isClosed) log.warn({ error }, 'candidate: the cluster cannot be read')
        isReadable = false
      }
    }
  }

  const directory: Pick<DirectoryHandlers, 'WatchPartners'> = {
    WatchPartners: (stream) => {
      const state = { shards: [...shards], addresses: [...addresses] }
      // Never complete: a gateway of an earlier version ignores `waiting` and would count it.
      watchers.add(stream, [{ ...state, waiting: true }])
    },
  }
  const commands: CommandStreamHandlers = {
    Open: (stream: GatewayStream) => {
      streams.add(stream)
      stream.on('data', (batch: CommandBatch) => {
        const replies = batch.commands.map(({ ticket }) => ({ ticket, code: 'not_here' }))
        if (replies.length > 0) stream.write({ replies })
      })
      stream.on('error', () => undefined)
      stream.on('end', () => stream.end())
      stream.on('close', () => streams.delete(stream))
    },
  }

  await look()
  const port = openGrpcPort(createCallers(configured, clock, stored), tls)
  const { internal } = contracts<CommandStreamProto & DirectoryProto>().causeway
  port.addService(internal.v1.CommandStream.service, { ...commands })
  port.addService(internal.v1.Directory.service, { ...directory })
  await port.bind({ ...listener, close: listener.refuse })
  void watch()
  return {
    gateways: () => streams.size,
    close: () => {
      isClosed = true
      watchers.end()
      for (const stream of streams) stream.write({ draining: true })
      void port.close(CLOSE_WITHIN_MS)
    },
  }
}

/** The one that counts last: of one name a revoked one, else the newest. */
const inOrder = (rows: readonly Row<'callers'>[]): readonly Row<'callers'>[] =>
  [...rows].sort(
    (one, other) =>
      Number(one.revoked_at !== null) - Number(other.revoked_at !== null) ||
      one.created_at - other.created_at,
  )
