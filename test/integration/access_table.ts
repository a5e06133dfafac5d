/**
 * The properties of each route for the access tests. A route without an entry, and an entry without
 * a route, fail the tests.
 */
import type { AnyRoute, Route } from '../../gateway/routing/route.js'
import { ROUTES } from '../../gateway/app.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { anIntent, payoutBody } from '../support/requests.js'
import { SCAN, type Tenant, type Resource, type ResourceKind } from './access_tenants.js'

export interface Entry {
  /** The resource that the path names. */
  readonly resource?: ResourceKind
  /** A valid body. */
  readonly body?: (resource: Resource, tenant: Tenant) => unknown
  /** The status of the owner's request. */
  readonly success: number
  /** While the partner is suspended; a refusal is `partner_suspended`. */
  readonly suspended: 'refused' | 'allowed'
  /** A 400 in production. */
  readonly sandboxOnly?: true
}

const payout = payoutBody({ metadata: {} })
const { beneficiary } = payout
const { kyc_attestation, sanctions_attestation } = anIntent()
const deposit = { currency: 'THB', amount: '100' }
const url = 'https://shop.example/hook'
const sale = { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'THB' }

const newSession = ({ user }: Resource): object => ({
  partner_user_id: user,
  kyc_attestation,
  sanctions_attestation,
})

/** Creates the quote that it converts. */
async function conversion(_: Resource, { client }: Tenant): Promise<object> {
  const { body } = await client.request('POST', '/v1/fx/quotes', sale)
  return { quote_id: (body as { id: string }).id }
}

type Body = Entry['body']

const refused = (success: number, resource?: ResourceKind, body?: Body): Entry =>
  entry('refused', success, resource, body)
const allowed = (success: number, resource?: ResourceKind, body?: Body): Entry =>
  entry('allowed', success, resource, body)

function entry(
  suspended: Entry['suspended'],
  success: number,
  resource: ResourceKind | undefined,
  body: Body,
): Entry {
  return {
    success,
    suspended,
    ...(resource === undefined ? {} : { resource }),
    ...(body === undefined ? {} : { body }),
  }
}

const NONE = undefined
const INTENT = '/v1/payment_intents/{intent_id}'
const BENEFICIARY = '/v1/beneficiaries/{beneficiary_id}'
const ENDPOINT = '/v1/webhook_endpoints/{endpoint_id}'
const SINCE = '2026-11-21T00:00:00Z'

// prettier-ignore
const ENTRIES: Readonly<Record<string, Entry>> = {
  'POST /v1/payment_intents':           refused(201, NONE, () => anIntent()),
  'GET /v1/payment_intents':            allowed(200),
  [`GET ${INTENT}`]:                    allowed(200, 'created intent'),
  [`POST ${INTENT}/session`]:           refused(200, 'created intent', newSession),
  [`POST ${INTENT}/scan`]:              refused(200, 'created intent', () => SCAN),
  [`POST ${INTENT}/confirm`]:           refused(200, 'scanned intent'),
  [`POST ${INTENT}/cancel`]:            allowed(200, 'created intent'),
  [`POST ${INTENT}/refund`]:            allowed(202, 'captured intent'),
  [`POST ${INTENT}/receipt_token`]:     allowed(200, 'created intent'),
  [`GET ${INTENT}/receipt`]:            allowed(200, 'captured intent'),

  'POST /v1/beneficiaries':             refused(201, NONE, () => beneficiary),
  'GET /v1/beneficiaries':              allowed(200),
  [`GET ${BENEFICIARY}`]:               allowed(200, 'beneficiary'),
  [`POST ${BENEFICIARY}/disable`]:      allowed(200, 'beneficiary'),

  'POST /v1/payouts':                   refused(202, NONE, () => payout),
  'GET /v1/payouts':                    allowed(200),
  'GET /v1/payouts/{payout_id}':        allowed(200, 'open payout'),
  'POST /v1/payouts/{payout_id}/cancel': allowed(409, 'open payout'),
  'POST /v1/sandbox/payouts/{payout_id}/simulate': {
    ...allowed(202, 'open payout', () => ({ outcome: 'completed' })),
    sandboxOnly: true,
  },

  'GET /v1/account':                    allowed(200),
  'GET /v1/balances':                   allowed(200),
  'GET /v1/balance_transactions':       allowed(200),
  'POST /v1/funding/deposits':          refused(201, NONE, () => deposit),
  'POST /v1/fx/quotes':                 refused(201, NONE, () => sale),
  'POST /v1/fx/conversions':            refused(201, NONE, conversion),

  'POST /v1/webhook_endpoints':         allowed(201, NONE, () => ({ url })),
  'GET /v1/webhook_endpoints':          allowed(200),
  [`GET ${ENDPOINT}`]:                  allowed(200, 'webhook endpoint'),
  [`PATCH ${ENDPOINT}`]:                allowed(200, 'webhook endpoint', () => ({ url })),
  [`DELETE ${ENDPOINT}`]:               allowed(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/enable`]:          allowed(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/disable`]:         allowed(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/rotate_secret`]:   allowed(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/test`]:            allowed(202, 'webhook endpoint'),
  [`GET ${ENDPOINT}/deliveries`]:       allowed(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/recover`]:         allowed(202, 'webhook endpoint', () => ({ since: SINCE })),
  'GET /v1/events':                     allowed(200),
  'POST /v1/events/{event_id}/resend':  allowed(202, 'event'),
}

/** The error code of an unknown or foreign id, by path parameter. */
const NOT_FOUND: Readonly<Record<string, ErrorCode>> = {
  intent_id: 'payment_intent_not_found',
  payout_id: 'payout_not_found',
  beneficiary_id: 'beneficiary_not_found',
  endpoint_id: 'webhook_endpoint_not_found',
  event_id: 'event_not_found',
}

export interface Case extends Entry {
  readonly name: string
  readonly route: Route
  /** Empty where the path has no parameter. */
  readonly notFound: ErrorCode | ''
}

/** Every authenticated route with its entry. @throws when one of them is missing */
export function accessCases(): readonly Case[] {
  const authenticated = ROUTES.filter((route): route is Route => route.auth !== 'none')
  const names = new Set(authenticated.map(nameOf))
  const stale = Object.keys(ENTRIES).filter((name) => !names.has(name))
  if (stale.length > 0) throw new Error(`access_table has no route for: ${stale.join('; ')}`)
  return authenticated.map((route) => {
    const name = nameOf(route)
    const entry = ENTRIES[name]
    if (entry === undefined) {
      throw new Error(`${name} needs an entry in test/integration/access_table.ts`)
    }
    const [, parameter] = /\{([a-z_]+)\}/.exec(route.path) ?? []
    const notFound = parameter === undefined ? '' : NOT_FOUND[parameter]
    if (notFound === undefined) throw new Error(`access_table has no 404 code for ${parameter}`)
    if ((parameter === undefined) !== (entry.resource === undefined)) {
      throw new Error(`access_table: the resource of ${name} does not match its path`)
    }
    return { ...entry, name, route, notFound }
  })
}

const nameOf = ({ method, path }: AnyRoute): string => `${method} ${path}`

export const pathOf = ({ route }: Case, id: string): string => route.path.replace(/\{[a-z_]+\}/, id)
