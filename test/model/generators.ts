/** Generators of every operation on intents, with their frequencies. */
import fc from 'fast-check'
import { callers, generate, keys, onIntent, seldom, tokenOf, type Generated } from './generator.js'
import type { CorridorName } from './contract_rules.js'
import type { ModelIntent } from './model.js'
import {
  cancel,
  confirm,
  create,
  get,
  mintReceipt,
  rate,
  receipt,
  refund,
  remint,
  timer,
} from './operations.js'
import { reporting } from './report_generators.js'
import { scanning } from './scan_generators.js'
import { USERS } from './tenant.js'

const isScanned = ({ state, quotes }: ModelIntent): boolean =>
  state === 'created' && quotes.length > 0
const isPaid = ({ state }: ModelIntent): boolean => state === 'captured'

const corridors = fc.constantFrom<CorridorName>('th_promptpay', 'vn_vietqr')

const creating = generate(
  'create',
  fc.record({
    user: fc.constantFrom(...USERS),
    cents: fc.constantFrom(1, 1_000, 5_000, 1_000_000, 100_000_000),
    corridor: corridors,
    unverified: seldom(20),
    unclean: seldom(20),
    key: keys,
  }),
  ({ unverified, unclean, ...request }) =>
    create({ ...request, verified: !unverified, clean: !unclean }),
)

/** Repeats a create with a used key, with or without a change. */
const repeating = generate(
  'repeat',
  fc.record({ key: fc.constantFrom('a', 'b'), changed: seldom(3) }),
  ({ key, changed }, model) => {
    const bound = model.createKeys.get(key)
    if (bound === undefined) return null
    const { user, cents, corridor } = bound.intent
    const request = { user, corridor, cents: changed ? 777 : cents, verified: true, clean: true }
    return create({ ...request, key })
  },
)

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
    const index = quote === 'bound' || quote === 'version' ? -1 : -2
    const named = intent.quotes.at(index) ?? null
    const byVersion = quote === 'version' || quote === 'previousVersion'
    return confirm({
      by,
      intent,
      jti: tokenOf(intent, token),
      key,
      quoteId: quote === 'none' || byVersion ? null : named,
      quoteVersion: byVersion ? (named?.version ?? 0) : null,
    })
  },
  isScanned,
)

const userOf = ({ user }: ModelIntent, other: boolean): string => (other ? 'another user' : user)

const reminting = onIntent(
  'remint',
  fc.record({ by: callers, other: seldom(9), unverified: seldom(20), unclean: seldom(20) }),
  ({ by, other, unverified, unclean }, intent) =>
    remint({ by, intent, user: userOf(intent, other), verified: !unverified, clean: !unclean }),
)

const refunding = onIntent(
  'refund',
  fc.record({ by: callers, key: keys }),
  ({ by, key }, intent) => refund({ by, intent, key }),
  isPaid,
)

const SIMPLE = { get, cancel, mintReceipt }
const simple = (kind: keyof typeof SIMPLE): fc.Arbitrary<Generated> =>
  onIntent(kind, fc.record({ by: callers }), ({ by }, intent) => SIMPLE[kind]({ by, intent }))

const reopening = onIntent(
  'receipt',
  fc.record({ by: callers, other: seldom(5) }),
  ({ by, other }, intent) => receipt({ by, intent, user: userOf(intent, other) }),
)

const timing = onIntent('timer', fc.record({}), (_, intent) => timer(intent))

const rating = generate(
  'rate',
  fc.constantFrom(
    { currency: 'THB' as const, rate: '36.00' },
    { currency: 'THB' as const, rate: '35.123457' },
    { currency: 'THB' as const, rate: '0.01' },
    { currency: 'VND' as const, rate: '26500' },
    { currency: 'VND' as const, rate: '25999.7' },
  ),
  (given) => rate(given.currency, given.rate),
)

export const generators: fc.Arbitrary<Generated> = fc.oneof(
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
  { weight: 2, arbitrary: timing },
  { weight: 1, arbitrary: rating },
  { weight: 6, arbitrary: reporting },
)
