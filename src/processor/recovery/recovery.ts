/**
 * Recovery at start: reads the high-water mark, compares the books with all marks outside them, and
 * enters recovery mode when the books are behind.
 *
 * Owns: the mark of each source, the reaction to books that are behind. Does not own: the
 * comparison (recovery/marks), the order of a start (recovery/admission), the release
 * (operators/recovery_release).
 *
 * - Books that are behind a mark at start end the process with EXIT_BOOKS_BEHIND. When books are
 *   found behind while serving, they enter recovery mode and the process restarts.
 * - In recovery mode the high-water mark is not moved: it is the evidence of the loss.
 */
import { basename } from 'node:path'
import { EXIT_BOOKS_BEHIND } from '../../base/child.js'
import type { EventId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { Progress } from '../../store/progress.js'
import type { Store } from '../../store/store.js'
import type { Memory } from '../cache/memory.js'
import { enterRecovery } from '../commands/operators/recovery_enter.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import { createAdmission } from './admission.js'
import { createHighWater, readHighWater, readMarkFile, replaceMarkFile } from './high_water.js'
import { ADVICE, createMarks, type Behind } from './marks.js'

const BUS = 'the bus'
const RAIL = 'the rail'

export interface RecoveryOptions {
  readonly books: Store
  /** Path of the high-water mark. */
  readonly highWaterFile: string
  /** Path of the mark from before these books became a shard of a cluster. */
  readonly formerHighWaterFile?: string
  /** The operator's setting RECOVERY. */
  readonly isRequested: boolean
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

export interface Recovery {
  /** The books; each commit outside of recovery mode moves the high-water mark. */
  readonly store: Store
  /** True when this process serves only reads, from its start to its end. */
  readonly isActive: boolean
  /** Whether a source may be used. Resolves once the sources of the start are checked. */
  admitBus(newestEvent: EventId | null): Promise<boolean>
  admitRail(name: string, newestInstruction: string | null): Promise<boolean>
  admitPool(number: number, newestEvent: string | null): Promise<boolean>
  /** Enters recovery mode when it is active. */
  enter(pipeline: Pick<Pipeline, 'submit'>, memory: Memory): Promise<void>
  /** Resolves when the bus and the rail were checked, or could not be reached in time. */
  checkSources(): Promise<void>
  /** Marks that the books are behind. */
  behind(): readonly Behind[]
  /** An operator released recovery mode: the process restarts. */
  released(): void
  /** Called once when the process serves. `restart` stops it; its supervisor starts it again. */
  serving(restart: () => void): void
  /** Moves the books above the mark after a release, and writes the mark a last time. */
  close(): Promise<void>
}

export async function createRecovery(options: RecoveryOptions): Promise<Recovery> {
  const { books, highWaterFile, isRequested, pause, log } = options
  const mark = foundMark(highWaterFile, log) ?? formerMark(options)
  const found = mark?.progress
  const highWater = createHighWater({
    write: (mark) => replaceMarkFile(highWaterFile, mark),
    found,
    pause,
    log,
  })
  const isActive = isRequested || (await books.isInRecovery())
  let isReleased = false
  let restart: (() => void) | undefined
  let submitTo: Pick<Pipeline, 'submit'> | undefined

  const marks = createMarks(books.marks)
  if (mark !== undefined) {
    const result = await marks.check({ kind: 'high_water', ...mark })
    if (result.kind === 'behind' && !isActive) await refuseBooks(result.reason, log)
  }

  const enter = (cause: string): Promise<void> =>
    new Promise((resolve) =>
      submitTo?.submit(internalWork(enterRecovery(cause), 'service', () => resolve())),
    )

  const onBehind = async (reason: string, late: boolean): Promise<void> => {
    if (isActive) return log.warn({ reason }, 'the books are behind')
    if (!late || restart === undefined) return refuseBooks(reason, log)
    await enter(reason)
    log.error({ reason }, 'the books went back in time: recovery mode')
    restart()
  }
  const admission = createAdmission({
    marks,
    awaited: [BUS, RAIL],
    onBehind: (reason, late) => void onBehind(reason, late),
    pause,
    log,
  })

  return {
    store: {
      ...books,
      commit: async (batch) => {
        await books.commit(batch)
        if (!isActive) highWater.committed(books.marks.progress())
      },
    },
    isActive,
    admitBus: (id) =>
      admission.admits(BUS, id === null ? null : { kind: 'event', source: BUS, id }),
    admitRail: (name, id) => {
      const source = `rail ${name}`
      return admission.admits(RAIL, id === null ? null : { kind: 'instruction', source, id })
    },
    admitPool: (number, id) => {
      const source = `webhook pool ${number}`
      return admission.admits(source, id === null ? null : { kind: 'event', source, id })
    },
    enter: async (pipeline, memory) => {
      submitTo = pipeline
      if (isActive) await enter('RECOVERY=yes')
      if (memory.recovery === null) return
      log.warn({ cause: memory.recovery.cause }, 'recovery mode: reads only, until it is released')
    },
    checkSources: async () => {
      await admission.start()
      if (!isActive) highWater.committed(books.marks.progress())
    },
    behind: () => marks.behind(),
    released: () => {
      isReleased = true
      restart?.()
    },
    serving: (given) => {
      restart = given
      if (isReleased) restart()
    },
    close: async () => {
      if (isReleased) {
        await books.raiseEpoch(found?.epoch ?? 0)
        highWater.committed(books.marks.progress())
      }
      await highWater.stop()
    },
  }
}

interface FoundMark {
  readonly source: string
  readonly progress: Progress
}

function foundMark(path: string, log: Logger): FoundMark | undefined {
  const text = readMarkFile(path)
  if (text === undefined) return undefined
  const source = basename(path)
  const progress = readHighWater(text)
  if (progress !== undefined) return { source, progress }
  log.warn({ file: source }, 'high-water mark is unreadable and not checked')
  return undefined
}

/** The file may be of other books: this data directory had them before it joined the cluster. */
function formerMark({ books, formerHighWaterFile, log }: RecoveryOptions): FoundMark | undefined {
  if (formerHighWaterFile === undefined) return undefined
  const found = foundMark(formerHighWaterFile, log)
  return found?.progress.booksId === books.marks.progress().booksId ? found : undefined
}

/** Ends the process. The supervisor prints its last line, whatever the log level. */
function refuseBooks(reason: string, log: Logger): Promise<never> {
  return new Promise(() => {
    log.flush(() => {
      process.stdout.write(`The books went back in time: ${reason}; ${ADVICE}.\n`)
      process.exit(EXIT_BOOKS_BEHIND)
    })
  })
}
