/**
 * What a partner has paid in the last days: payments and payouts by state, with their amounts; and
 * its calls of the last 24 hours, which are counted elsewhere.
 *
 * - Of each kind the newest USAGE_MAX are counted, so the cost does not grow with the books; a
 *   longer list says from when on it is counted.
 */
import { DAY, plus, toRfc3339, type Clock } from '../../base/clock.js'
import { invalid } from '../../base/errors.js'
import { AFTER_ALL_IDS, instantOf, leastIdAt, type IdKind, type TenantId } from '../../base/ids.js'
import type { CallUsage } from '../../../protos/types/causeway/operator/v1/CallUsage.js'
import type { UsageKind, UsageRange } from '../../store/usage.js'
import { answer, type Answer } from '../cycle/answer.js'
import type { Query, QueryContext } from './query.js'

const DAYS_DEFAULT = 30
const DAYS_MAX = 366
const INVALID_DAYS: Answer = invalid('query/days', `must be 1 to ${DAYS_MAX}`)
const USAGE_MAX = 10_000
/** Rows of one read: some milliseconds of the read connection. */
const READ_MAX = 1_000

const KINDS: readonly (readonly [UsageKind, IdKind, entity: string])[] = [
  ['intents', 'intent', 'payment_intent'],
  ['payouts', 'payout', 'payout'],
]

export interface UsageOptions {
  readonly days?: number | undefined
  /** What is read in this time is counted, and at least one read. Default: all. */
  readonly withinMs?: number | undefined
  /** The newest payments of each kind. */
  readonly max?: number | undefined
}

/** @param calls of the last 24 hours */
export function showUsage(
  tenant: TenantId,
  { days: asked = DAYS_DEFAULT, withinMs = Infinity, max = USAGE_MAX }: UsageOptions,
  clock: Clock,
  calls: CallUsage,
): Query {
  return {
    name: 'show_usage',
    queueKey: 'internal',
    run: async ({ lists }) => {
      if (asked < 1 || asked > DAYS_MAX) return INVALID_DAYS
      const since = plus(clock.now(), -asked * DAY)
      const kinds = []
      for (const [kind, id, entity] of KINDS) {
        const until = clock.now() + withinMs / KINDS.length
        const isLate = (): boolean => clock.now() >= until
        const from = leastIdAt(id, since)
        const { lines, end } = await counted(lists, kind, { tenant, from }, { max, isLate })
        kinds.push({
          entity,
          lines,
          ...(end === undefined ? {} : { counted_from: toRfc3339(instantOf(end)) }),
        })
      }
      return answer({ from: toRfc3339(since), kinds, calls })
    },
  }
}

interface Line {
  readonly state: string
  readonly currency: string
  readonly count: number
  readonly amount: string
}

/** @returns `end`: the oldest that is counted, when there are more */
async function counted(
  lists: QueryContext['lists'],
  kind: UsageKind,
  range: Omit<UsageRange, 'below'>,
  { max, isLate }: { readonly max: number; readonly isLate: () => boolean },
): Promise<{ readonly lines: readonly Line[]; readonly end: string | undefined }> {
  const sums = new Map<string, Line>()
  let below = AFTER_ALL_IDS
  let left = max
  let isDone = false
  while (left > 0 && !isDone) {
    const found = await lists.usage(kind, { ...range, below }, Math.min(left, READ_MAX))
    for (const { id, state, currency, count, amount } of found) {
      const key = `${state} ${currency}`
      const known = sums.get(key) ?? { count: 0, amount: '0' }
      sums.set(key, {
        ...{ state, currency, count: known.count + count },
        amount: (BigInt(known.amount) + BigInt(amount)).toString(),
      })
      if (id < below) below = id
      left -= count
    }
    isDone = found.length === 0 || isLate()
  }
  const isCut = (await lists.usage(kind, { ...range, below }, 1)).length > 0
  const order = ({ currency, state }: Line): string => `${currency} ${state}`
  return {
    lines: [...sums.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    end: isCut ? below : undefined,
  }
}
