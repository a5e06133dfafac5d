/**
 * The types of the Python client as source text, from the schemas of the OpenAPI document.
 *
 * - Names are public: a schema or an unnamed part of one keeps the name that it once had here.
 */
import type { Properties, Schema } from '../../../src/api/schema.js'
import { classOf } from './signed_calls.js'

const HEADER = `"""Types of the partner API's requests and answers, as dictionaries.

Made from gateway/openapi.json by \`make openapi\`. Amounts in minor units are decimal digits of a
signed 64-bit integer, \`usd_cents\` are whole US cents, timestamps are RFC 3339 in UTC with
milliseconds. A class that ends in \`Required\` holds the members that are always present.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

# More values can come where the guide says so: keep a branch for others.
`

/** Another name than that of the schema without \`Request\`. */
export const NAMES: Readonly<Record<string, string>> = {
  CreatePaymentIntentRequest: 'CreateIntent',
  CreateSessionTokenRequest: 'NewSession',
  IntentRefund: 'Refund',
  BeneficiaryRequest: 'CreateBeneficiary',
  CorridorTerms: 'CorridorSettings',
  SigningKey: 'KeySettings',
  CreatedWebhookEndpoint: 'WebhookEndpointWithSecret',
  RotateWebhookSecretRequest: 'RotateSecret',
  DeliveryBrief: 'DeliverySummary',
  RecoveredDeliveries: 'Recovery',
  CheckRequestRequest: 'RequestDescription',
  CheckSignatureRequest: 'SignatureDescription',
  RequestCheck: 'SignatureCheck',
  NextWebhookKey: 'NextKey',
  Event: 'WebhookEvent',
}

/** Other names of unnamed parts than that of their owner and member. */
const PART_NAMES: Readonly<Record<string, string>> = {
  BalanceTransactionAccount: 'BalanceAccount',
  WebhookEndpointStatus: 'EndpointStatus',
  WebhookEndpointDisabledReason: 'DisabledReason',
  DeliverySummaryStatus: 'DeliveryStatus',
  SignatureCheckResult: 'CheckResult',
  SimulatePayoutOutcome: 'SimulatedOutcome',
  AccountEnvironment: 'Environment',
  AccountStatus: 'PartnerStatus',
  KeySettingsStatus: 'KeyStatus',
  PayoutTermsFeeHandling: 'FeeHandling',
  ScanResultQrKind: 'QrKind',
  ScanResultMerchant: 'Merchant',
  AccountTerms: 'Terms',
  AccountLimits: 'Limits',
  AccountBalanceAlerts: 'BalanceAlert',
  AccountWebhookEndpoints: 'EndpointDeliveries',
  RequestReportRefusal: 'RequestRefusal',
}

/** The forms of a choice between members, by the member that they require. */
const FORMS: Readonly<Record<string, string>> = {
  beneficiary_id: 'CreatePayoutToId',
  beneficiary: 'CreatePayoutToNew',
}

