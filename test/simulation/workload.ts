/**
 * The random calls of partners, payers and operators.
 *
 * Owns: the requests and the choice of the next one. Does not own: the calls (calls), their timing
 * (simulation).
 *
 * - Few users, few amounts and reused keys make calls conflict.
 * - Invalid calls are made too; other tests check their error codes.
 */
import type { Instant } from '../../src/base/clock.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { anIntent, aPayout } from '../support/requests.js'
import {
  askFor,
  cancel,
  confirm,
  look,
  misuseKeyOf,
  refund,
  remint,
  review,
  scan,
  settle,
  type Call,
  type Known,
} from './calls.js'
import { ask, deposit, disable, save, take } from './funds.js'
import type {
  AnyWish,
  IntentWish,
  Offer,
  PartnerMemory,
  PayoutWish,
  Remembered,
  Saved,
} from './client_oracle.js'

export interface Workload extends PartnerMemory {
  next(now: Instant): Call
  /** An operator resolves a payment that the rail never finishes. */
  settle(payoutId: string): Call
  readonly settledByHand: ReadonlySet<string>
}

const USERS = ['user-1', 'user-2', 'user-1+fail', 'user-2+unknown', 'user-3+slow'] as const
const CORRIDORS = ['th_promptpay', 'vn_vietqr'] as const
const ACCOUNTS = ['0123456789', '0123456789', ...[1, 5, 6, 7, 8].map((n) => `999000000${n}`)]
const PAYOUT_AMOUNTS = ['125000', '125000', '12500000', '400000000'] as const
const REFERENCES = ['invoice', 'invoice', 'invoice', 'sandbox:review'] as const
const DEPOSIT_KEYS = 20
/** For intents, which are identified by their amounts. */
const FIRST_MARK = 1_000_000
const RECENT = 6

export function createWorkload(random: SeededRandom): Workload {
  const intents: IntentWish[] = []
  const payouts: PayoutWish[] = []
  const saved: Saved[] = []
  const offers: Offer[] = []
  const deposits = new Map<string, Remembered>()
  const settledByHand = new Set<string>()

  const beginIntent = (): Call => {
    const wish = newIntent(random, intents.length + 1)
    intents.push(wish)
    return askFor(wish)
  }
  const beginPayout = (): Call => {
    const to = saved.length > 0 && random.once(3) ? random.pick(saved.slice(-RECENT)) : null
    const wish = newPayout(random, payouts.length + 1, to)
    payouts.push(wish)
    return askFor(wish)
  }
  /** A retry after a timeout or by mistake, sometimes with a different request. */
  const repeat = (): Call => {
    const keyed = (wish: AnyWish): boolean => wish.key !== null
    const recent = [...intents.filter(keyed).slice(-RECENT), ...payouts.slice(-RECENT)]
    if (recent.length === 0) return beginIntent()
    const wish = random.pick<AnyWish>(recent)
    return wish.creation.answer !== null && random.once(4) ? misuseKeyOf(wish) : askFor(wish)
  }
  const putMoneyIn = (): Call => {
    const key = `deposit ${random.int(DEPOSIT_KEYS)}`
    const made = deposits.get(key) ?? { answer: null }
    deposits.set(key, made)
    return deposit(key, made)
  }
  const saveOne = (): Call => save(random.pick(ACCOUNTS), saved)
  const disableOne = (): Call => {
    if (saved.length === 0) return saveOne()
    return disable(random.pick(saved.slice(-RECENT)))
  }
  const askForRate = (): Call => ask(random, offers)
  const takeOne = (): Call => {
    if (offers.length === 0) return askForRate()
    return take(random.pick(offers.slice(-RECENT)), random)
  }
  /** About an accepted request, mostly a recent one. */
  const about =
    <Wish extends AnyWish>(
      wishes: readonly Wish[],
      make: (wish: Known<Wish>, random: SeededRandom, now: Instant) => Call,
    ) =>
    (now: Instant): Call => {
      const known = wishes.filter((wish): wish is Known<Wish> => wish.id !== null)
      if (known.length === 0) return beginIntent()
      return make(random.pick(random.once(5) ? known : known.slice(-RECENT)), random, now)
    }

  const kinds: readonly (readonly [weight: number, make: (now: Instant) => Call])[] = [
    [10, beginIntent],
    [10, beginPayout],
    [8, repeat],
    [16, about(intents, scan)],
    [16, about(intents, confirm)],
    [3, about(intents, cancel)],
    [3, about(intents, remint)],
    [6, about(intents, refund)],
    [4, about(intents, look)],
    [4, about(payouts, look)],
    [4, about(payouts, review)],
    [2, putMoneyIn],
    [3, saveOne],
    [1, disableOne],
    [2, askForRate],
    [4, takeOne],
  ]
  const drawn = kinds.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))
  return {
    intents,
    payouts,
    saved,
    offers,
    settledByHand,
    next: (now) => random.pick(drawn)(now),
    settle: (payoutId) => {
      settledByHand.add(payoutId)
      return settle(payoutId, random)
    },
  }
}

function newIntent(random: SeededRandom, number: number): IntentWish {
  const key = random.once(5) ? null : `intent ${number}`
  const request = anIntent({
    partner_user_id: random.pick(USERS),
    amount_usd_cents: FIRST_MARK + number,
    corridor: random.pick(CORRIDORS),
    ...(key === null ? {} : { idempotency_key: key }),
  })
  const unheard = { creation: { answer: null }, asked: 0, id: null, status: null }
  const later = { tokens: [], confirmation: { answer: null }, refund: { answer: null } }
  return { kind: 'intent', mark: String(FIRST_MARK + number), key, request, ...unheard, ...later }
}

function newPayout(random: SeededRandom, number: number, to: Saved | null): PayoutWish {
  const key = `payout ${number}`
  const { beneficiary: inline, ...form } = aPayout()
  const request = {
    ...form,
    idempotency_key: key,
    amount: random.pick(PAYOUT_AMOUNTS),
    reference: random.pick(REFERENCES),
    description: key,
    ...(to === null
      ? { beneficiary: { ...inline!, account_number: random.pick(ACCOUNTS) } }
      : { beneficiary_id: to.id }),
  }
  const unheard = { creation: { answer: null }, asked: 0, id: null, status: null }
  return { kind: 'payout', mark: key, key, request, to, ...unheard }
}
