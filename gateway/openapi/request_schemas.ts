/**
 * Request schemas of the OpenAPI document: those that check requests, with shared parts as
 * references and query texts with the types of their values.
 *
 * - Only the form changes: the document shows the schemas that the gateway checks first, with what
 *   it checks after them where JSON Schema can say it (`reference`, moments, amounts as text).
 */
import { REFERENCE_MAX } from '../../src/base/constants.js'
import { checkBeneficiary } from '../../src/api/beneficiaries.js'
import { readEvents } from '../../src/api/events.js'
import { corridor, kycAttestation, sanctionsAttestation } from '../../src/api/intent_messages.js'
import { created, page } from '../../src/api/lists.js'
import { checkCreatePayout, inlineBeneficiary } from '../../src/api/payouts.js'
import { ref, text, type Schema } from '../../src/api/schema.js'
import { eventSubscription } from '../../src/api/webhook_endpoints.js'

/** What `parseDateTime` accepts, but for days that do not exist. */
const MOMENT: Schema = {
  format: 'date-time',
  pattern:
    '^(?:19[7-9]|[2-9][0-9]{2})[0-9]-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])' +
    '[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?' +
    '(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])$',
}
const moment = (schema: Schema): Schema => ({ ...schema, ...MOMENT })
const { after } = readEvents.schema['properties'] as { readonly after: Schema }
const { reference } = checkCreatePayout.schema['properties'] as { readonly reference: Schema }

/** Parts that the document shows in another form. */
const SHOWN_AS: ReadonlyMap<unknown, Schema> = new Map<unknown, Schema>([
  [corridor, ref('Corridor')],
  [eventSubscription, ref('EventSubscription')],
  [kycAttestation, ref('KycAttestation')],
  [sanctionsAttestation, ref('SanctionsAttestation')],
  [inlineBeneficiary, ref('BeneficiaryRequest', 'A new beneficiary.')],
  [
    page.limit,
    {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 50,
      description: page.limit.description,
    },
  ],
  [
    after,
    {
      type: 'integer',
      minimum: 0,
      maximum: 999_999_999_999_999,
      default: 0,
      description: after['description'],
    },
  ],
  [created.created_after, moment(created.created_after)],
  [created.created_before, moment(created.created_before)],
  [reference, { ...reference, minLength: 1, maxLength: REFERENCE_MAX, pattern: '\\S' }],
])

const POSITIVE: Schema = { format: 'int64', pattern: '^[1-9][0-9]{0,18}$' }

/** Formats of the requests, in terms of JSON Schema. */
const FORMATS: Readonly<Record<string, Schema>> = {
  'positive-int64': POSITIVE,
  int64: POSITIVE, // in requests no amount is zero or negative
  'date-time': MOMENT,
  'webhook-url': { format: 'uri', pattern: '^https?://[!-~]+$' },
}

export const SHARED_REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
  KycAttestation: shown(kycAttestation),
  SanctionsAttestation: shown(sanctionsAttestation),
  BeneficiaryRequest: shown(checkBeneficiary.schema),
}

export function shown(schema: Schema): Schema {
  const { format, ...rest } = schema
  const known = typeof format === 'string' ? FORMATS[format] : undefined
  const members = Object.entries(known === undefined ? schema : { ...rest, ...known })
  const typed = typeOfEnum(schema)
  return { ...typed, ...Object.fromEntries(members.map(([name, part]) => [name, shownPart(part)])) }
}

function shownPart(part: unknown): unknown {
  const replaced = SHOWN_AS.get(part)
  if (replaced !== undefined) return replaced
  if (Array.isArray(part)) return part.map(shownPart)
  return typeof part === 'object' && part !== null ? shown(part as Schema) : part
}

/** Generators of clients need the type of an enumeration; a validator does not. */
function typeOfEnum({ enum: values, const: constant, type }: Schema): Schema {
  const isText = Array.isArray(values) || typeof constant === 'string'
  return isText && type === undefined ? { type: 'string' } : {}
}

/** Why requests are refused beyond their schema is in the operation's error codes. */
export const idempotencyKeySchema = (maxLength: number): Schema =>
  text('', { minLength: 1, maxLength, pattern: '^[ -~]+$' })
