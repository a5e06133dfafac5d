/**
 * What the owner of a schema reads of its server before the take-over and from then on: whether
 * commits wait for a standby, and the server's clock.
 *
 * Does not own: the readings (postgres/synchrony, postgres/server_clock), the take-over
 * (postgres/owned_schema).
 *
 * - A process waits with its take-over while a required standby is missing, or while its clock
 *   differs from the server's by more than CLOCK_LIMIT_MS.
 * - An owner that loses a required standby ends. One whose clock differs goes on: the clock of
 *   decisions does not fall, and an end would not mend the machine's.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Reader } from '../database.js'
import type { Synchrony } from '../store.js'
import { CLOCK_LIMIT_MS, CLOCK_WARNING_MS, readClockOffset } from './server_clock.js'
import { readSynchrony } from './synchrony.js'

export interface ServerWatchOptions {
  readonly connection: Pick<Reader, 'all'>
  /**
   * Does not own the schema while commits wait for no standby. Absent means that this is not read.
   */
  readonly isSyncRequired?: boolean | undefined
  /** This machine's, compared with the server's. Absent means that it is not compared. */
  readonly clock?: Clock | undefined
  readonly pause: (ms: number) => Promise<void>
  /** Called when it has to wait; it may wait already. */
  readonly onWaiting?: (() => void | Promise<void>) | undefined
  readonly log: Logger
}

export interface ServerWatch {
  /** As of the last reading, some seconds ago at most. Null if it is not read. */
  synchrony(): Synchrony | null
  clockOffsetMs(): number | null
  /** @param fail ends the ownership */
  start(fail: (error: Error) => void): void
  stop(): void
}

const LOOK_EVERY_MS = SECOND
/** Looks between two readings of the synchrony. */
const SYNCHRONY_EVERY = 3
const NOT_SYNCHRONOUS = 'answered requests are on one server only'
const CLOCK_DIFFERS = "this machine's clock differs from the database server's"

/** Resolves when the schema may be owned on this server. */
export async function watchServer(options: ServerWatchOptions): Promise<ServerWatch> {
  const { connection, isSyncRequired, clock, pause, onWaiting, log } = options
  let synchrony: Synchrony | null = null
  let clockOffsetMs: number | null = null
  let isStopped = false

  const readServer = async (withSynchrony: boolean): Promise<void> => {
    if (clock !== undefined) clockOffsetMs = await readClockOffset(connection, clock)
    if (withSynchrony && isSyncRequired !== undefined) synchrony = await readSynchrony(connection)
  }
  const isClockFar = (limitMs: number): boolean => Math.abs(clockOffsetMs ?? 0) > limitMs
  /** Why the schema is not owned here. Null if it may be. */
  const obstacle = (): string | null => {
    if (isClockFar(CLOCK_LIMIT_MS)) return `${CLOCK_DIFFERS} by ${clockOffsetMs} ms`
    return isSyncRequired === true ? (synchrony?.fault ?? null) : null
  }
  const waitForServer = async (): Promise<void> => {
    let told: string | null = null
    for (;;) {
      await readServer(true)
      const reason = obstacle()
      if (reason === null) return
      const kind = isClockFar(CLOCK_LIMIT_MS) ? REFUSED_CLOCK : REFUSED_SYNCHRONY
      if (told === null) await onWaiting?.()
      if (told !== kind) log.error({ reason }, kind)
      told = kind
      await pause(LOOK_EVERY_MS)
    }
  }
  const tellSynchrony = (before: string | null | undefined): void => {
    const fault = synchrony?.fault ?? null
    if (synchrony === null || fault === before) return
    if (fault === null) log.info('commits wait for a standby')
    else log.warn({ reason: fault }, NOT_SYNCHRONOUS)
  }
  const tellClock = (wasFar: boolean): void => {
    const isFar = isClockFar(CLOCK_WARNING_MS)
    if (isFar && !wasFar) log.warn({ offset_ms: clockOffsetMs }, CLOCK_DIFFERS)
    if (!isFar && wasFar) log.info({ offset_ms: clockOffsetMs }, 'the clocks agree again')
  }
  const watch = async (fail: (error: Error) => void): Promise<void> => {
    for (let looks = 1; ; looks++) {
      await pause(LOOK_EVERY_MS)
      if (isStopped) return
      const before = synchrony?.fault
      const wasFar = isClockFar(CLOCK_WARNING_MS)
      await readServer(looks % SYNCHRONY_EVERY === 0)
      tellClock(wasFar)
      const fault = synchrony?.fault ?? null
      if (fault !== null && isSyncRequired === true) return fail(new Error(fault))
      tellSynchrony(before)
    }
  }

  await waitForServer()
  tellClock(false)
  if (synchrony !== null) tellSynchrony(null)
  return {
    synchrony: () => synchrony,
    clockOffsetMs: () => clockOffsetMs,
    start: (fail) => {
      if (synchrony === null && clockOffsetMs === null) return
      watch(fail).catch((error: unknown) => {
        if (!isStopped) fail(error as Error)
      })
    },
    stop: () => (isStopped = true),
  }
}

const REFUSED_SYNCHRONY = 'not the owner while commits wait for no standby'
const REFUSED_CLOCK = "not the owner while this machine's clock differs from the database server's"
