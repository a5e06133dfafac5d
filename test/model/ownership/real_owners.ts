/**
 * Two processes with the real code of ownership, placements and moves of partners, on PostgreSQL.
 * Each action is one of the model (ownership.qnt), with the same outcomes.
 *
 * Does not own: the choice of actions (replay).
 *
 * - A commit that is sent runs at the server when `execute` says, also after its process has ended.
 */
import type { Bindable } from '../../../src/store/database.js'
import {
  holderOf,
  openCluster,
  processorOf,
  type Cluster,
} from '../../../src/store/cluster/cluster.js'
import type { SeenShard } from '../../../src/store/cluster/cluster.js'
import { MOVE_WITHIN_MS, type PartnerMove } from '../../../src/store/cluster/partner_moves.js'
import { beginTransfer, transferPartner } from '../../../src/store/cluster/partner_transfer.js'
import { COMMIT_FUNCTION, commitValues } from '../../../src/store/postgres/commit.js'
import { FENCED } from '../../../src/store/postgres/commit_function.js'
import {
  connectToPrimary,
  parseStoreUrl,
  type Connection,
} from '../../../src/store/postgres/connection.js'
import { commitsOf } from '../../../src/store/postgres/holder.js'
import { beat } from '../../../src/store/postgres/lease.js'
import { migrate } from '../../../src/store/postgres/migrate.js'
import {
  takeOwnership,
  TakenByAnother,
  type OwnedConnection,
} from '../../../src/store/postgres/ownership.js'
import { BOOKS } from '../../../src/store/postgres/store.js'
import { Deposed } from '../../../src/store/store.js'
import { batchOf } from '../../store/commit_rows.js'
import { SILENT_LOG as log } from '../../support/logs.js'

export const PROCESSES = ['one', 'two'] as const
export const SHARDS = ['books_1', 'books_2'] as const
export const PARTNERS = ['acme', 'shop'] as const
export const KEYS = [1, 2] as const

type ProcessName = (typeof PROCESSES)[number]
type ShardName = (typeof SHARDS)[number]

export interface Key {
  readonly partner: string
  readonly key: number
}

/** A commit on its way to the server. */
export interface SentCommit extends Key {
  readonly process: ProcessName
  readonly shard: ShardName
  readonly epoch: number
  readonly batch: number
}

/** What the server has. */
export interface ServerState {
  readonly owners: readonly OwnerState[]
  /** By shard. */
  readonly rows: readonly (readonly Key[])[]
  /** By partner. Empty means not placed. */
  readonly placements: readonly string[]
}

interface OwnerState {
  readonly epoch: number
  readonly lastBatch: number
  readonly beat: number
  readonly holder: string
}

interface Unanswered {
  readonly commit: SentCommit
  readonly committed: Promise<void>
  resolve(): void
  reject(error: Error): void
  result?: 'done' | Error
}

/** A process that owns, or has owned, a shard. */
interface Owning {
  readonly shard: ShardName
  readonly connection: Connection
  readonly owned: OwnedConnection
  readonly rows: Key[]
  unanswered?: Unanswered
}

export type RealOwners = Awaited<ReturnType<typeof openRealOwners>>

/** No heartbeat but those of the trace. */
const never = (): Promise<void> => new Promise(() => undefined)
const BY = { actor: 'a test', reason: 'a trace' }
const OWNERS = SHARDS.map(
  (shard) => `SELECT '${shard}' AS shard, epoch, last_batch AS "lastBatch", beat, holder
    FROM ${shard}.owner`,
).join(' UNION ALL ')
const ROWS = SHARDS.map(
  (shard) => `SELECT '${shard}' AS shard, id FROM ${shard}.beneficiaries`,
).join(' UNION ALL ')
const RESET = [
  ...SHARDS.flatMap((shard) => [
    `UPDATE ${shard}.owner SET epoch = 0, last_batch = 0, beat = 0, holder = '', session = 0`,
    `DELETE FROM ${shard}.beneficiaries`,
    `DELETE FROM ${shard}.operator_log`,
  ]),
  'DELETE FROM cluster.partner_moves',
  'DELETE FROM cluster.placements',
  "UPDATE cluster.shards SET epoch = 0, holder = '', address = ''",
].join('; ')

const keyOf = (id: string): Key => {
  const [partner = '', key = ''] = id.split(' ')
  return { partner, key: Number(key) }
}

/** A row for each commit: its id is new, so a doubled commit is seen. */
const rowsOf = ({ partner, key, epoch, batch }: SentCommit) =>
  batchOf({
    beneficiaries: [
      {
        id: `${partner} ${key} ${epoch} ${batch}`,
        tenant: `${partner}_sandbox`,
        ...{ type: 'individual', name: 'A', destination_country: 'TH', currency: 'THB' },
        ...{ bank_code: '', account_last4: '', sealed_account: '', status: 'active' },
        ...{ created_at: 1, request_id: null },
      },
    ],
  })

