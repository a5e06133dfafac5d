/**
 * The shards that this processor has taken over and whose books it could not load, in a small file
 * of its DATA_DIR: the memory of a process that ends with each of them.
 *
 * - It leaves such a shard to other processors for FIRST_WAIT_MS, doubled with each failure in a
 *   row up to WAIT_MAX_MS. Then it may take it again, as the books may have been repaired.
 * - A file that is not whole is none. Nor does a failure in the future count: the clock was set
 *   back.
 */
import { readFileSync } from 'node:fs'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { instant, MINUTE, SECOND, toRfc3339, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { writeSecretFile } from '../../files/secret_file.js'
import { EXIT_DEPOSED } from '../../process/child.js'
import type { Cluster } from '../../store/cluster/cluster.js'
import { answerWithin } from '../../store/postgres/answers.js'
import type { Store } from '../../store/store.js'

/** Other candidates look at a released shard several times a second. */
const FIRST_WAIT_MS = 10 * SECOND
const WAIT_MAX_MS = 5 * MINUTE

interface FailedLoad {
  /** In a row. */
  readonly failures: number
  /** Epoch milliseconds of the last one. */
  readonly at: number
}

export interface FailedLoads {
  /** Why the shard is left to others now. Undefined means that it can be taken. */
  reasonOf(shard: string): string | undefined
  failed(shard: string): void
  loaded(shard: string): void
}

export function openFailedLoads(file: string, clock: Clock): FailedLoads {
  const found = new Map(Object.entries(failuresIn(file)))
  const write = (): void => writeSecretFile(file, `${JSON.stringify(Object.fromEntries(found))}\n`)
  return {
    reasonOf: (shard) => {
      const failed = found.get(shard)
      if (failed === undefined) return undefined
      const passed = clock.now() - failed.at
      if (passed < 0 || passed >= waitAfter(failed.failures)) return undefined
      return `its books could not be loaded at ${toRfc3339(instant(failed.at))}`
    },
    failed: (shard) => {
      found.set(shard, { failures: (found.get(shard)?.failures ?? 0) + 1, at: clock.now() })
      write()
    },
    loaded: (shard) => {
      if (found.delete(shard)) write()
    },
  }
}

const waitAfter = (failures: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MAX_MS)

function failuresIn(file: string): Readonly<Record<string, FailedLoad>> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const isWhole = isObject(found) && Object.values(found).every(isFailedLoad)
    return isWhole ? (found as Readonly<Record<string, FailedLoad>>) : {}
  } catch (error) {
    if (error instanceof SyntaxError || (error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isFailedLoad = (value: unknown): boolean => {
  const { failures, at } = (isObject(value) ? value : {}) as Partial<FailedLoad>
  return Number.isSafeInteger(failures) && Number(failures) > 0 && Number.isSafeInteger(at)
}

export interface OwnedShard {
  readonly shard: string
  readonly books: Pick<Store, 'barrier' | 'close'>
  readonly cluster: Pick<Cluster, 'close'>
  readonly failedLoads: Pick<FailedLoads, 'failed'>
  readonly log: Logger
}

/**
 * Gives the shard up because its books cannot be loaded, and ends this process, which starts again
 * as a candidate. @throws the error itself when the shard or its server is lost: another process,
 * or the next start, reads the books
 */
export async function giveUp(
  { shard, books, cluster, failedLoads, log }: OwnedShard,
  error: unknown,
): Promise<never> {
  const isOwner = await answerWithin(books.barrier(), ANSWER_WITHIN_MS).then(
    () => true,
    () => false,
  )
  if (!isOwner) throw error
  try {
    failedLoads.failed(shard)
  } finally {
    await books.close()
  }
  await cluster.close()
  log.fatal({ shard, error }, 'the books cannot be loaded: the shard is given up')
  log.flush(() => process.exit(EXIT_DEPOSED))
  return new Promise<never>(() => undefined)
}
