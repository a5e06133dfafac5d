/**
 * What fast-check draws, and the operation a draw means in the state it meets.
 *
 * Owns: the draws. A draw names its intent by its age and its amount by its meaning ("what is left
 * of the day"), so that it hits the edges whatever came before, and still means something while
 * fast-check takes commands away to shrink.
 */
import fc from 'fast-check'
import { CORRIDOR_FACTS, dearestFor, type CorridorName } from './facts.js'
import { BAD_CODES, MERCHANT_CODES, type MerchantCode } from './merchant_codes.js'
import { usedIn, type Model, type ModelIntent } from './model.js'
import type { Caller, Execution, NewsStatus, Operation } from './operations.js'
import { USERS } from './tenant.js'

export interface Draw {
  /** Null: it means nothing in this state. */
  resolve(model: Model): Operation | null
  toString(): string
}

function draw<Values extends object>(
  kind: string,
  values: fc.Arbitrary<Values>,
  resolve: (values: Values, model: Model) => Operation | null,
): fc.Arbitrary<Draw> {
  return values.map((drawn) => ({
    resolve: (model) => resolve(drawn, model),
    toString: () => `${kind} ${fc.stringify(drawn)}`,
  }))
}

/** Of the youngest intents; 0 is the last one. */
export const pick = fc.nat(2)
export const picked = (
  { intents }: { readonly intents: readonly ModelIntent[] },
  age: number,
): ModelIntent | undefined => intents.at(-1 - (age % Math.max(intents.length, 1)))

/** Not at an end of the range: fast-check likes ends. */
const seldom = (times: number): fc.Arbitrary<boolean> =>
  fc.nat(times).map((drawn) => drawn === Math.ceil(times / 2))
const callers: fc.Arbitrary<Caller> = seldom(30).map((is) => (is ? 'stranger' : 'owner'))
const keys = fc.option(fc.constantFrom('a', 'b'), { nil: null })

/** An operation on an intent that there is: mostly on one where it is likely to do something. */
function onIntent<Values extends object>(
  kind: string,
  values: fc.Arbitrary<Values>,
  resolve: (values: Values, intent: ModelIntent, model: Model) => Operation | null,
  isLikely: (intent: ModelIntent) => boolean = () => true,
): fc.Arbitrary<Draw> {
  const all = fc.record({ age: pick, blind: seldom(4), values })
  return draw(kind, all, ({ age, blind, values }, model) => {
    const likely = blind ? [] : model.intents.filter(isLikely)
    const intent = picked(likely.length > 0 ? { intents: likely } : model, age)
    return intent === undefined ? null : resolve(values, intent, model)
  })
}

const isScanned = ({ state, quotes }: ModelIntent): boolean =>
  state === 'created' && quotes.length > 0
const isPaid = ({ state }: ModelIntent): boolean => state === 'captured'
const isOut = ({ state }: ModelIntent): boolean => state === 'authorized' || state === 'captured'

const corridors = fc.constantFrom<CorridorName>('th_promptpay', 'vn_vietqr')

const creating = draw(
  'create',
  fc.record({
    user: fc.constantFrom(...USERS),
    cents: fc.constantFrom(1, 1_000, 5_000, 1_000_000, 100_000_000),
    corridor: corridors,
    unverified: seldom(20),
    unclean: seldom(20),
    key: keys,
  }),
  ({ unverified, unclean, ...request }) => ({
    ...request,
    kind: 'create',
    verified: !unverified,
    clean: !unclean,
  }),
)

/** Repeats a create whose key is bound, with or without a change. */
const repeating = draw(
  'repeat',
  fc.record({ key: fc.constantFrom('a', 'b'), changed: seldom(3) }),
  ({ key, changed }, model) => {
    const bound = model.createKeys.get(key)
    if (bound === undefined) return null
    const { user, cents, corridor } = bound.intent
    const request = { user, corridor, cents: changed ? 777 : cents, verified: true, clean: true }
    return { kind: 'create', ...request, key }
  },
)

const CODES: Readonly<Record<CorridorName, readonly MerchantCode[]>> = {
  th_promptpay: Object.values(MERCHANT_CODES).filter((c) => c.corridor === 'th_promptpay'),
  vn_vietqr: Object.values(MERCHANT_CODES).filter((c) => c.corridor === 'vn_vietqr'),
}
const BAD = Object.keys(BAD_CODES)

const codes = fc.oneof(
  { weight: 12, arbitrary: fc.record({ of: fc.constant('corridor' as const), n: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ of: fc.constant('other' as const), n: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ of: fc.constant('none' as const), n: fc.nat(9) }) },
)

function codeFor(
  { of, n }: { readonly of: 'corridor' | 'other' | 'none'; readonly n: number },
  corridor: CorridorName,
): MerchantCode | string {
  if (of === 'none') return BAD[n % BAD.length]!
  const isThai = (corridor === 'th_promptpay') === (of === 'corridor')
  const list = CODES[isThai ? 'th_promptpay' : 'vn_vietqr']
  return list[n % list.length]!
}

