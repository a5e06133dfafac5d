/**
 * Waits until this processor owns a shard: its own, or as a spare any shard.
 *
 * - The wait ends with the ownership of one shard. Of several available shards it takes the one
 *   that it had, then the one that moves to it.
 * - A shard whose books need a master key that this processor lacks is skipped.
 */
import type { Logger } from '../../../base/log.js'
import type { SchemaOptions } from '../owned_schema.js'
import { isSamePlace } from '../holder.js'
import { TakenByAnother } from '../ownership.js'
import { processorOf, type Cluster } from './cluster.js'
import { createLeaseWatch, type LeaseWatch, type SeenShard } from './lease_watch.js'

const LOOK_EVERY_MS = 250
/** Looks between two checks of the server. */
const CHECK_EVERY = 20

export interface CandidateOptions<Books> {
  readonly cluster: Pick<Cluster, 'name' | 'seenShards' | 'masterKeysOf' | 'checkServer'>
  readonly url: string
  /** The holder that it writes into a lease. */
  readonly holder: string
  /** The only shard that it serves. Undefined if it is a spare. */
  readonly shard: string | undefined
  /** Kids of its master keys; read at each take-over. */
  readonly masterKeys: () => readonly string[]
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  /** Takes over the books from the owner that was seen. @throws TakenByAnother */
  readonly open: (schema: SchemaOptions) => Promise<Books>
  /** Called once when it has to wait. */
  readonly onWaiting: () => void
  readonly log: Logger
}

export interface OwnedShard<Books> {
  readonly shard: string
  readonly books: Books
}

export async function awaitShard<Books>(
  options: CandidateOptions<Books>,
): Promise<OwnedShard<Books>> {
  const { cluster, shard: own, holder, elapsed, pause, onWaiting, log } = options
  const watches = new Map<string, LeaseWatch>()
  const watchOf = (shard: string): LeaseWatch => {
    const known = watches.get(shard)
    if (known !== undefined) return known
    const candidate = { name: cluster.name, holder, isSpare: own === undefined }
    const watch = createLeaseWatch(candidate, elapsed)
    watches.set(shard, watch)
    return watch
  }
  const lacking = new Map<string, string>()
  let fault: Error | undefined

  for (let looks = 1; ; looks++) {
    const seen = (await cluster.seenShards()).filter(
      ({ shard }) => own === undefined || shard === own,
    )
    // Each watch is updated, also that of a shard later in the order.
    const takeable = seen.filter((each) => watchOf(each.shard).isTakeable(each))
    for (const each of inOrder(takeable, options)) {
      const owned = await taken(each)
      if (owned !== undefined) return owned
    }
    if (looks === 1) {
      log.info({ shard: own ?? 'any', owners: ownersIn(seen) }, 'candidate: waiting for a shard')
      onWaiting()
    }
    if (looks % CHECK_EVERY === 0)
      void cluster.checkServer().catch((error: unknown) => (fault = error as Error))
    await pause(LOOK_EVERY_MS)
    if (fault !== undefined) throw fault
  }

  async function taken(from: SeenShard): Promise<OwnedShard<Books> | undefined> {
    const { shard } = from
    const known = options.masterKeys()
    const missing = (await cluster.masterKeysOf(shard)).filter((kid) => !known.includes(kid))
    if (missing.length > 0) return leave(shard, missing.join(' '))
    const schema: SchemaOptions = { ...options, shard, from }
    try {
      return { shard, books: await options.open(schema) }
    } catch (error) {
      if (error instanceof TakenByAnother) return undefined
      throw error
    }
  }

  function leave(shard: string, missing: string): undefined {
    if (lacking.get(shard) === missing) return
    lacking.set(shard, missing)
    log.error({ shard, master_keys: missing }, 'cannot take over: master keys are missing')
  }
}

function inOrder(
  shards: readonly SeenShard[],
  { holder: own, cluster: { name } }: Pick<CandidateOptions<unknown>, 'holder' | 'cluster'>,
): readonly SeenShard[] {
  const rankOf = ({ holder, moveTo }: SeenShard): number => {
    if (isSamePlace(holder, own)) return 0
    return moveTo === name ? 1 : 2
  }
  return [...shards].sort((one, other) => rankOf(one) - rankOf(other))
}

const ownersIn = (shards: readonly SeenShard[]): Readonly<Record<string, string>> =>
  Object.fromEntries(shards.map(({ shard, holder }) => [shard, processorOf(holder)]))
