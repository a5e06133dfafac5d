/**
 * The partner's own settings. The view is in processor/commands/partners/account_get.
 */
import { noContent, type OperationsOf } from './operation.js'
import { listOf, objectOf, orNull, ref, text, type Schema } from './schema.js'

const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })

export const ACCOUNT_ANSWERS: Readonly<Record<string, Schema>> = {
  Account: objectOf('What is configured for you in one environment.', {
    partner_id: text('Your id.'),
    environment: text('The environment of the request.', { enum: ['sandbox', 'production'] }),
    status: text('`suspended`: new work is a 403.', { enum: ['active', 'suspended'] }),
    created_at: ref('Timestamp'),
    terms: objectOf('Prices and payout destinations.', {
      quote_spread_bps: count('The spread of quotes and conversions, in basis points.'),
      payouts: listOf(ref('PayoutTerms'), 'One for each destination.'),
    }),
    limits: objectOf('Your limits.', {
      requests_per_second: count('Of a key.'),
      amount_usd_cents: ref('UsdCents', 'The highest ceiling of an intent.'),
      active_keys: count('The most active signing keys.'),
      webhook_endpoints: count('The most webhook endpoints.'),
    }),
    corridors: listOf(ref('CorridorTerms'), 'All corridors.'),
    keys: listOf(ref('SigningKey'), 'Newest first, without secrets.'),
    allowed_ips: listOf(
      { type: 'string' },
      'Source addresses of signed production requests. Any may send them if it is empty.',
    ),
    packages: listOf(
      { type: 'string' },
      'App packages of session requests. Any may send them if it is empty.',
    ),
    balance_alerts: listOf(
      objectOf('Below the threshold you get `balance.low`.', {
        currency: ref('Currency'),
        threshold: ref('MinorUnits'),
      }),
      'Your alerts.',
    ),
    webhook_endpoints: listOf(
      objectOf('Whether deliveries to one of your endpoints died.', {
        id: text('`we_…`', { pattern: '^we_' }),
        dead_deliveries: {
          type: ['integer', 'null'],
          minimum: 0,
          description: 'Without further attempts until you ask for them. `null`: not known yet.',
        },
        newest_dead_at: orNull(ref('Timestamp'), 'When the newest died. `null`: none.'),
      }),
      'All endpoints, oldest first.',
    ),
  }),
  PayoutTerms: objectOf('Terms of payouts to one destination.', {
    country: text('ISO 3166, two capital letters.', { pattern: '^[A-Z]{2}$' }),
    currency: ref('Currency'),
    fee_handling: text(
      '`on_top`: `total` is the amount plus the fee. `deducted`: the recipient gets the amount ' +
        'minus the fee.',
      { enum: ['on_top', 'deducted'] },
    ),
    platform_fixed: ref('MinorUnits', 'Fixed part of the platform fee.'),
    platform_bps: count('Proportional part of the platform fee, in basis points.'),
    rail_fixed: ref('MinorUnits', 'The rail fee.'),
    refund_fees_on_reversal: {
      type: 'boolean',
      description: 'Whether a reversed payout returns its fee.',
    },
    amount_min: orNull(ref('MinorUnits'), '`null`: no limit.'),
    amount_max: orNull(ref('MinorUnits'), '`null`: no limit.'),
  }),
  CorridorTerms: objectOf('A corridor and the limits of each of your users there.', {
    corridor: ref('Corridor'),
    enabled: { type: 'boolean', description: 'Whether you can create intents for it.' },
    currency: ref('Currency'),
    minimum: ref('MinorUnits', 'The smallest payment.'),
    user_limit_payment: ref('MinorUnits', 'One payment.'),
    user_limit_day: ref('MinorUnits', 'A calendar day, local time.'),
    user_limit_month: ref('MinorUnits', 'A calendar month, local time.'),
  }),
  SigningKey: objectOf('A signing key without its secret.', {
    key_id: text('Sent as `X-Service-Key-Id`.'),
    status: text('A revoked key never authenticates again.', { enum: ['active', 'revoked'] }),
    created_at: ref('Timestamp'),
    revoked_at: orNull(ref('Timestamp'), 'In the future: when it expires. `null`: not scheduled.'),
  }),
}

export const ACCOUNT: OperationsOf<'get_account'> = {
  get_account: {
    method: 'GET',
    path: '/v1/account',
    auth: 'hmac',
    content: noContent(() => ({})),
    success: 200,
    rpc: 'Accounts.Get',
    client: 'account',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Get your settings',
    description:
      'Returns what is configured for you in this environment: terms, limits, corridors, keys, ' +
      'source addresses, app packages and balance alerts. Secrets are never shown.',
    answer: 'Account',
    answerText: 'Your settings.',
    errors: [],
  },
}