const AMOUNTS = [
  'usual',
  'fitting',
  'absent',
  'zero',
  'negative',
  'minimum',
  'transaction',
  'day',
  'month',
  'ceiling',
  'prefund',
] as const
type Meaning = (typeof AMOUNTS)[number]

const amounts = fc.record({
  meaning: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Meaning>('fitting') },
    { weight: 2, arbitrary: fc.constantFrom(...AMOUNTS) },
  ),
  over: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0n) },
    { weight: 1, arbitrary: fc.constantFrom(-1n, 1n) },
  ),
})

const USUAL: Readonly<Record<CorridorName, bigint>> = { th_promptpay: 36_000n, vn_vietqr: 100_000n }

/** The client's amount: the largest that something allows, and one more or less. */
function amountFor(
  { meaning, over }: { readonly meaning: Meaning; readonly over: bigint },
  intent: ModelIntent,
  code: MerchantCode | string,
  model: Model,
): string | null {
  if (meaning === 'absent') return null
  if (meaning === 'zero') return '0'
  if (meaning === 'negative') return '-36000'
  const isAsked = typeof code === 'string' || code.amount === null
  if (meaning === 'fitting' && !isAsked) return null
  const facts = CORRIDOR_FACTS[intent.corridor]
  const rate = model.rates[facts.currency]
  const [day, month] = usedIn(model, intent, model.now)
  const most: Readonly<Record<Exclude<Meaning, 'absent' | 'zero' | 'negative'>, bigint>> = {
    usual: USUAL[intent.corridor],
    fitting: USUAL[intent.corridor],
    minimum: facts.minimum,
    transaction: facts.perTransaction,
    day: facts.perDay - day,
    month: facts.perMonth - month,
    ceiling: dearestFor(intent.cents, facts, rate),
    prefund: dearestFor(Number(model.prefund), facts, rate),
  }
  const amount = meaning === 'fitting' ? most.fitting : most[meaning] + over
  return amount.toString()
}

const scanning = onIntent(
  'scan',
  fc.record({
    by: callers,
    token: fc.nat(2),
    code: codes,
    amount: amounts,
    acknowledged: seldom(2),
  }),
  ({ by, token, code: drawn, amount: meant, acknowledged }, intent, model) => {
    const code = codeFor(drawn, intent.corridor)
    const amount = amountFor(meant, intent, code, model)
    return { kind: 'scan', by, intent, jti: tokenOf(intent, token), code, amount, acknowledged }
  },
)

const tokenOf = ({ jtis }: ModelIntent, token: number): string => jtis[token % jtis.length] ?? ''

const QUOTES = ['none', 'none', 'none', 'bound', 'version', 'previous', 'previousVersion'] as const

const confirming = onIntent(
  'confirm',
  fc.record({
    by: callers,
    token: fc.nat(2),
    key: keys,
    quote: fc.constantFrom(...QUOTES),
  }),
  ({ by, token, key, quote }, intent) => {
    const place = quote === 'bound' || quote === 'version' ? -1 : -2
    const named = intent.quotes.at(place) ?? null
    const byVersion = quote === 'version' || quote === 'previousVersion'
    return {
      kind: 'confirm',
      by,
      intent,
      jti: tokenOf(intent, token),
      key,
      quoteId: quote === 'none' || byVersion ? null : named,
      quoteVersion: byVersion ? (named?.version ?? 0) : null,
    }
  },
  isScanned,
)

const reminting = onIntent(
  'remint',
  fc.record({ by: callers, other: seldom(9), unverified: seldom(20), unclean: seldom(20) }),
  ({ by, other, unverified, unclean }, intent) => ({
    kind: 'remint',
    by,
    intent,
    user: other ? 'somebody' : intent.user,
    verified: !unverified,
    clean: !unclean,
  }),
)

const refunding = onIntent(
  'refund',
  fc.record({ by: callers, key: keys }),
  ({ by, key }, intent) => ({ kind: 'refund', by, intent, key }),
  isPaid,
)

const simple = (kind: 'get' | 'cancel' | 'mintReceipt'): fc.Arbitrary<Draw> =>
  onIntent(kind, fc.record({ by: callers }), ({ by }, intent) => ({ kind, by, intent }))

const reopening = onIntent(
  'receipt',
  fc.record({ by: callers, other: seldom(5) }),
  ({ by, other }, intent) => ({
    kind: 'receipt',
    by,
    intent,
    user: other ? 'somebody' : intent.user,
  }),
)

const waking = onIntent('wake', fc.record({}), (_, intent) => ({ kind: 'wake', intent }))

const rating = draw(
  'rate',
  fc.constantFrom(
    { currency: 'THB' as const, rate: '36.00' },
    { currency: 'THB' as const, rate: '35.123457' },
    { currency: 'THB' as const, rate: '0.01' },
    { currency: 'VND' as const, rate: '26500' },
    { currency: 'VND' as const, rate: '25999.7' },
  ),
  (rate) => ({ kind: 'rate', ...rate }),
)

