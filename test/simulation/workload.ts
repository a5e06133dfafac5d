/**
 * The random calls of partners, payers and operators.
 *
 * Owns: the requests and the choice of the next one. Does not own: the calls (calls), their timing
 * (simulation).
 *
 * - Few users, few amounts and reused keys cause conflicts.
 * - Invalid calls are made too; other tests check their error codes.
 */
import type { KeyId } from '../../src/base/ids.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { anIntent, aPayout, payeeOf } from '../support/requests.js'
import { ACCOUNTS, ENDINGS } from '../support/sandbox_outcomes.js'
import {
  sendRequest,
  cancel,
  confirm,
  read,
  reuseKeyOf,
  refund,
  remint,
  review,
  scan,
  settle,
  type SimulatedCall,
  type Accepted,
} from './calls.js'
import {
  decide,
  depositBy,
  OPERATORS,
  rotateKey,
  settleDiscrepancy,
  type OperatorDeposit,
  type SigningKeys,
} from './operators.js'
import { requestQuote, deposit, disable, save, convert } from './funds.js'
import { forgetLost, type RestoredBooks } from './restores/forget.js'
import type {
  AnyRecord,
  IntentRecord,
  FxQuote,
  PartnerMemory,
  PayoutRecord,
  RecordedAnswer,
  SavedBeneficiary,
} from './client_oracle.js'

export interface Workload extends PartnerMemory {
  next(): SimulatedCall
  /** A read by bearer token, of a recent entity. */
  nextRead(): SimulatedCall
  /** An operator resolves a payment that the rail never finishes. */
  settle(payoutId: string): SimulatedCall
  /** The books are an older copy. */
  restored(books: RestoredBooks): void
  /** What was lost and is not repeated yet. */
  readonly lost: readonly AnyRecord[]
  /** Repeats one of these. */
  repeatLost(): SimulatedCall
  readonly resolvedByOperator: ReadonlySet<string>
  readonly keys: SigningKeys
}

const USERS = [
  ...['user-1', 'user-2', `user-1${ENDINGS.refused}`, `user-2${ENDINGS.unknownPaid}`],
  `user-3${ENDINGS.slow}`,
]
const CORRIDORS = ['th_promptpay', 'vn_vietqr'] as const
const { usual, closed, returned, unknownPaid, unknownRefused, stuck } = ACCOUNTS
const PAYEES = [usual, usual, closed, returned, unknownPaid, unknownRefused, stuck]
const PAYOUT_AMOUNTS = ['125000', '125000', '12500000', '400000000'] as const
const REFERENCES = ['invoice', 'invoice', 'invoice', 'sandbox:review'] as const
const DEPOSIT_KEYS = 20
/** In US cents, by operators. */
const DEPOSITED = ['700', '60000', '150000'] as const
/** For intents, which are identified by their amounts. */
const FIRST_MARK = 1_000_000
const RECENT = 6
/** A request that the restored books refuse, as they lack its beneficiary, is given up. */
const REPEATED_MAX = 8

