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
 * - A gateway names commits of these books, as the high-water file does. Books that are behind it
 *   end the process at any time, because its gateways call it from then on. Until it has ended,
 *   nothing is committed or answered.
 * - The word of a webhook pool alone stops submissions to the rail, not writes: no money leaves
 *   until an operator has judged it.
 * - Books without a high-water mark are unverified and refuse writes until every rail answers, or
 *   the bus has an event that they have. Until then no rail is linked: its reports could not be
 *   applied, and come once a link. The release of a recovery leaves a mark.
 * - A release begins an epoch above each that an owner in the lost time can have begun: a later
 *   owner on another machine has a mark of it, and would refuse the books.
 * - A process that ended between the release and that epoch leaves it to the next start: its books
 *   were released, so they are not behind what the release has accepted. A mark of a later epoch
 *   is of the time after it: these books are an older copy. What the bus and the rails have still
 *   counts.
 * - In recovery mode, and while the books are unverified, the high-water mark is not moved: it is
 *   the evidence of the loss.
 */
import { basename } from 'node:path'
import { EXIT_BOOKS_BEHIND } from '../../process/child.js'
import { SECOND, type Clock, type Instant } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { SANDBOX_RAIL } from '../../rails/rail.js'
import type { Progress } from '../../store/progress.js'
import type { RecoveryStop, Store } from '../../store/store.js'
import type { Memory } from '../cache/memory.js'
import { enterRecovery } from '../commands/operators/recovery_enter.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import { createAdmission, type Admitted } from '../recovery/admission.js'
import {
  createHighWater,
  isAhead,
  readHighWater,
  readMarkFile,
  replaceMarkFile,
} from '../recovery/high_water.js'
import { ADVICE, createMarks, type Behind, type Mark } from '../recovery/marks.js'

const BUS = 'the bus'
const FOREIGN_BUS = 'the bus, which another installation uses,'
const railNamed = (name: string): string => `rail ${name}`
const POOL = 'webhook pool'
const GATEWAY = 'a gateway'

/** More than the lost books can have begun, where no high-water mark is left to tell. */
const UNSEEN_EPOCHS = 1_000

/**
 * At least as many as take-overs of PostgreSQL have begun: those are rarer than one a second. The
 * owners of the lost time can have run on other machines, which keep their marks.
 */
const epochsBegunBy = (now: Instant): number => Math.floor(now / SECOND)

/** The process ends. */
const NEVER = new Promise<never>(() => undefined)

/** The operator's setting. */
export const REQUESTED = 'RECOVERY=yes'

/** A start of unverified books waits this much longer for a source: it could write nothing. */
const VERIFIED_WITHIN_MS = 4 * SECOND
const UNVERIFIED =
  'the books have no high-water mark, the rail has not answered, and the bus is away or empty: ' +
  'writes are refused until one of them verifies the books'

export type Mode = 'normal' | 'unverified' | 'submissions_stopped' | 'recovery'

/** How the processor serves, for its readiness. */
export interface ModeState {
  readonly mode: Mode
  /** A sentence without its full stop; absent in normal mode. */
  readonly reason?: string
}

export interface RecoveryOptions {
  readonly books: Store
  /** Path of the high-water mark. */
  readonly highWaterFile: string
  /** Path of the mark from before these books became a shard of a cluster. */
  readonly formerHighWaterFile?: string
  /** In a cluster: the highest epoch that an owner of these books has published. */
  readonly publishedEpoch?: () => Promise<number>
  /** The names of the rails. Default: the sandbox rail. */
  readonly rails?: readonly string[]
  /** Why this start begins recovery mode: the operator's setting, or a restored backup. */
  readonly requestedBy?: string | undefined
  /** Called when the books have recorded it. */
  readonly onEntered?: () => void
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
  /** Default: files, and the end of this process. */
  readonly ports?: RecoveryPorts
}

/** What it does outside of the books. */
export interface RecoveryPorts {
  /** @returns undefined when there is none */
  readMark(path: string): string | undefined
  replaceMark(path: string, mark: string): Promise<void>
  /** The books are behind: ends the process. */
  refuse(reason: string): Promise<never>
}

type RecoveryMemory = Pick<Memory, 'recovery' | 'isUnverified'>