interface ObjectSchema {
  readonly description?: string
  readonly properties?: Properties
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

type Schemas = Readonly<Record<string, Schema>>

/** No result or argument of a method: errors are raised, lists give items, a value is no body. */
function isUnused(name: string, schema: Schema): boolean {
  const { properties = {}, required = [] } = schema as ObjectSchema
  if (['Error', 'OpenApiDocument', 'ConfirmRequest'].includes(name)) return true
  if (properties['data']?.['type'] === 'array') return true
  return (
    name.endsWith('Request') &&
    Object.keys(properties).length === required.length &&
    required.length === 1
  )
}

export interface PythonTypes {
  readonly text: string
  /** The hint of a part of a request or answer, in a module that imports the types as `t`. */
  hintOf(schema: Schema): string
  nameOf(schema: string): string
}

const nameOf = (schema: string): string => NAMES[schema] ?? schema.replace(/Request$/, '')

const partNameOf = (owner: string, member: string): string => {
  const name = `${owner}${member.split('_').map(classOf).join('')}`
  return PART_NAMES[name] ?? name
}

const literal = (values: readonly unknown[]): string =>
  `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`

export function pythonTypes(schemas: Schemas): PythonTypes {
  /** Names of enumerations by their values. */
  const enumerations = new Map<string, string>()
  const parts: string[] = []
  const unions: string[] = []

  const enumeration = (values: readonly unknown[], name: string): string => {
    const hint = literal(values.filter((value) => value !== null))
    const known = enumerations.get(hint)
    if (known === undefined && name === '') throw new Error(`${hint} has no name`)
    if (known === undefined) enumerations.set(hint, name)
    return known ?? name
  }

  const hint = (schema: Schema, name: string): string => {
    const { $ref: ref, enum: values, const: constant, type, items } = schema
    if (typeof ref === 'string') return referred(ref.split('/').at(-1) ?? '')
    const choice = (schema['oneOf'] ?? schema['anyOf']) as readonly Schema[] | undefined
    if (choice !== undefined) {
      const [one, ...others] = choice.filter(({ type }) => type !== 'null')
      if (one === undefined || others.length > 0) throw new Error(`${name}: a choice of several`)
      return `Optional[${hint(one, name)}]`
    }
    const isNullable = Array.isArray(type) && type.includes('null')
    const known = Array.isArray(values) ? values : constant === undefined ? undefined : [constant]
    const plain =
      known === undefined
        ? plainHint(schema, Array.isArray(type) ? type[0] : type, items as Schema, name)
        : enumeration(known, name)
    return isNullable ? `Optional[${plain}]` : plain
  }

  const plainHint = (schema: Schema, type: unknown, items: Schema, name: string): string => {
    const { properties, additionalProperties: rest } = schema as ObjectSchema
    if (type === 'array') return `List[${hint(items, name)}]`
    if (type === 'integer') return 'int'
    if (type === 'boolean') return 'bool'
    if (type === 'string') return 'str'
    if (typeof rest === 'object') return `Dict[str, ${hint(rest, '')}]`
    if (properties === undefined) return 'Dict[str, Any]'
    addClass(name, schema)
    return name
  }

  /** A unit is its primitive, a choice of objects a union. */
  const referred = (name: string): string => {
    const schema = schemas[name] ?? {}
    const { properties, oneOf } = schema as ObjectSchema
    if (properties !== undefined || oneOf !== undefined) return nameOf(name)
    return hint(schema, nameOf(name))
  }

  const addClass = (name: string, schema: Schema): void => {
    const { properties = {}, required = [], oneOf } = schema as ObjectSchema
    const members = Object.entries(properties).map(
      ([member, part]) =>
        [member, `    ${member}: ${hint(part, partNameOf(name, member))}`] as const,
    )
    const isChoice = (member: string): boolean => oneOf !== undefined && member in FORMS
    const needed = members.filter(([member]) => required.includes(member))
    const free = members.filter(([member]) => !required.includes(member) && !isChoice(member))
    const lines = (of: typeof members): readonly string[] => of.map(([, line]) => line)
    const doc = docOf(schema['description'], '    ')
    const common = oneOf === undefined ? name : `_${name}`
    if (free.length === 0) parts.push(classText(common, 'TypedDict', doc, lines(needed)))
    else if (needed.length === 0) {
      parts.push(classText(common, 'TypedDict, total=False', doc, lines(free)))
    } else {
      parts.push(classText(`_${name}Required`, 'TypedDict', [], lines(needed)))
      parts.push(classText(common, `_${name}Required, total=False`, doc, lines(free)))
    }
    const forms = members.filter(([member]) => isChoice(member))
    for (const [member, line] of forms) {
      parts.push(classText(FORMS[member] ?? '', common, [], [line]))
    }
    if (forms.length > 0) {
      unions.push(`${name} = Union[${forms.map(([member]) => FORMS[member]).join(', ')}]`)
    }
  }

  for (const [name, schema] of Object.entries(schemas)) {
    const { properties, oneOf } = schema as ObjectSchema
    if (properties === undefined && oneOf === undefined) referred(name)
    else if (properties === undefined) unions.push(unionOf(nameOf(name), oneOf ?? []))
    else if (!isUnused(name, schema)) addClass(nameOf(name), schema)
    else
      for (const [member, part] of Object.entries(properties)) {
        if (Array.isArray(part['enum'])) hint(part, partNameOf(nameOf(name), member))
      }
  }
  const aliases = [...enumerations].map(([literals, name]) => wrapped(`${name} = `, literals))
  return {
    text: `${HEADER}${aliases.join('\n')}\n\n\n${parts.join('\n\n\n')}\n\n\n${unions.join('\n')}\n`,
    hintOf: (schema) => {
      const text = hint(schema, '')
      return /^[A-Z]/.test(text) && !/^(Literal|Optional|List|Dict)\[/.test(text)
        ? `t.${text}`
        : text
    },
    nameOf,
  }
}

const unionOf = (name: string, choice: readonly Schema[]): string => {
  const names = choice.map(({ $ref }) => nameOf(String($ref).split('/').at(-1) ?? ''))
  return wrapped(`${name} = `, `Union[${names.join(', ')}]`)
}

const classText = (
  name: string,
  bases: string,
  doc: readonly string[],
  members: readonly string[],
): string => {
  const body = [...doc, ...(doc.length > 0 && members.length > 0 ? [''] : []), ...members]
  return [`class ${name}(${bases}):`, ...body].join('\n')
}

/** The parts of brackets on lines of their own where one line is too narrow. */
function wrapped(before: string, text: string): string {
  if (before.length + text.length <= WIDTH_MAX) return before + text
  const [, opening = '', inner = ''] = /^([A-Za-z]+\[)(.*)\]$/.exec(text) ?? []
  return [before + opening, ...inner.split(', ').map((part) => `    ${part},`), ']'].join('\n')
}

const WIDTH_MAX = 100

/** A docstring of whole lines. */
export function docOf(description: unknown, indent: string): readonly string[] {
  if (typeof description !== 'string' || description === '') return []
  const words = description.replaceAll('\\', '\\\\').split(/\s+/)
  const lines = [`${indent}"""`]
  for (const word of words) {
    const last = lines.length - 1
    const line = lines[last] ?? ''
    const isEmpty = line.endsWith('"""') || line === indent
    const joined = `${line}${isEmpty ? '' : ' '}${word}`
    if (joined.length > WIDTH_MAX && !isEmpty) lines.push(`${indent}${word}`)
    else lines[last] = joined
  }
  const [only = '', ...more] = lines
  if (more.length === 0 && only.length + 3 <= WIDTH_MAX) return [`${only}"""`]
  return [...lines, `${indent}"""`]
}
