/**
 * Tells operators of instructions whose outcome has been unknown for a day.
 *
 * Owns: looking for them, how many there are, a line in the log for each. Does not own: asking the
 * rail (the machines, by their timers), ending one by hand (commands/intent_resolve,
 * commands/payout_resolve).
 *
 * W1. One line each while the process lives; a restart tells of what is unknown still.
 */
import { MINUTE, plus, toRfc3339, type Clock, type Instant } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { ALARM_AFTER_MS } from '../../../actors/unknown_outcome.js'
import type { Lists } from '../../store/lists.js'
import type { ActorRow } from '../../store/tables.js'
import type { UnknownKind } from '../../store/unknown_outcomes.js'

export interface UnknownWatch {
  start(): void
  stop(): Promise<void>
  look(): Promise<void>
  /** At the last look; not counted beyond COUNTED_MAX. */
  overdue(): Readonly<Record<UnknownKind, number>>
}

export interface UnknownWatchDependencies {
  readonly clock: Clock
  readonly lists: Pick<Lists, 'unknownOutcomes'>
  readonly log: Logger
}

const LOOK_EVERY_MS = MINUTE
/** Of each kind. With as many, their number is not what matters. */
export const COUNTED_MAX = 1_000

export function createUnknownWatch({ clock, lists, log }: UnknownWatchDependencies): UnknownWatch {
  let counts: Readonly<Record<UnknownKind, number>> = { intents: 0, payouts: 0 }
  let told: ReadonlySet<string> = new Set()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async (): Promise<void> => {
    const by = plus(clock.now(), -ALARM_AFTER_MS)
    const intents = await lists.unknownOutcomes('intents', by, '', COUNTED_MAX)
    const payouts = await lists.unknownOutcomes('payouts', by, '', COUNTED_MAX)
    const found = [...intents, ...payouts]
    for (const row of found) if (!told.has(row.id)) log.warn(factsOf(row), ALARM)
    told = new Set(found.map(({ id }) => id))
    counts = { intents: intents.length, payouts: payouts.length }
  }

  const lookAgain = (): void => {
    looking = look().catch((error: unknown) => log.error({ err: error }, 'looking for the unknown'))
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

const ALARM = 'the outcome is unknown for a day: find out, then resolve it'

function factsOf({ id, tenant, context }: ActorRow): object {
  const { handedOverAt } = JSON.parse(context) as { handedOverAt: Instant }
  return { entity: id, tenant, since: toRfc3339(handedOverAt) }
}