export interface Recovery {
  /** The books; each commit outside of recovery mode moves the high-water mark. */
  readonly store: Store
  /** True when this process serves only reads, from its start to its end. */
  readonly isActive: boolean
  /** Whether a source may be used. Resolves once the sources of the start are checked. */
  admitBus(newestEvent: string | null, isForeign?: boolean): Promise<boolean>
  admitRail(name: string, newestInstruction: string | null): Promise<boolean>
  admitPool(number: number, newestEvent: string | null): Promise<boolean>
  /** The newest commit that a gateway has replies of. */
  admitGateway(progress: Progress): Promise<void>
  /** Enters recovery mode when it is active. */
  enter(pipeline: Pick<Pipeline, 'submit'>, memory: RecoveryMemory): Promise<void>
  /** Resolves when the bus and the rail were checked, or could not be reached in time. */
  checkSources(): Promise<void>
  /** True once the books may be written, as far as their marks are concerned. */
  isVerified(): boolean
  /** Called once when unverified books are verified. */
  onVerified(handler: () => void): void
  state(): ModeState
  /** Called when the state has changed while this process serves. */
  onState(handler: () => void): void
  /** Marks that the books are behind. */
  behind(): readonly Behind[]
  /** False while it is not known what the bus has: a release would not accept its loss. */
  isBusChecked(): boolean
  /** How many marks were refused. */
  refusedMarks(): number
  /** An operator released recovery mode: the process restarts. */
  released(): void
  /** Called once when the process serves. `restart` stops it; its supervisor starts it again. */
  serving(restart: () => void): void
  /** Moves the books above every known epoch after a release, and writes the mark a last time. */
  close(): Promise<void>
}