/** @param discrepancies the ids that the processor knows */
export function createWorkload(
  random: SeededRandom,
  firstKey: KeyId,
  discrepancies: () => readonly string[],
): Workload {
  const intents: IntentRecord[] = []
  const payouts: PayoutRecord[] = []
  const saved: SavedBeneficiary[] = []
  const quotes: FxQuote[] = []
  const deposits = new Map<string, RecordedAnswer>()
  const resolvedByOperator = new Set<string>()
  const operatorDeposits: OperatorDeposit[] = []
  const settled = new Set<string>()
  const keys: SigningKeys = { active: [firstKey], revoked: [] }
  const lost = new Map<AnyRecord, number>()

  const beginIntent = (): SimulatedCall => {
    const record = newIntent(random, intents.length + 1)
    intents.push(record)
    return sendRequest(record)
  }
  const beginPayout = (): SimulatedCall => {
    const to = saved.length > 0 && random.once(3) ? random.pick(saved.slice(-RECENT)) : null
    const record = newPayout(random, payouts.length + 1, to)
    payouts.push(record)
    return sendRequest(record)
  }
  /** A retry after a timeout or by mistake, sometimes with a different request. */
  const repeat = (): SimulatedCall => {
    const keyed = (record: AnyRecord): boolean => record.key !== null
    const recent = [...intents.filter(keyed).slice(-RECENT), ...payouts.slice(-RECENT)]
    if (recent.length === 0) return beginIntent()
    const record = random.pick<AnyRecord>(recent)
    return record.creation.answer !== null && random.once(4)
      ? reuseKeyOf(record)
      : sendRequest(record)
  }
  const depositFunds = (): SimulatedCall => {
    const key = `deposit ${random.int(DEPOSIT_KEYS)}`
    const made = deposits.get(key) ?? { answer: null }
    deposits.set(key, made)
    return deposit(key, made)
  }
  const saveAny = (): SimulatedCall => save(random.pick(PAYEES), saved)
  const disableAny = (): SimulatedCall => {
    if (saved.length === 0) return saveAny()
    return disable(random.pick(saved.slice(-RECENT)))
  }
  const requestAnyQuote = (): SimulatedCall => requestQuote(random, quotes)
  const convertAny = (): SimulatedCall => {
    if (quotes.length === 0) return requestAnyQuote()
    return convert(random.pick(quotes.slice(-RECENT)), random)
  }
  const depositByOperator = (): SimulatedCall => {
    const known = operatorDeposits.slice(-RECENT)
    if (known.length > 0 && random.once(2)) return depositBy(random.pick(known))
    const one: OperatorDeposit = {
      key: String(operatorDeposits.length + 1),
      amount: random.pick(DEPOSITED),
      by: random.pick(OPERATORS),
      ...{ made: { answer: null }, request: null, isApproved: false },
    }
    operatorDeposits.push(one)
    return depositBy(one)
  }
  const decideAny = (): SimulatedCall => {
    const asked = operatorDeposits.filter(({ request }) => request !== null).slice(-RECENT)
    return asked.length === 0 ? depositByOperator() : decide(random.pick(asked), random)
  }
  const settleAny = (): SimulatedCall => {
    const known = discrepancies()
    return known.length === 0
      ? depositByOperator()
      : settleDiscrepancy(random.pick(known.slice(-RECENT)), settled, random)
  }
  /** A call for an accepted request, mostly a recent one. */
  const forAccepted =
    <RequestRecord extends AnyRecord>(
      records: readonly RequestRecord[],
      make: (record: Accepted<RequestRecord>, random: SeededRandom) => SimulatedCall,
    ) =>
    (): SimulatedCall => {
      const known = records.filter((record) => isAccepted(record))
      if (known.length === 0) return beginIntent()
      return make(random.pick(random.once(5) ? known : known.slice(-RECENT)), random)
    }

  /** Mostly of a captured intent, which alone is recalled. */
  const refundAny = (): SimulatedCall => {
    const captured = intents.filter(({ status }) => status === 'captured')
    return forAccepted(captured.length > 0 && !random.once(4) ? captured : intents, refund)()
  }

  const toRepeat = (): AnyRecord[] =>
    [...lost].flatMap(([record, times]) => (isRepeated(record, times) ? [] : record))
  const repeatLost = (): SimulatedCall => {
    const record = random.pick(toRepeat())
    lost.set(record, lost.get(record)! + 1)
    return record.kind === 'intent' && isAccepted(record)
      ? confirm(record, random)
      : sendRequest(record)
  }

  const kinds: readonly (readonly [weight: number, make: () => SimulatedCall])[] = [
    [10, beginIntent],
    [10, beginPayout],
    [8, repeat],
    [16, forAccepted(intents, scan)],
    [16, forAccepted(intents, confirm)],
    [3, forAccepted(intents, cancel)],
    [3, forAccepted(intents, remint)],
    [6, refundAny],
    [4, forAccepted(intents, read)],
    [4, forAccepted(payouts, read)],
    [4, forAccepted(payouts, review)],
    [2, depositFunds],
    [3, saveAny],
    [1, disableAny],
    [2, requestAnyQuote],
    [4, convertAny],
    [2, depositByOperator],
    [3, decideAny],
    [3, settleAny],
    [3, () => rotateKey(keys, random)],
  ]
  const drawn = kinds.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))
  return {
    intents,
    payouts,
    saved,
    quotes,
    resolvedByOperator,
    keys,
    restored: (books) => {
      const deposited = deposits.values()
      const records = { intents, payouts, saved, quotes, keys, operatorDeposits }
      const forgotten = forgetLost({ ...records, deposits: deposited }, books)
      for (const record of forgotten) lost.set(record, 0)
      settled.clear()
    },
    get lost() {
      return toRepeat()
    },
    repeatLost,
    next: () => random.pick(drawn)(),
    nextRead: () => {
      const call = forAccepted(random.once(2) ? intents : payouts, read)()
      return call.isBearer === undefined ? call : { ...call, isBearer: true }
    },
    settle: (payoutId) => {
      resolvedByOperator.add(payoutId)
      return settle(payoutId, random)
    },
  }
}

const isAccepted = <RequestRecord extends AnyRecord>(
  record: RequestRecord,
): record is Accepted<RequestRecord> => record.id !== null

/** Its call is answered, or is not made again. */
function isRepeated(record: AnyRecord, times: number): boolean {
  if (times >= REPEATED_MAX) return true
  // Each request without a key is an intent of its own.
  if (record.creation.answer === null) return record.key === null && times > 0
  return record.kind === 'payout' || record.scanAgain === null || record.status !== 'created'
}

function newIntent(random: SeededRandom, number: number): IntentRecord {
  const key = random.once(5) ? null : `intent ${number}`
  const request = anIntent({
    partner_user_id: random.pick(USERS),
    amount_usd_cents: FIRST_MARK + number,
    corridor: random.pick(CORRIDORS),
    ...(key === null ? {} : { idempotency_key: key }),
  })
  const unanswered = { creation: { answer: null }, sent: 0, id: null, status: null, stored: null }
  const answers = { confirmation: { answer: null }, refund: { answer: null } }
  return {
    kind: 'intent',
    mark: String(FIRST_MARK + number),
    key,
    request,
    ...unanswered,
    ...answers,
    tokens: [],
    scanAgain: null,
  }
}

function newPayout(
  random: SeededRandom,
  number: number,
  to: SavedBeneficiary | null,
): PayoutRecord {
  const key = `payout ${number}`
  const { beneficiary: _, ...form } = aPayout()
  const request = {
    ...form,
    idempotency_key: key,
    amount: random.pick(PAYOUT_AMOUNTS),
    reference: random.pick(REFERENCES),
    description: key,
    ...(to === null ? { beneficiary: payeeOf(random.pick(PAYEES)) } : { beneficiary_id: to.id }),
  }
  const unanswered = { creation: { answer: null }, sent: 0, id: null, status: null, stored: null }
  return { kind: 'payout', mark: key, key, request, to, ...unanswered }
}
