/**
 * Reads for the metrics how much is open, every 15 s: a scrape itself reads no database.
 *
 * - The figures are those of the books, so they are right after a restart too.
 * - A failed reading leaves no figures; the next one is not affected.
 * - The first scan that succeeds is the report of the start: what is open, and was restored.
 * - Payments on a rail that the file does not name wait for ever: a change of their number is
 *   logged.
 */
import { DAY, HOUR, MINUTE, SECOND, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import type { OpenWork } from '../../store/open_work.js'
import { SANDBOX_RAIL } from '../../rails/rail.js'

const SCAN_EVERY_MS = 15 * SECOND

/** By the name of their label; each counts also what is older. */
export const UNKNOWN_AGES = { over_5m: 5 * MINUTE, over_1h: HOUR, over_24h: DAY } as const

export interface OpenWorkMonitor {
  start(): void
  stop(): Promise<void>
  scan(): Promise<void>
  /** What the latest scan found. Null if it failed, or if there was none. */
  latest(): OpenWork | null
  /** Open payments by rail, of rails that the file does not name, as the latest scan found them. */
  unnamedRails(): ReadonlyMap<string, number>
}

export function createOpenWorkMonitor({
  clock,
  lists,
  rails,
  onUnnamedRails = () => undefined,
  log,
}: {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'openWork'>
  /** The rails that the file names. */
  readonly rails: readonly string[]
  /** Called when `unnamedRails` has changed. */
  readonly onUnnamedRails?: () => void
  readonly log: Logger
}): OpenWorkMonitor {
  let latest: OpenWork | null = null
  let isReported = false
  let unnamed: ReadonlyMap<string, number> = new Map()
  let timer: NodeJS.Timeout | undefined
  let scanning: Promise<void> | undefined

  const scan = async (): Promise<void> => {
    try {
      latest = await lists.openWork(clock.now(), Object.values(UNKNOWN_AGES))
      compareRails(latest)
      if (!isReported) log.info(restoredBy(latest), 'open payments are restored')
      isReported = true
    } catch (error) {
      latest = null
      log.warn({ error }, 'open work cannot be counted')
    }
  }

  const compareRails = (found: OpenWork): void => {
    const before = JSON.stringify([...unnamed])
    unnamed = unnamedIn(found, rails)
    if (JSON.stringify([...unnamed]) === before) return
    for (const [rail, payments] of unnamed) {
      log.error({ rail, payments }, 'RAILS_FILE does not name the rail of open payments: they wait')
    }
    onUnnamedRails()
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
    unnamedRails: () => unnamed,
  }
}

/** Payments that are not final, and their timers that are due; each is counted up to 10,000. */
function restoredBy({ payments, overdueTimers }: OpenWork) {
  const of = (entity: string): number =>
    payments.reduce((sum, each) => sum + (each.entity === entity ? each.count : 0), 0)
  return {
    intents: of('payment_intent'),
    payouts: of('payout'),
    overdue_timers: overdueTimers,
  }
}

function unnamedIn({ rails: open }: OpenWork, named: readonly string[]): Map<string, number> {
  const unnamed = new Map<string, number>()
  for (const { rail, count } of open) {
    const name = rail ?? SANDBOX_RAIL
    if (!named.includes(name)) unnamed.set(name, (unnamed.get(name) ?? 0) + count)
  }
  return unnamed
}
