/** The types of the Python client have the members and values of the OpenAPI document's schemas. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NAMES } from '../contract/clients/python_types.js'
import { projectRoot } from '../../src/base/project_root.js'
import { runPython, skipsPython } from './python_suite.js'

interface Schema {
  readonly $ref?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly enum?: readonly (string | null)[]
  readonly const?: string
}
interface Members {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** The values of members that are enumerations. */
  readonly values: Readonly<Record<string, readonly string[]>>
}

const document = readFileSync(join(projectRoot(), 'gateway/openapi.json'), 'utf8')
const { schemas } = (
  JSON.parse(document) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
).components

/** Schemas of types that have another name. */
const SCHEMA_NAMES = new Map(Object.entries(NAMES).map(([schema, type]) => [type, schema]))
/** Types of members whose schemas have no name. */
const UNNAMED: ReadonlySet<string> = new Set([
  ...['BalanceAlert', 'EndpointDeliveries', 'Limits', 'Merchant', 'PayoutBeneficiary'],
  ...['PayoutRail', 'ReceiptRefund', 'RequestRefusal', 'Terms'],
  ...['PaymentIntentEventData', 'PayoutEventData', 'BalanceEventData', 'WebhookEndpointEventData'],
])

/** Types of one form of a schema: the member that it requires, and the one that it excludes. */
const FORMS: Readonly<Record<string, readonly [schema: string, own: string, other: string]>> = {
  CreatePayoutToId: ['CreatePayoutRequest', 'beneficiary_id', 'beneficiary'],
  CreatePayoutToNew: ['CreatePayoutRequest', 'beneficiary', 'beneficiary_id'],
}

function formOf(type: string): Schema | undefined {
  const [name = '', own = '', other = ''] = FORMS[type] ?? []
  const { required = [], properties = {} } = schemas[name] ?? {}
  const members = Object.entries(properties).filter(([member]) => member !== other)
  return name === ''
    ? undefined
    : { required: [...required, own], properties: Object.fromEntries(members) }
}

const schemaOf = (type: string): Schema | undefined =>
  formOf(type) ?? schemas[SCHEMA_NAMES.get(type) ?? type] ?? schemas[`${type}Request`]

function partsOf(schema: Schema = {}): readonly Schema[] {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return partsOf(schemas[name])
  return [schema, ...(schema.allOf ?? []).flatMap(partsOf)]
}

function valuesOf(schema: Schema = {}): readonly string[] {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return valuesOf(schemas[name])
  const own = [...(schema.enum ?? []), schema.const].filter((value) => typeof value === 'string')
  const parts = [...(schema.oneOf ?? []), schema.items ?? {}].filter(
    (part) => Object.keys(part).length > 0,
  )
  return [...new Set([...own, ...parts.flatMap(valuesOf)])].sort()
}

function membersOf(schema: Schema): Members {
  const parts = partsOf(schema)
  const required = new Set(parts.flatMap((part) => part.required ?? []))
  const members = new Set(parts.flatMap((part) => Object.keys(part.properties ?? {})))
  return {
    required: [...required].sort(),
    optional: [...members].filter((member) => !required.has(member)).sort(),
    values: Object.fromEntries(
      parts
        .flatMap((part) => Object.entries(part.properties ?? {}))
        .map(([member, each]) => [member, valuesOf(each)] as const)
        .filter(([, values]) => values.length > 0),
    ),
  }
}

t.test('each type has the members of its schema', { skip: skipsPython }, async (t) => {
  const { stdout } = await runPython('print_types.py')
  const types = Object.entries(JSON.parse(stdout) as Readonly<Record<string, Members>>)
  t.ok(types.length > 40)
  for (const [type, members] of types) {
    const schema = schemaOf(type)
    if (schema === undefined) t.ok(UNNAMED.has(type), `${type} has no schema`)
    else t.same(members, membersOf(schema), type)
  }
})
