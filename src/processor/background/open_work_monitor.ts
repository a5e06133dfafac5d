/**
 * Reads for the metrics how much is open, every 15 s: a scrape itself reads no database.
 *
 * - The figures are those of the books, so they are right after a restart too.
 * - A failed reading leaves no figures; the next one is not affected.
 */
import { DAY, HOUR, MINUTE, SECOND, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import type { OpenWork } from '../../store/open_work.js'

const SCAN_EVERY_MS = 15 * SECOND

/** By the name of their label; each counts also what is older. */
export const UNKNOWN_AGES = { over_5m: 5 * MINUTE, over_1h: HOUR, over_24h: DAY } as const

export interface OpenWorkMonitor {
  start(): void
  stop(): Promise<void>
  scan(): Promise<void>
  /** What the latest scan found. Null if it failed, or if there was none. */
  latest(): OpenWork | null
}

export function createOpenWorkMonitor({
  clock,
  lists,
  log,
}: {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'openWork'>
  readonly log: Logger
}): OpenWorkMonitor {
  let latest: OpenWork | null = null
  let timer: NodeJS.Timeout | undefined
  let scanning: Promise<void> | undefined

  const scan = async (): Promise<void> => {
    try {
      latest = await lists.openWork(clock.now(), Object.values(UNKNOWN_AGES))
    } catch (error) {
      latest = null
      log.warn({ error }, 'open work cannot be counted')
    }
  }

  const startScan = (): void => {
    scanning ??= scan().finally(() => (scanning = undefined))
  }

  return {
    start: () => {
      startScan()
      timer = setInterval(startScan, SCAN_EVERY_MS)
    },
    stop: async () => {
      clearInterval(timer)
      await scanning
    },
    scan,
    latest: () => latest,
  }
}
