/** The requests of the collection, from the OpenAPI document of the partner API. */

interface Parameter {
  readonly name?: string
  readonly in?: string
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: { readonly required?: boolean }
  readonly responses: Readonly<Record<string, unknown>>
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface CollectionRequest {
  readonly folder: string
  readonly id: string
  readonly name: string
  readonly description: string
  readonly method: string
  /** With variables of the collection: `{{base_url}}/v1/payouts/{{payout_id}}`. */
  readonly url: string
  /** Optional parameters, which are not sent until they are enabled. */
  readonly query: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** JSON with variables; empty without a body. */
  readonly body: string
  /** The HTTP status of a run from top to bottom: any of these, else the request has failed. */
  readonly statuses: readonly number[]
}

/** Values that the sandbox accepts, with a sandbox code to scan. */
const QR = '00020101021129370016A0000006770101110113006681234567853037645802TH6304823E'
const USER = {
  partner_user_id: 'user-1',
  kyc_attestation: { verified: true, method: 'passport', verified_at: '2026-01-05T09:30:00Z' },
  sanctions_attestation: { clean: true, screened_at: '2026-01-05T09:30:00Z' },
}
const BENEFICIARY = {
  type: 'bank_account',
  name: 'Nguyen Thi Lan',
  destination_country: 'VN',
  currency: 'VND',
  account_number: '0071001234567',
  bank_code: '970436',
}

const BODIES: Readonly<Record<string, object>> = {
  createPaymentIntent: { ...USER, amount_usd_cents: 1250, corridor: 'th_promptpay' },
  createSessionToken: USER,
  // Another amount each time: two equal payments within a minute are a `duplicate_scan`.
  scanQrCode: { qr_payload: QR, local_amount_minor_units: '{{local_amount}}' },
  confirmPaymentIntent: { quote_id: '{{quote_id}}', quote_version: '{{quote_version}}' },
  createBeneficiary: BENEFICIARY,
  createPayout: {
    amount: '1250000',
    currency: 'VND',
    beneficiary: BENEFICIARY,
    reference: 'invoice 2026-114',
  },
  createDeposit: { currency: 'USD', amount: '100000' },
  createFxQuote: { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'VND' },
  createFxConversion: { quote_id: '{{fx_quote_id}}' },
  createWebhookEndpoint: { url: 'http://127.0.0.1:3000/hooks' },
  updateWebhookEndpoint: { description: 'payouts', enabled_events: ['payout.completed'] },
  rotateWebhookSecret: {},
  recoverWebhookEndpoint: { since: '2026-01-05T09:30:00Z' },
  resendEvent: {},
  // Possible while the payout is processed and after it was completed.
  simulatePayout: { outcome: 'reversed' },
  checkRequest: { method: 'GET', path: '/v1/payouts?limit=2', headers: {} },
}
/** Members that are numbers once their variable is replaced. */
const NUMBERS = /"(\{\{quote_version\}\})"/g

const TOKENS: Readonly<Record<string, string>> = {
  sessionToken: 'Bearer {{session_token}}',
  receiptToken: 'Bearer {{receipt_token}}',
}

export function requestsOf({ tags, paths }: OpenApiDocument): readonly CollectionRequest[] {
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => requestOf(method, path, operation)),
  )
  const folders = tags.map(({ name }) => name)
  const ordinalOf = ({ folder, id }: CollectionRequest): number =>
    folders.indexOf(folder) * 10 + (LATER[id] ?? 0)
  return requests.sort((one, other) => ordinalOf(one) - ordinalOf(other))
}

/** Last in their folders, so a run of the collection ends no entity that a later request needs. */
const LATER: Readonly<Record<string, number>> = {
  getPaymentIntent: 1,
  refundPaymentIntent: 2,
  cancelPaymentIntent: 3,
  disableWebhookEndpoint: 1,
  enableWebhookEndpoint: 2,
  testWebhookEndpoint: 3,
  listDeliveries: 4,
  recoverWebhookEndpoint: 5,
  deleteWebhookEndpoint: 6,
}

/** Nothing that a run makes allows these: the first payment is confirmed, and payouts stay. */
const REFUSED: Readonly<Record<string, number>> = { cancelPaymentIntent: 409, cancelPayout: 409 }

function statusesOf({ operationId, responses }: Operation): readonly number[] {
  const refused = REFUSED[operationId]
  const successes = Object.keys(responses).filter((status) => status.startsWith('2'))
  return refused === undefined ? successes.map(Number) : [refused]
}

function requestOf(method: string, path: string, operation: Operation): CollectionRequest {
  const { operationId: id, tags, summary, description = '', parameters = [] } = operation
  const body = BODIES[id]
  if (body === undefined && operation.requestBody?.required === true) {
    throw new Error(`${id} needs a sample body`)
  }
  const named = (location: string): readonly string[] =>
    parameters.flatMap((parameter) => (parameter.in === location ? [parameter.name ?? ''] : []))
  return {
    folder: tags[0] ?? '',
    id,
    name: summary,
    description,
    method: method.toUpperCase(),
    url: `{{base_url}}${path.replaceAll(/\{([a-z_]+)\}/g, '{{$1}}')}`,
    query: named('query'),
    headers: {
      ...authorizationOf(operation),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      // A new key each time: set your own to repeat a request safely.
      ...(named('header').includes('Idempotency-Key') ? { 'Idempotency-Key': '{{$guid}}' } : {}),
    },
    body: body === undefined ? '' : JSON.stringify(body, null, 2).replaceAll(NUMBERS, '$1'),
    statuses: statusesOf(operation),
  }
}

/** Signed unless only a token is accepted. */
function authorizationOf({ security = [] }: Operation): Readonly<Record<string, string>> {
  const [first, ...others] = security.flatMap((each) => Object.keys(each))
  const token = others.length === 0 ? TOKENS[first ?? ''] : undefined
  return token === undefined ? {} : { Authorization: token }
}
