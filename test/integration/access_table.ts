/**
 * The properties of each route for the access tests.
 *
 * Owns: one entry a route: what its path names, a body that it takes, how it answers its owner, and
 * what becomes of it while the partner is suspended.
 *
 * A route without an entry, and an entry without a route, fails the tests with its name.
 */
import type { AnyRoute, Route } from '../../gateway/routing/route.js'
import { ROUTES } from '../../gateway/app.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { anIntent, aPayout } from '../support/requests.js'
import { SCAN, type Party, type Subject, type SubjectKind } from './access_parties.js'

export interface Entry {
  /** What the path's parameter names. Left out: the path has none. */
  readonly subject?: SubjectKind
  /** A body that the route takes; left out: none. */
  readonly body?: (subject: Subject, party: Party) => unknown
  /** What the owner is answered. */
  readonly success: number
  /** New business is refused as `partner_suspended`; what is under way, and reading, goes on. */
  readonly suspended: 'refused' | 'goes on'
  /** In production it is a 400, whatever it names. */
  readonly sandboxOnly?: true
}

const { beneficiary, amount, currency, reference, metadata } = aPayout({ amount: '125000' })
const payout = { amount, currency, reference, metadata, beneficiary }
const { kyc_attestation, sanctions_attestation } = anIntent()
const deposit = { currency: 'THB', amount: '100' }
const url = 'https://shop.example/hook'
const sale = { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'THB' }

const remint = ({ user }: Subject): object => ({
  partner_user_id: user,
  kyc_attestation,
  sanctions_attestation,
})

/** Of a quote that was taken for it just before. */
async function conversion(_: Subject, { client }: Party): Promise<object> {
  const { body } = await client.request('POST', '/v1/fx/quotes', sale)
  return { quote_id: (body as { id: string }).id }
}

type Body = Entry['body']

/** Each: what the owner is answered, what the path names, and a body. */
const refused = (success: number, subject?: SubjectKind, body?: Body): Entry =>
  entry('refused', success, subject, body)
const goesOn = (success: number, subject?: SubjectKind, body?: Body): Entry =>
  entry('goes on', success, subject, body)

function entry(
  suspended: Entry['suspended'],
  success: number,
  subject: SubjectKind | undefined,
  body: Body,
): Entry {
  return {
    success,
    suspended,
    ...(subject === undefined ? {} : { subject }),
    ...(body === undefined ? {} : { body }),
  }
}

const NONE = undefined
const INTENT = '/v1/payment_intents/{intent_id}'
const BENEFICIARY = '/v1/beneficiaries/{beneficiary_id}'
const ENDPOINT = '/v1/webhook_endpoints/{endpoint_id}'
const MOMENT = '2026-11-21T00:00:00Z'

// prettier-ignore
const ENTRIES: Readonly<Record<string, Entry>> = {
  'POST /v1/payment_intents':           refused(201, NONE, () => anIntent()),
  'GET /v1/payment_intents':            goesOn(200),
  [`GET ${INTENT}`]:                    goesOn(200, 'created intent'),
  [`POST ${INTENT}/session`]:           refused(200, 'created intent', remint),
  [`POST ${INTENT}/scan`]:              refused(200, 'created intent', () => SCAN),
  [`POST ${INTENT}/confirm`]:           refused(200, 'scanned intent'),
  [`POST ${INTENT}/cancel`]:            goesOn(200, 'created intent'),
  [`POST ${INTENT}/refund`]:            goesOn(202, 'captured intent'),
  [`POST ${INTENT}/receipt_token`]:     goesOn(200, 'created intent'),
  [`GET ${INTENT}/receipt`]:            goesOn(200, 'captured intent'),

  'POST /v1/beneficiaries':             refused(201, NONE, () => beneficiary),
  'GET /v1/beneficiaries':              goesOn(200),
  [`GET ${BENEFICIARY}`]:               goesOn(200, 'beneficiary'),
  [`POST ${BENEFICIARY}/disable`]:      goesOn(200, 'beneficiary'),

  'POST /v1/payouts':                   refused(202, NONE, () => payout),
  'GET /v1/payouts':                    goesOn(200),
  'GET /v1/payouts/{payout_id}':        goesOn(200, 'open payout'),
  'POST /v1/payouts/{payout_id}/cancel': goesOn(409, 'open payout'),
  'POST /v1/sandbox/payouts/{payout_id}/simulate': {
    ...goesOn(202, 'open payout', () => ({ outcome: 'completed' })),
    sandboxOnly: true,
  },

  'GET /v1/account':                    goesOn(200),
  'GET /v1/balances':                   goesOn(200),
  'GET /v1/balance_transactions':       goesOn(200),
  'POST /v1/funding/deposits':          refused(201, NONE, () => deposit),
  'POST /v1/fx/quotes':                 refused(201, NONE, () => sale),
  'POST /v1/fx/conversions':            refused(201, NONE, conversion),

  'POST /v1/webhook_endpoints':         goesOn(201, NONE, () => ({ url })),
  'GET /v1/webhook_endpoints':          goesOn(200),
  [`GET ${ENDPOINT}`]:                  goesOn(200, 'webhook endpoint'),
  [`PATCH ${ENDPOINT}`]:                goesOn(200, 'webhook endpoint', () => ({ url })),
  [`DELETE ${ENDPOINT}`]:               goesOn(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/enable`]:          goesOn(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/disable`]:         goesOn(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/rotate_secret`]:   goesOn(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/test`]:            goesOn(202, 'webhook endpoint'),
  [`GET ${ENDPOINT}/deliveries`]:       goesOn(200, 'webhook endpoint'),
  [`POST ${ENDPOINT}/recover`]:         goesOn(202, 'webhook endpoint', () => ({ since: MOMENT })),
  'GET /v1/events':                     goesOn(200),
  'POST /v1/events/{event_id}/resend':  goesOn(202, 'event'),
}

/** What an unknown or foreign id of this name is answered. */
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

/** Every route that asks for a proof, with its entry. @throws Error when the two do not fit */
export function accessCases(): readonly Case[] {
  const proven = ROUTES.filter((route): route is Route => route.auth !== 'none')
  const names = new Set(proven.map(nameOf))
  const stale = Object.keys(ENTRIES).filter((name) => !names.has(name))
  if (stale.length > 0) throw new Error(`door_table has no route for: ${stale.join('; ')}`)
  return proven.map((route) => {
    const name = nameOf(route)
    const entry = ENTRIES[name]
    if (entry === undefined) {
      throw new Error(`${name} needs an entry in test/integration/access_table.ts`)
    }
    const [, parameter] = /\{([a-z_]+)\}/.exec(route.path) ?? []
    const notFound = parameter === undefined ? '' : NOT_FOUND[parameter]
    if (notFound === undefined) throw new Error(`door_table: what is the 404 of ${parameter}?`)
    if ((parameter === undefined) !== (entry.subject === undefined)) {
      throw new Error(`door_table: what does the path of ${name} name?`)
    }
    return { ...entry, name, route, notFound }
  })
}

const nameOf = ({ method, path }: AnyRoute): string => `${method} ${path}`

export const pathOf = ({ route }: Case, id: string): string => route.path.replace(/\{[a-z_]+\}/, id)
