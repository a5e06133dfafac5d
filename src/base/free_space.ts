/**
 * Whether the disk of a folder has room for more than what is under way.
 *
 * - Low below the reserve, and until an eighth more than the reserve is free again: it does not
 *   flap.
 * - A look that fails leaves the answer as it was.
 */
import { statfs } from 'node:fs/promises'
import { SECOND } from './clock.js'

const LOOK_EVERY_MS = SECOND
export const MIB = 1024 * 1024

export interface FreeSpace {
  isLow(): boolean
  /** At the last look; null before the first one. */
  freeBytes(): number | null
  look(): Promise<void>
  /** Looks, and looks again every second. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Where it says that the answer has changed. */
interface Told {
  warn(facts: object, text: string): void
  info(facts: object, text: string): void
}

export interface FreeSpaceOptions {
  /** 0: never low. */
  readonly reserveBytes: number
  readonly read: () => Promise<number>
  readonly log: Told
}

export function watchFreeSpace({ reserveBytes, read, log }: FreeSpaceOptions): FreeSpace {
  const enoughBytes = reserveBytes + Math.ceil(reserveBytes / 8)
  let free: number | null = null
  let low = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async (): Promise<void> => {
    try {
      free = await read()
    } catch (error) {
      return log.warn({ err: error }, 'free disk space cannot be read')
    }
    const was = low
    low = free < (was ? enoughBytes : reserveBytes)
    if (low === was) return
    const facts = { free_bytes: free, reserve_bytes: reserveBytes }
    if (low) log.warn(facts, 'disk almost full: writes are refused, reads go on')
    else log.info(facts, 'disk has room again: writes are accepted')
  }

  const lookAgain = (): Promise<void> => (looking = looking.then(look))

  return {
    isLow: () => low,
    freeBytes: () => free,
    look,
    start: () => {
      timer = setInterval(() => void lookAgain(), LOOK_EVERY_MS)
      return lookAgain()
    },
    stop: () => {
      clearInterval(timer)
      return looking
    },
  }
}

/** Bytes that an ordinary user may still write there. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