export async function createRecovery(options: RecoveryOptions): Promise<Recovery> {
  const { books, highWaterFile, requestedBy, clock, pause, log } = options
  const { publishedEpoch = () => Promise.resolve(0), rails = [SANDBOX_RAIL] } = options
  const ports = options.ports ?? ownPorts(log)
  /** Rails that have not vouched for the books. */
  const unheard = new Set(rails)
  const former = formerMark(options, ports)
  const mark = foundMark(highWaterFile, ports, log) ?? former
  const found = mark?.progress
  const highWater = createHighWater({
    write: (mark) => ports.replaceMark(highWaterFile, mark),
    found,
    pause,
    log,
  })
  const isActive = requestedBy !== undefined || (await books.stoppedByRecovery()) === 'writes'
  let isVerified = isActive || mark !== undefined
  let onVerified: () => void = () => undefined
  let onState: () => void = () => undefined
  let refusedMarks = 0
  /** The highest epoch among the marks of gateways. */
  let newestEpoch = 0
  let isReleased = false
  let isBehindGateway = false
  let restart: (() => void) | undefined
  let submitTo: Pick<Pipeline, 'submit'> | undefined
  let memory: RecoveryMemory | undefined

  /** None of the lost time is higher. */
  const lostUntil = async (): Promise<number> => {
    const { epoch, acceptedEpoch } = books.marks.progress()
    const ofFiles = [found?.epoch ?? epoch + UNSEEN_EPOCHS, former?.progress.epoch ?? 0]
    const begun = acceptedEpoch === undefined ? 0 : epochsBegunBy(clock.now())
    return Math.max(...ofFiles, newestEpoch, await publishedEpoch(), begun)
  }
  const unfinished = await books.unfinishedRelease()
  if (unfinished !== null && !isActive) {
    const { acceptsUntil } = unfinished
    const isLater = found !== undefined && found.epoch > acceptsUntil
    if (!isLater || !isAhead(found, books.marks.progress())) {
      await books.raiseEpoch(Math.max(acceptsUntil, await lostUntil()))
      log.info({}, 'the release of recovery mode is finished: it was cut short')
    }
  }

  const marks = createMarks(books.marks, clock)
  if (mark !== undefined) {
    const result = await marks.check({ kind: 'high_water', ...mark })
    if (result.kind === 'behind' && !isActive) await ports.refuse(result.reason)
  }

  const enter = (cause: string, stops: RecoveryStop): Promise<void> =>
    new Promise((resolve) =>
      submitTo?.submit(internalWork(enterRecovery(cause, stops), 'service', () => resolve())),
    )

  const onBehind = async ({ mark, reason }: Behind, late: boolean): Promise<void> => {
    if (isActive) return log.warn({ reason }, 'the books are behind')
    if (mark.source.startsWith(POOL)) {
      await enter(reason, 'submissions')
      log.error({ reason }, 'submissions to the rail are stopped, until they are released')
      return onState()
    }
    if (!late || restart === undefined) return ports.refuse(reason)
    await enter(reason, 'writes')
    log.error({ reason }, 'the books went back in time: recovery mode')
    restart()
  }

  const verify = (source: string): void => {
    if (isVerified) return
    isVerified = true
    log.info({ source }, 'the books are verified')
    if (memory !== undefined) memory.isUnverified = false
    highWater.committed(books.marks.progress())
    onVerified()
    onState()
  }

  /** @param isEnough whether what the source said verifies the books */
  const admit = async (
    source: string,
    mark: Mark | null,
    isEnough: (admitted: Admitted) => boolean,
  ): Promise<boolean> => {
    const admitted = await admission.admits(source, mark)
    if (isEnough(admitted)) verify(source)
    return admitted !== 'rejected'
  }
  const admission = createAdmission({
    marks,
    awaited: [BUS, ...rails.map(railNamed)],
    onBehind: (behind, late) => void onBehind(behind, late),
    onRefused: (reason) => {
      refusedMarks += 1
      log.warn({ reason }, 'a mark is refused')
    },
    pause,
    log,
  })

  return {
    store: {
      ...books,
      commit: async (batch) => {
        if (isBehindGateway) await NEVER
        await books.commit(batch)
        if (isBehindGateway) await NEVER
        if (!isActive && isVerified) highWater.committed(books.marks.progress())
      },
      barrier: async () => {
        await books.barrier()
        if (isBehindGateway) await NEVER
      },
    },
    isActive,
    admitBus: (id, isForeign = false) => {
      const source = isForeign ? FOREIGN_BUS : BUS
      const mark = id === null ? null : ({ kind: 'event', source, id } as const)
      return admit(BUS, mark, (admitted) => admitted === 'contained')
    },
    admitRail: async (name, id) => {
      const source = railNamed(name)
      const mark = id === null ? null : ({ kind: 'instruction', source, id } as const)
      const isAdmitted = await admit(source, mark, (admitted) => {
        if (admitted !== 'rejected') unheard.delete(name)
        return unheard.size === 0
      })
      return isAdmitted && isVerified
    },
    admitPool: (number, id) => {
      const source = `${POOL} ${number}`
      return admit(source, id === null ? null : { kind: 'event', source, id }, () => false)
    },
    admitGateway: async (progress) => {
      newestEpoch = Math.max(newestEpoch, progress.epoch)
      const result = await marks.check({ kind: 'high_water', source: GATEWAY, progress })
      if (result.kind !== 'behind') return
      if (isActive) return log.warn({ reason: result.reason }, 'the books are behind')
      isBehindGateway = true
      // A former owner is behind as well; the store reports that it was deposed.
      await books.barrier()
      await ports.refuse(result.reason)
    },
    enter: async (pipeline, given) => {
      submitTo = pipeline
      memory = given
      memory.isUnverified = !isVerified
      if (isActive) {
        await enter(requestedBy ?? REQUESTED, 'writes')
        await books.releaseAcceptsUntil(await lostUntil())
      }
      options.onEntered?.()
      if (memory.recovery === null) return
      const { cause, stops } = memory.recovery
      const what = stops === 'writes' ? 'recovery mode: reads only' : 'submissions are stopped'
      log.warn({ cause }, `${what}, until it is released`)
    },
    checkSources: async () => {
      await admission.start()
      if (!isVerified) {
        const verified = new Promise<void>((resolve) => (onVerified = resolve))
        await Promise.race([verified, pause(VERIFIED_WITHIN_MS)])
      }
      if (!isVerified) log.error({ reason: UNVERIFIED }, 'the books are not verified')
      else if (!isActive) highWater.committed(books.marks.progress())
    },
    isVerified: () => isVerified,
    onVerified: (handler) => (onVerified = handler),
    state: () => {
      const recovery = memory?.recovery ?? null
      if (isActive) return { mode: 'recovery', reason: recovery?.cause ?? REQUESTED }
      if (!isVerified) return { mode: 'unverified', reason: UNVERIFIED }
      if (recovery === null) return { mode: 'normal' }
      return { mode: 'submissions_stopped', reason: recovery.cause }
    },
    onState: (handler) => (onState = handler),
    refusedMarks: () => refusedMarks,
    behind: () => marks.behind(),
    isBusChecked: () => admission.isChecked(BUS),
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
        await books.raiseEpoch(await lostUntil())
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

function foundMark(path: string, { readMark }: RecoveryPorts, log: Logger): FoundMark | undefined {
  const text = readMark(path)
  if (text === undefined) return undefined
  const source = basename(path)
  const progress = readHighWater(text)
  if (progress !== undefined) return { source, progress }
  log.warn({ file: source }, 'high-water mark is unreadable and not checked')
  return undefined
}

/** The file may be of other books: this data directory had them before it joined the cluster. */
function formerMark(
  { books, formerHighWaterFile, log }: RecoveryOptions,
  ports: RecoveryPorts,
): FoundMark | undefined {
  if (formerHighWaterFile === undefined) return undefined
  const found = foundMark(formerHighWaterFile, ports, log)
  return found?.progress.booksId === books.marks.progress().booksId ? found : undefined
}

const ownPorts = (log: Logger): RecoveryPorts => ({
  readMark: readMarkFile,
  replaceMark: replaceMarkFile,
  refuse: (reason) => refuseBooks(reason, log),
})

/** Ends the process. The supervisor prints its last line, whatever the log level. */
function refuseBooks(reason: string, log: Logger): Promise<never> {
  return new Promise(() => {
    log.flush(() => {
      process.stdout.write(`The books went back in time: ${reason}; ${ADVICE}.\n`)
      process.exit(EXIT_BOOKS_BEHIND)
    })
  })
}
