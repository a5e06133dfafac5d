/**
 * Alerts operators to instructions and recalls that the rail has not answered for a day.
 *
 * Owns: the scan, its counts, one log line each. Does not own: inquiries (the machines, by timer),
 * resolving one (intents/intent_resolve, payouts/payout_resolve).
 *
 * - Each is logged once per process; a restart logs those that are still unanswered.
 */
import { MINUTE, plus, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { ALARM_AFTER_MS } from '../../../actors/rail_inquiry.js'
import type { Lists } from '../../store/lists.js'
import type { ActorRow } from '../../store/tables.js'
import type { UnknownKind } from '../../store/unknown_outcomes.js'
import { momentText } from '../queries/readable.js'
import { unansweredOf } from '../queries/unknown_outcome_list.js'

export interface StuckPaymentMonitor {
  start(): void
  stop(): Promise<void>
  scan(): Promise<void>
  /** Counts of the latest scan, each capped at COUNTED_MAX. */
  overdue(): Readonly<Record<UnknownKind, number>>
}

export interface StuckPaymentMonitorDependencies {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'unknownOutcomes'>
  readonly log: Logger
}

const SCAN_EVERY_MS = MINUTE
/** Maximum count of each kind. */
const COUNTED_MAX = 1_000

export function createStuckPaymentMonitor({
  clock,
  lists,
  log,
}: StuckPaymentMonitorDependencies): StuckPaymentMonitor {
  let counts: Readonly<Record<UnknownKind, number>> = { intents: 0, payouts: 0, recalls: 0 }
  let reported: ReadonlySet<string> = new Set()
  let timer: NodeJS.Timeout | undefined
  let scanning: Promise<void> = Promise.resolve()

  const scan = async (): Promise<void> => {
    const by = plus(clock.now(), -ALARM_AFTER_MS)
    const names = new Set<string>()
    const scanKind = async (kind: UnknownKind): Promise<number> => {
      const rows = await lists.unknownOutcomes(kind, by, '', COUNTED_MAX)
      for (const row of rows) {
        const name = `${kind} ${row.id}`
        names.add(name)
        if (!reported.has(name)) log.warn(factsOf(kind, row), ALARM[kind])
      }
      return rows.length
    }
    counts = {
      intents: await scanKind('intents'),
      payouts: await scanKind('payouts'),
      recalls: await scanKind('recalls'),
    }
    reported = names
  }

  const startScan = (): void => {
    scanning = scan().catch((error: unknown) => log.error({ error }, 'stuck-payment scan failed'))
  }

  return {
    start: () => {
      startScan()
      timer = setInterval(startScan, SCAN_EVERY_MS)
    },
    stop: () => {
      clearInterval(timer)
      return scanning
    },
    scan,
    overdue: () => counts,
  }
}

const UNKNOWN = 'no outcome for a day: check with the rail, then resolve it'
const ALARM: Readonly<Record<UnknownKind, string>> = {
  intents: UNKNOWN,
  payouts: UNKNOWN,
  recalls: 'recall unanswered for a day: check with the rail, then reverse or resolve it',
}

function factsOf(kind: UnknownKind, { id, tenant, context }: ActorRow): object {
  return { entity_id: id, tenant, since: momentText(unansweredOf(kind, context).since) }
}