export async function openRealOwners(url: string) {
  const targets = parseStoreUrl(url)
  const opened: Connection[] = []
  const connect = async (schema: string, purpose: string): Promise<Connection> => {
    const connection = await connectToPrimary(targets, schema, purpose)
    connection.onLost(() => undefined)
    opened.push(connection)
    return connection
  }
  const clusters = new Map<ProcessName, Cluster>()
  for (const name of PROCESSES)
    clusters.set(name, await openCluster({ url, name, pause: never, onNameTaken: () => undefined }))
  const cluster = clusters.get('one')!
  for (const shard of SHARDS) {
    await cluster.addShard(shard)
    await migrate(await connect(shard, 'migrate'), shard, BOOKS)
    await cluster.shareSalt(shard, 0)
  }
  const server = await connect('cluster', 'test')
  /** Where late commits arrive. */
  const wires = new Map<ShardName, Connection>()
  for (const shard of SHARDS) wires.set(shard, await connect(shard, 'wire'))
  const owning = new Map<ProcessName, Owning>()
  const seen = new Map<string, SeenShard>()
  let sent: SentCommit[] = []
  let placements: readonly string[] = []
  let moves: PartnerMove[] = []
  let released = 0

  const rowsIn = async (shard: ShardName): Promise<Key[]> =>
    (await server.all<{ id: string }>(`SELECT id FROM ${shard}.beneficiaries`)).map(({ id }) =>
      keyOf(id),
    )
  const end = async (process: ProcessName): Promise<string> => {
    const self = owning.get(process)
    owning.delete(process)
    self?.unanswered?.committed.catch(() => undefined)
    await self?.connection.close()
    return 'ended'
  }
  const deposedOr = async (action: () => Promise<unknown>, done: string): Promise<string> => {
    try {
      await action()
      return done
    } catch (error) {
      if (error instanceof Deposed) return 'deposed'
      throw error
    }
  }
  const ownerOf = (process: ProcessName): Owning => owning.get(process)!

  /** Commits of the product wait for `execute` and `answer`. */
  const withHeldCommits = (process: ProcessName, connection: Connection): Connection => ({
    ...connection,
    run: async (sql: string, parameters?: readonly Bindable[]) => {
      if (sql !== COMMIT_FUNCTION.statement) {
        const changed = await connection.run(sql, parameters)
        if (sql.includes("holder = ''")) released = changed
        return changed
      }
      await new Promise<void>((resolve, reject) => {
        Object.assign(ownerOf(process).unanswered!, { resolve, reject })
      })
      return 1
    },
  })

  return {
    /** No owner, no rows, no placements. */
    reset: async () => {
      for (const process of PROCESSES) await end(process)
      await server.exec(RESET)
      seen.clear()
      sent = []
      placements = PARTNERS.map(() => '')
      moves = []
    },
    state: async (): Promise<ServerState> => {
      const owners = await server.all<OwnerState & { shard: string }>(OWNERS)
      const rows = await server.all<{ shard: string; id: string }>(ROWS)
      const placed = await server.all<{ partner: string; shard: string }>(
        'SELECT partner, shard FROM placements',
      )
      placements = PARTNERS.map(
        (partner) => placed.find((each) => each.partner === partner)?.shard ?? '',
      )
      return {
        owners: SHARDS.map((shard) => {
          const { epoch, lastBatch, beat, holder } = owners.find((each) => each.shard === shard)!
          return { epoch, lastBatch, beat, holder: processorOf(holder) }
        }),
        rows: SHARDS.map((shard) =>
          rows.filter((each) => each.shard === shard).map(({ id }) => keyOf(id)),
        ),
        placements,
      }
    },
    owning: (process: ProcessName) => owning.get(process),
    sent: (): readonly SentCommit[] => sent,
    hasSeen: (process: ProcessName, shard: ShardName) => seen.has(`${process} ${shard}`),
    pendingMoves: (): readonly PartnerMove[] => moves,
    /** By its last call to the server. */
    isPlacedIn: (partner: string, shard: string) =>
      placements[PARTNERS.findIndex((each) => each === partner)] === shard,

    look: async (process: ProcessName, shard: ShardName) => {
      const rows = await clusters.get(process)!.seenShards()
      seen.set(
        `${process} ${shard}`,
        rows.find((each) => each.shard === shard)!,
      )
      return 'seen'
    },
    takeOver: async (process: ProcessName, shard: ShardName) => {
      const holder = holderOf(process, 'here')
      const connection = await connect(shard, commitsOf(holder))
      try {
        const owned = await takeOwnership({
          ...{ connection: withHeldCommits(process, connection), background: server, holder },
          ...{ statement: COMMIT_FUNCTION.statement, from: seen.get(`${process} ${shard}`)! },
          ...{ elapsed: () => 0, pause: never, log },
        })
        owning.set(process, { shard, connection, owned, rows: await rowsIn(shard) })
        return 'taken'
      } catch (error) {
        await connection.close()
        if (error instanceof TakenByAnother) return 'by another'
        throw error
      }
    },
    end,
    heartbeat: (process: ProcessName) => {
      const { connection, owned } = ownerOf(process)
      return deposedOr(() => beat(connection, owned.ownership().epoch), 'owner')
    },
    raiseEpoch: (process: ProcessName, above: number) =>
      deposedOr(() => ownerOf(process).owned.raiseEpoch(above), 'raised'),
    release: async (process: ProcessName) => {
      await ownerOf(process).owned.release()
      await end(process)
      return released === 0 ? 'deposed' : 'released'
    },
    place: async (process: ProcessName, partner: string) => {
      const { shard } = ownerOf(process)
      const place = await clusters.get(process)!.place(partner, shard)
      return place.shard === shard ? 'here' : 'elsewhere'
    },
    call: (process: ProcessName, key: Key) => {
      const self = ownerOf(process)
      const { shard, owned, rows } = self
      if (rows.some((each) => each.partner === key.partner && each.key === key.key))
        return Promise.resolve('repeated')
      const committed = owned.commit((epoch, batch) => {
        const commit: SentCommit = { process, shard, epoch, batch, ...key }
        sent.push(commit)
        self.unanswered = { commit } as Unanswered
        return commitValues(rowsOf(commit), epoch, batch)
      })
      Object.assign(self.unanswered!, { committed })
      committed.catch(() => undefined)
      return Promise.resolve('sent')
    },
    execute: async (commit: SentCommit, isRepeated: boolean) => {
      if (!isRepeated) sent = sent.filter((each) => each !== commit)
      const { epoch, batch, shard } = commit
      let result: 'done' | Error = 'done'
      try {
        const values = commitValues(rowsOf(commit), epoch, batch)
        await wires.get(shard)!.run(COMMIT_FUNCTION.statement, values)
      } catch (error) {
        if ((error as { code?: string }).code !== FENCED) throw error
        result = error as Error
      }
      const awaiting = owning.get(commit.process)?.unanswered
      if (awaiting?.commit === commit) awaiting.result ??= result
      return result === 'done' ? 'done' : 'fenced'
    },
    lose: (commit: SentCommit) => {
      sent = sent.filter((each) => each !== commit)
      return Promise.resolve('lost')
    },
    /** Undefined means that no answer has arrived. */
    answered: (process: ProcessName) => {
      const result = owning.get(process)?.unanswered?.result
      return result === undefined ? undefined : result === 'done' ? 'done' : 'fenced'
    },
    answer: async (process: ProcessName) => {
      const self = ownerOf(process)
      const { result, commit, committed, resolve, reject } = self.unanswered!
      if (result === 'done') resolve()
      else reject(result!)
      const isDone = (await deposedOr(() => committed, 'done')) === 'done'
      if (!isDone) return end(process)
      self.rows.push({ partner: commit.partner, key: commit.key })
      delete self.unanswered
      return 'acknowledged'
    },
    read: (process: ProcessName, key: Key) => {
      const { owned, rows } = ownerOf(process)
      const isKnown = rows.some((each) => each.partner === key.partner && each.key === key.key)
      return deposedOr(() => owned.barrier(), isKnown ? 'found' : 'not found')
    },
    announce: async (process: ProcessName) => {
      const { shard, owned } = ownerOf(process)
      const { epoch } = owned.ownership()
      const isPublished = await clusters.get(process)!.announce(shard, epoch, `${process}:1`)
      return isPublished ? 'published' : 'deposed'
    },
    requestMove: async (move: PartnerMove) => {
      if (!(await cluster.requestPartnerMove(move, BY))) return 'refused'
      moves = [move]
      return 'requested'
    },
    expireMove: async () => {
      await server.run('UPDATE partner_moves SET requested_at = requested_at - ?', [
        MOVE_WITHIN_MS + 1,
      ])
      moves = []
      return 'expired'
    },
    transfer: async (move: PartnerMove) => {
      await beginTransfer(server, move)
      const transfer = await transferPartner(server, move)
      if (transfer.kind !== 'not_now') moves = []
      if (transfer.kind === 'given_up') throw new Error(transfer.cause)
      return { moved: 'moved', not_now: 'not now' }[transfer.kind]
    },
    close: async () => {
      for (const process of PROCESSES) await end(process)
      for (const connection of opened) await connection.close()
      for (const each of clusters.values()) await each.close()
    },
  }
}
