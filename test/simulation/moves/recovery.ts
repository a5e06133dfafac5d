/**
 * Recovery mode of a simulated processor: the product's own, over the simple books.
 *
 * Does not own: when an operator begins and releases it (restores), the order of the start
 * (processor).
 *
 * - Bus and newest instruction of the rail are empty and reached at once: only the numbers of
 *   commits prove a loss.
 */
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../../protos/types/causeway/internal/v1/ProgressMark.js'
import { instant, type Clock } from '../../../src/base/clock.js'
import { createRecovery, REQUESTED } from '../../../src/processor/background/recovery.js'
import { answer } from '../../../src/processor/cycle/answer.js'
import type { Work } from '../../../src/processor/cycle/command.js'
import { SANDBOX_RAIL } from '../../../src/rails/rail.js'
import type { Owned } from '../../../src/store/postgres/ownership.js'
import type { Progress } from '../../../src/store/progress.js'
import type { CommitRows, Store } from '../../../src/store/store.js'
import type { Row } from '../../../src/store/tables.js'
import { SILENT_LOG as log } from '../../support/logs.js'
import type { MoveFault } from './faults.js'
import { NO_EFFECTS } from './payments.js'
import type { ServerConnection, StoredRecovery } from './server.js'

/** What books that can be set back mean for a processor. */
export interface ProcessorRestores {
  /** The high-water marks that its machine keeps, by shard. */
  readonly disk: Map<string, string>
  /** With RECOVERY=yes. */
  isRequested(): boolean
  /** Counts the restores of the partner's books. */
  timeline(partner: string): number
}

export interface ShardRecovery {
  readonly isActive: boolean
  /** Writes are refused. */
  isReadOnly(): boolean
  /** Null means that it is not in recovery mode. */
  current(): Row<'recoveries'> | null
  /** The rows are those that the connection has prepared. */
  commit(): Promise<void>
  barrier(): Promise<void>
  /** The newest commit, for gateways. */
  mark(): ProgressMark__Output
  /** Marks that a gateway shows. */
  shown(marks: readonly ProgressMark[]): void
  /** An operator's; not during a commit. */
  release(): Promise<void>
  /** Called once the processor serves: `restart` ends it after a release. */
  serving(restart: () => void): void
  close(): Promise<void>
}

export interface ShardRecoveryOptions extends ProcessorRestores {
  readonly shard: string
  readonly held: Owned
  readonly writer: ServerConnection
  readonly stored: StoredRecovery
  readonly fault: MoveFault | undefined
  readonly publishedEpoch: () => Promise<number>
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  /** The books are behind: ends the process. */
  readonly refuse: () => void
}

const NEVER = new Promise<never>(() => undefined)
const NO_ROWS = {} as CommitRows
const RECOVERING: Row<'recoveries'> = {
  ...{ number: 1, entered_at: 0, cause: REQUESTED, stops: 'writes', released_at: null },
  ...{ statement: null, loss: null, position_from: null, position_to: null },
}

/** Resolves when the sources of the start are checked. */
export async function startRecovery(options: ShardRecoveryOptions): Promise<ShardRecovery> {
  const { shard, held, writer, stored, disk, publishedEpoch, clock, pause, fault, refuse } = options
  let { acceptedEpoch } = stored
  let { lastBatch: lastBatchBefore } = held.ownership()
  const progress = (): Progress => ({
    ...{ booksId: shard, ...held.ownership() },
    ...{ acceptedEpoch, lastBatchBefore },
  })
  const books: Partial<Store> = {
    commit: () => held.commit((epoch, number) => [epoch, number]),
    barrier: held.barrier,
    raiseEpoch: async (above) => {
      await held.raiseEpoch(fault?.raisesByOne === true ? 0 : above)
      acceptedEpoch = held.ownership().epoch
      lastBatchBefore = held.ownership().lastBatch
    },
    releaseAcceptsUntil: () => Promise.resolve(),
    unfinishedRelease: () => Promise.resolve(null),
    stoppedByRecovery: () => Promise.resolve(stored.isRecovering ? 'writes' : null),
    marks: { progress } as Store['marks'],
  }
  const recovery = await createRecovery({
    books: books as Store,
    highWaterFile: shard,
    publishedEpoch,
    requestedBy: options.isRequested() ? REQUESTED : undefined,
    ...{ clock, pause, log },
    ports: {
      readMark: (path) => disk.get(path),
      replaceMark: (path, mark) => Promise.resolve(void disk.set(path, mark)),
      refuse: () => {
        refuse()
        return NEVER
      },
    },
  })
  const memory = { recovery: stored.isRecovering ? RECOVERING : null, isUnverified: false }

  const enter = async ({ reply }: Work): Promise<void> => {
    if (memory.recovery === null) {
      writer.prepare({ ...NO_EFFECTS, isRecovering: true })
      await recovery.store.commit(NO_ROWS)
      memory.recovery = RECOVERING
    } else await recovery.store.barrier()
    reply(answer({}))
  }
  await new Promise<void>((resolve, reject) => {
    const submit = (work: Work): void => void enter(work).catch(reject)
    recovery.enter({ submit }, memory).then(resolve, reject)
  })
  void recovery.admitBus(null)
  void recovery.admitRail(SANDBOX_RAIL, null)
  await recovery.checkSources()

  return {
    isActive: recovery.isActive,
    isReadOnly: () => memory.recovery !== null || memory.isUnverified,
    current: () => memory.recovery,
    commit: () => recovery.store.commit(NO_ROWS),
    barrier: () => recovery.store.barrier(),
    mark: () => {
      const { booksId, epoch, lastBatch } = progress()
      return { shard, books_id: booksId, epoch: String(epoch), batch: String(lastBatch) }
    },
    shown: (marks) => {
      for (const mark of marks) {
        if (mark.shard !== shard) continue
        const [epoch, lastBatch] = [Number(mark.epoch), Number(mark.batch)]
        const progress = { booksId: mark.books_id ?? '', epoch, lastBatch }
        recovery.admitGateway(progress).catch(() => undefined) // a former owner
      }
    },
    release: async () => {
      writer.prepare({ ...NO_EFFECTS, isRecovering: false })
      await recovery.store.commit(NO_ROWS)
      memory.recovery = { ...RECOVERING, released_at: instant(clock.now()) }
      recovery.released()
    },
    serving: recovery.serving,
    close: recovery.close,
  }
}