const STATUSES = ['executed', 'refused', 'returned', 'not_found', 'recall_refused'] as const
const statuses: fc.Arbitrary<NewsStatus> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('executed') },
  { weight: 5, arbitrary: fc.constantFrom(...STATUSES, 'accepted') },
)

const hearing = onIntent(
  'news',
  fc.record({
    status: statuses,
    differs: fc.oneof(
      { weight: 6, arbitrary: fc.constant('nothing' as const) },
      { weight: 1, arbitrary: fc.constantFrom('amount', 'currency', 'account') },
    ),
    refusal: fc.constantFrom(
      'account_closed',
      'account_not_found',
      'name_mismatch',
      'expired',
      'rejected',
    ),
    transactionId: fc.constantFrom('TX1', 'TX1', 'TX1', 'TX2'),
    reportId: fc.option(fc.constantFrom('one', 'two'), { nil: null }),
    nobody: seldom(40),
  }),
  ({ nobody, status, differs, transactionId, ...news }, picked) => {
    const intent = nobody ? null : picked
    if (!canBeNews(intent, status)) return null
    const execution = executionOf(picked, transactionId, differs)
    return { kind: 'news', intent, status, execution, ...news }
  },
  isOut,
)

/** As instructed, but for what differs. */
function executionOf(
  { quotes, corridor }: ModelIntent,
  transactionId: string,
  differs: 'nothing' | 'amount' | 'currency' | 'account' = 'nothing',
): Execution {
  const quote = quotes.at(-1)
  const { currency } = CORRIDOR_FACTS[corridor]
  return {
    transactionId,
    amount: (quote?.minor ?? 1n) + (differs === 'amount' ? 1n : 0n),
    currency: differs === 'currency' ? 'USD' : currency,
    account: differs === 'account' ? '1' : (quote?.code.account ?? ''),
  }
}

/** A rail has nothing to tell of the fate of an instruction that it was not given. */
const canBeNews = (intent: ModelIntent | null, status: NewsStatus): boolean =>
  intent?.state !== 'authorized' ||
  intent.handedOverAt !== null ||
  status === 'not_found' ||
  status === 'accepted'

export const draws: fc.Arbitrary<Draw> = fc.oneof(
  { weight: 3, arbitrary: creating },
  { weight: 1, arbitrary: repeating },
  { weight: 6, arbitrary: scanning },
  { weight: 6, arbitrary: confirming },
  { weight: 2, arbitrary: simple('cancel') },
  { weight: 2, arbitrary: reminting },
  { weight: 2, arbitrary: refunding },
  { weight: 1, arbitrary: simple('get') },
  { weight: 1, arbitrary: simple('mintReceipt') },
  { weight: 1, arbitrary: reopening },
  { weight: 2, arbitrary: waking },
  { weight: 1, arbitrary: rating },
  { weight: 6, arbitrary: hearing },
)

/** A payment that nothing of its own refuses. */
export const payments = fc.record({
  user: fc.constantFrom(...USERS),
  corridor: corridors,
  code: fc.record({ of: fc.constant('corridor' as const), n: fc.nat(3) }),
  amount: amounts,
  acknowledged: fc.boolean(),
  outcome: fc.constantFrom('unknown', 'executed', 'executed', 'refused'),
})
export type Payment = typeof payments extends fc.Arbitrary<infer Drawn> ? Drawn : never

export const createOf = (
  { user, corridor }: Pick<ModelIntent, 'user' | 'corridor'>,
  cents = 100_000_000,
): Operation => ({
  kind: 'create',
  user,
  corridor,
  cents,
  verified: true,
  clean: true,
  key: null,
})

export function scanOf(payment: Payment, intent: ModelIntent, model: Model): Operation {
  const code = codeFor(payment.code, intent.corridor)
  return {
    kind: 'scan',
    by: 'owner',
    intent,
    jti: tokenOf(intent, 0),
    code,
    amount: amountFor(payment.amount, intent, code, model),
    acknowledged: payment.acknowledged,
  }
}

/** The same code for the same amount once more, as by a payer who is not sure that it worked. */
export function scanAgain(paid: ModelIntent, intent: ModelIntent): Operation {
  const { code, minor } = paid.quotes.at(-1)!
  const jti = tokenOf(intent, 0)
  const amount = minor.toString()
  return { kind: 'scan', by: 'owner', intent, jti, code, amount, acknowledged: false }
}

export const newsOf = (
  intent: ModelIntent,
  status: 'executed' | 'refused' | 'returned',
  reportId: string,
): Operation => ({
  kind: 'news',
  intent,
  status,
  execution: executionOf(intent, intent.transactionId ?? 'TX1'),
  refusal: 'rejected',
  reportId,
})

export const confirmOf = (intent: ModelIntent): Operation => ({
  kind: 'confirm',
  by: 'owner',
  intent,
  jti: tokenOf(intent, 0),
  key: null,
  quoteId: null,
  quoteVersion: null,
})
