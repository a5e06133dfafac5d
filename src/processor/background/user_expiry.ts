/**
 * Erases users without a payment for as long as the setting says, as `partner erase-user` does.
 *
 * Owns: finding them. Does not own: their erasure (background/user_erasures).
 *
 * - Once a day the links of the intents are read from the oldest on, up to the first young intent.
 *   A user is found at the latest payment, which the index in memory knows: one who has paid since
 *   costs no further read.
 * - At most USERS_AT_ONCE are begun in a commit, and the next ones once those are erased or wait,
 *   because payments use the same commits.
 * - A payment that is not final is looked at again a day later; while the books are read-only, all
 *   are within an hour.
 */
import { DAY, plus, SECOND, systemPause, type Clock } from '../../base/clock.js'
import { instantOf, isIdOf } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { SteadyClock } from '../../base/steady_clock.js'
import type { Lists } from '../../store/lists.js'
import { fingerprintsIn } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'
import {
  expireUsers,
  type ExpiredUsers,
  type LatestPayment,
} from '../commands/partners/users_expire.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import { createDailyWork, type DailyWork } from './daily_work.js'

export interface UserExpiryDependencies {
  /** Days without a payment. 0 means that users are kept for good. */
  readonly keepDays: number
  readonly clock: Clock
  readonly isSteady: SteadyClock['isSteady']
  readonly lists: Pick<Lists, 'userLinks' | 'usersOfIntents'>
  readonly memory: Pick<Memory, 'userIndex' | 'userErasures'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
  readonly usersAtOnce?: number
  /** Between two pages of links. */
  readonly pauseMs?: number
  /** Between two looks whether users are still being erased. */
  readonly lookMs?: number
}

const USERS_AT_ONCE = 20
const ROWS_AT_ONCE = 100
const PAUSE_MS = 20

/** A run begins the erasure of all users that are old then; others must end it meanwhile. */
export function createUserExpiry(dependencies: UserExpiryDependencies): DailyWork {
  const { keepDays, clock, isSteady, lists, memory, pipeline, log } = dependencies
  const { usersAtOnce = USERS_AT_ONCE, pauseMs = PAUSE_MS, lookMs = SECOND } = dependencies
  const stopped = new AbortController()

  const run = async (): Promise<boolean> => {
    const before = plus(clock.now(), -keepDays * DAY)
    let users = 0
    for (let after = 0; !stopped.signal.aborted;) {
      const rows = await lists.userLinks(after, ROWS_AT_ONCE)
      const links = rows.flatMap(({ first, prints, links: ids }) =>
        fingerprintsIn(prints).map((fingerprint, index) => {
          return { fingerprint, number: first + index, id: ids[index]?.[0] ?? '' }
        }),
      )
      const young = links.findIndex(({ id }) => instantOf(id) >= before)
      const latest = links
        .slice(0, young < 0 ? undefined : young)
        .filter(({ fingerprint, number }) =>
          memory.userIndex.candidates(fingerprint).includes(number),
        )
      const begun = await expire(await named(latest), before)
      if (begun === null) return false
      users += begun
      if (young >= 0 || rows.length < ROWS_AT_ONCE) break
      after = links.at(-1)!.number
      await systemPause(pauseMs, stopped.signal)
    }
    if (users > 0) log.info({ users }, 'users without a recent payment are being erased')
    return true
  }

  /** Those whose user is not erased yet. */
  const named = async (latest: readonly LatestPayment[]): Promise<readonly LatestPayment[]> => {
    if (latest.length === 0) return []
    const users = await lists.usersOfIntents(latest.map(({ id }) => id))
    const kept = new Set(users.filter(({ user }) => !isIdOf('erasure', user)).map(({ id }) => id))
    return latest.filter(({ id }) => kept.has(id)).map(({ id, number }) => ({ id, number }))
  }

  /** Null while the books are read-only. */
  const expire = async (
    payments: readonly LatestPayment[],
    before: ReturnType<Clock['now']>,
  ): Promise<number | null> => {
    let users = 0
    for (let from = 0; from < payments.length; from += usersAtOnce) {
      await untilErased()
      if (stopped.signal.aborted) return users
      const begun = await begin(payments.slice(from, from + usersAtOnce), before)
      if (begun === null) return null
      users += begun
    }
    return users
  }

  const untilErased = async (): Promise<void> => {
    const isErasing = (): boolean =>
      [...memory.userErasures.values()].some(({ waiting }) => waiting === null)
    while (isErasing() && !stopped.signal.aborted) await systemPause(lookMs, stopped.signal)
  }

  const begin = (
    payments: readonly LatestPayment[],
    before: ReturnType<Clock['now']>,
  ): Promise<number | null> =>
    new Promise((resolve) => {
      const command = expireUsers(payments, before)
      pipeline.submit(
        internalWork(command, 'service', (given) =>
          resolve(given.ok ? (given.view as ExpiredUsers).users : null),
        ),
      )
    })

  return createDailyWork({
    ...{ clock, isSteady, isOn: keepDays > 0, run, stopped },
    onError: (error) => log.error({ error }, 'users without a recent payment cannot be erased'),
  })
}
