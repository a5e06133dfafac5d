/**
 * Waits until this processor owns a shard, and says meanwhile which ones it can take.
 *
 * - The wait ends with the ownership of one shard. Of several available shards it takes the one
 *   that it had, then the one that moves to it, then the one that it prefers.
 * - A shard whose books need a master key that this processor lacks, are of a newer version, or
 *   could not be loaded by it lately, is left to others.
 */
import type { Pause } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { SchemaOptions } from '../postgres/owned_schema.js'
import { isSameFolder } from '../postgres/holder.js'
import { TakenByAnother } from '../postgres/ownership.js'
import { awaitLease } from '../postgres/lease_wait.js'
import { createLeaseWatch } from '../postgres/lease_watch.js'
import { processorOf, type Cluster, type SeenShard } from './cluster.js'
import type { Waiting } from './waiting.js'

const LOOK_EVERY_MS = 250
/** Looks between two checks of the server, and of the shards that it can take. */
const CHECK_EVERY = 20
/** Looks between two heartbeats. */
const HEARTBEAT_EVERY = 4

export interface CandidateOptions<Books> {
  readonly cluster: Pick<
    Cluster,
    'name' | 'seenShards' | 'masterKeysOf' | 'checkServer' | 'beatWaiting'
  >
  readonly url: string
  /** The holder that it writes into a lease. */
  readonly holder: string
  /** The shard that it takes first. Undefined if it prefers none. */
  readonly shard: string | undefined
  /** The newest version of books that this program knows. */
  readonly booksVersion: number
  /** `host:port` for gateways. */
  readonly address: string
  /** Gateways that are connected to it. */
  readonly gateways: () => number
  /** Kids of its master keys; read at each take-over. */
  readonly masterKeys: () => readonly string[]
  /** Why it leaves a shard to others: it could not load its books. Undefined if it does not. */
  readonly failedLoad: (shard: string) => string | undefined
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: Pause
  /** Takes over the books from the owner that was seen. @throws TakenByAnother */
  readonly open: (schema: SchemaOptions) => Promise<Books>
  /** Called when it has to wait for a shard, and again when a take-over waits for its server. */
  readonly onWaiting: () => void | Promise<void>
  readonly log: Logger
}

export interface OwnedShard<Books> {
  readonly shard: string
  readonly books: Books
}

export function awaitShard<Books>(options: CandidateOptions<Books>): Promise<OwnedShard<Books>> {
  const { cluster, shard: prefers, holder, elapsed, pause, onWaiting, log } = options
  let cannotTake: Waiting['cannotTake'] = {}
  let fault: Error | undefined

  return awaitLease<SeenShard, OwnedShard<Books>>({
    look: async () => {
      if (fault !== undefined) throw fault
      return inOrder(await cluster.seenShards(), options)
    },
    watchOf: (shard) =>
      createLeaseWatch({ name: cluster.name, holder, isSpare: shard !== prefers }, elapsed),
    take: taken,
    onLook: async (looks, seen) => {
      if (looks % CHECK_EVERY === 0) {
        await checkShards(seen)
        void cluster.checkServer().catch((error: unknown) => (fault = error as Error))
      }
      if (looks % HEARTBEAT_EVERY === 0) await cluster.beatWaiting(waiting())
      if (looks > 0) return
      const wanted = prefers ?? 'any'
      log.info({ shard: wanted, owners: ownersIn(seen) }, 'candidate: waiting for a shard')
      await onWaiting()
    },
    lookEveryMs: LOOK_EVERY_MS,
    pause,
  })

  function waiting(): Waiting {
    const gateways = options.gateways()
    return { address: options.address, prefers: prefers ?? null, gateways, cannotTake }
  }

  async function taken(from: SeenShard): Promise<OwnedShard<Books> | undefined> {
    const { shard } = from
    if ((await whyNot(from)) !== undefined) {
      await checkShards([from])
      return undefined
    }
    const schema: SchemaOptions = { ...options, shard, from }
    try {
      return { shard, books: await options.open(schema) }
    } catch (error) {
      if (error instanceof TakenByAnother) return undefined
      throw error
    }
  }

  /** Undefined if it can take this shard. */
  async function whyNot({ shard, booksVersion }: SeenShard): Promise<string | undefined> {
    if (booksVersion > options.booksVersion) return 'its books are of a newer version'
    const known = options.masterKeys()
    const missing = (await cluster.masterKeysOf(shard)).filter((kid) => !known.includes(kid))
    if (missing.length > 0) return `master keys are missing: ${missing.join(' ')}`
    return options.failedLoad(shard)
  }

  async function checkShards(shards: readonly SeenShard[]): Promise<void> {
    const now = { ...cannotTake }
    for (const seen of shards) {
      const { shard } = seen
      const reason = await whyNot(seen)
      if (reason === now[shard]) continue
      if (reason === undefined) delete now[shard]
      else now[shard] = reason
      if (reason !== undefined) log.error({ shard, reason }, 'cannot take the shard over')
    }
    cannotTake = now
  }
}

function inOrder(
  shards: readonly SeenShard[],
  options: Pick<CandidateOptions<unknown>, 'holder' | 'shard' | 'cluster'>,
): readonly SeenShard[] {
  const rankOf = ({ holder, moveTo, shard }: SeenShard): number => {
    if (isSameFolder(holder, options.holder)) return 0
    if (moveTo === options.cluster.name) return 1
    return shard === options.shard ? 2 : 3
  }
  return [...shards].sort((one, other) => rankOf(one) - rankOf(other))
}

const ownersIn = (shards: readonly SeenShard[]): Readonly<Record<string, string>> =>
  Object.fromEntries(shards.map(({ shard, holder }) => [shard, processorOf(holder)]))
