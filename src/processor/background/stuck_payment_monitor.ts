/**
 * Tells operators of instructions and recalls that the rail has not answered for a day.
 *
 * Owns: looking for them, how many there are, a line in the log for each. Does not own: asking the
 * rail (the machines, by their timers), ending one by hand (intents/intent_resolve,
 * payouts/payout_resolve).
 *
 * - One line each while the process lives; a restart tells of what is unknown still.
 */
import { MINUTE, plus, toRfc3339, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { ALARM_AFTER_MS } from '../../../actors/rail_inquiry.js'
import type { Lists } from '../../store/lists.js'
import type { ActorRow } from '../../store/tables.js'
import type { UnknownKind } from '../../store/unknown_outcomes.js'
import { unansweredOf } from '../queries/unknown_outcome_list.js'

export interface StuckPaymentMonitor {
  start(): void
  stop(): Promise<void>
  look(): Promise<void>
  /** At the last look; not counted beyond COUNTED_MAX. */
  overdue(): Readonly<Record<UnknownKind, number>>
}

export interface StuckPaymentMonitorDependencies {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'unknownOutcomes'>
  readonly log: Logger
}

const LOOK_EVERY_MS = MINUTE
/** Of each kind. With as many, their number is not what matters. */
export const COUNTED_MAX = 1_000

export function createStuckPaymentMonitor({
  clock,
  lists,
  log,
}: StuckPaymentMonitorDependencies): StuckPaymentMonitor {
  let counts: Readonly<Record<UnknownKind, number>> = { intents: 0, payouts: 0, recalls: 0 }
  let told: ReadonlySet<string> = new Set()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async (): Promise<void> => {
    const by = plus(clock.now(), -ALARM_AFTER_MS)
    const names = new Set<string>()
    const lookFor = async (kind: UnknownKind): Promise<number> => {
      const rows = await lists.unknownOutcomes(kind, by, '', COUNTED_MAX)
      for (const row of rows) {
        const name = `${kind} ${row.id}`
        names.add(name)
        if (!told.has(name)) log.warn(factsOf(kind, row), ALARM[kind])
      }
      return rows.length
    }
    counts = {
      intents: await lookFor('intents'),
      payouts: await lookFor('payouts'),
      recalls: await lookFor('recalls'),
    }
    told = names
  }

  const lookAgain = (): void => {
    looking = look().catch((error: unknown) =>
      log.error({ err: error }, 'stuck-payment scan failed'),
    )
  }

  return {
    start: () => {
      lookAgain()
      timer = setInterval(lookAgain, LOOK_EVERY_MS)
    },
    stop: () => {
      clearInterval(timer)
      return looking
    },
    look,
    overdue: () => counts,
  }
}

const UNKNOWN = 'the outcome is unknown for a day: find out, then resolve it'
const ALARM: Readonly<Record<UnknownKind, string>> = {
  intents: UNKNOWN,
  payouts: UNKNOWN,
  recalls: 'the rail has not answered the recall for a day: find out, then reverse or resolve it',
}

function factsOf(kind: UnknownKind, { id, tenant, context }: ActorRow): object {
  return { entity: id, tenant, since: toRfc3339(unansweredOf(kind, context).since) }
}
