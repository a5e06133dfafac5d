/**
 * Watches the free disk space of a folder against a reserve.
 *
 * - Low below the reserve, and until an eighth more than the reserve is free again (hysteresis).
 * - A failed check keeps the last result. It is logged once, until a check succeeds.
 */
import { statfs } from 'node:fs/promises'
import { SECOND } from '../base/clock.js'

const CHECK_EVERY_MS = SECOND
export const MIB = 1024 * 1024

export interface FreeSpace {
  isLow(): boolean
  /** At the last check; null before the first one. */
  freeBytes(): number | null
  check(): Promise<void>
  /** Checks now, then every second. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Gets a line for each change. */
interface ChangeLog {
  warn(facts: object, text: string): void
  info(facts: object, text: string): void
}

export interface FreeSpaceOptions {
  /** 0 means that it is never low. */
  readonly reserveBytes: number
  readonly read: () => Promise<number>
  readonly log: ChangeLog
}

export function watchFreeSpace({ reserveBytes, read, log }: FreeSpaceOptions): FreeSpace {
  const enoughBytes = reserveBytes + Math.ceil(reserveBytes / 8)
  let free: number | null = null
  let low = false
  let isUnreadable = false
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> = Promise.resolve()

  const check = async (): Promise<void> => {
    try {
      free = await read()
      isUnreadable = false
    } catch (error) {
      if (!isUnreadable) log.warn({ error }, 'free disk space cannot be read')
      isUnreadable = true
      return
    }
    const was = low
    low = free < (was ? enoughBytes : reserveBytes)
    if (low === was) return
    const facts = { free_bytes: free, reserve_bytes: reserveBytes }
    if (low) log.warn(facts, 'disk almost full: writes are refused, reads continue')
    else log.info(facts, 'disk space recovered: writes are accepted')
  }

  const checkAgain = (): Promise<void> => (checking = checking.then(check))

  return {
    isLow: () => low,
    freeBytes: () => free,
    check,
    start: () => {
      timer = setInterval(() => void checkAgain(), CHECK_EVERY_MS)
      return checkAgain()
    },
    stop: () => {
      clearInterval(timer)
      return checking
    },
  }
}

/** Bytes available to an unprivileged user. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
