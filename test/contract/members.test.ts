/**
 * A member that the document describes exists on every way: as a field of both fronts' messages, in
 * a recorded answer, in the guide.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import t from 'tap'
import type { Examples } from '../../gateway/openapi/examples.js'
import type { AnyOperation, OperationName } from '../../src/api/operation.js'
import { ANSWERS, OPERATIONS } from '../../src/api/operations.js'
import type { Properties, Schema } from '../../src/api/schema.js'
import { projectRoot } from '../../src/base/project_root.js'
import { wholePartnerGuide } from '../support/partner_guide.js'
import { loadProtoTypes } from '../support/proto_types.js'
import { EXAMPLES_FILE } from './generated_files.js'

const ENTRIES = Object.entries(OPERATIONS) as [OperationName, AnyOperation][]

const types = loadProtoTypes()

/** The schema itself, where it stands for a named one or may be null. */
function resolved(schema: Schema): Schema {
  const { $ref, oneOf } = schema as { readonly $ref?: string; readonly oneOf?: readonly Schema[] }
  if ($ref !== undefined) return resolved(ANSWERS[$ref.split('/').at(-1) ?? ''] ?? {})
  return oneOf?.[1]?.['type'] === 'null' ? resolved(oneOf[0]!) : schema
}

/** Its name in the document; empty when it has none. */
const nameOf = ({ $ref, oneOf }: Schema): string =>
  typeof $ref === 'string'
    ? $ref.slice($ref.lastIndexOf('/') + 1)
    : Array.isArray(oneOf)
      ? nameOf((oneOf as readonly Schema[])[0]!)
      : ''

/** Those of an object, or of the objects of a list. */
function membersOf(schema: Schema): readonly (readonly [name: string, schema: Schema])[] {
  const { properties = {}, items } = resolved(schema) as {
    readonly properties?: Properties
    readonly items?: Schema
  }
  return items === undefined ? Object.entries(properties) : membersOf(items)
}

/** The paths of the members that the message has no field for. */
function lacking(schema: Schema, type: protobuf.Type, path: string): string[] {
  return membersOf(schema).flatMap(([name, member]) => {
    const field = type.fields[name]?.resolve()
    if (field === undefined) return [`${path}.${name}`]
    const { resolvedType } = field
    return resolvedType instanceof protobuf.Type
      ? lacking(member, resolvedType, `${path}.${name}`)
      : []
  })
}

const methodOf = ({ rpc: name }: AnyOperation): protobuf.Method => {
  const [service = '', rpc = ''] = name.split('.')
  const method = types.lookupService(`causeway.v1.${service}`).methods[rpc]
  if (method === undefined) throw new Error(`no rpc ${name}`)
  method.resolve()
  return method
}

t.test('every member of a request is a field of its call and of its command', async (t) => {
  const command = types.lookupType('causeway.internal.v1.Command')
  let checked = 0
  for (const [name, operation] of ENTRIES) {
    const { content, rpcField, isRpcFieldMember = false, key } = operation
    const call = methodOf(operation).resolvedRequestType!
    const field = rpcField === undefined || isRpcFieldMember ? undefined : call.fields[rpcField]
    const ofCall = (field?.resolve().resolvedType ?? call) as protobuf.Type
    const ofCommand = command.fields[name]?.resolve().resolvedType as protobuf.Type
    for (const [front, type] of Object.entries({ call: ofCall, command: ofCommand })) {
      const schema = content.in === 'path' ? {} : content.schema
      const inner = isRpcFieldMember ? type.fields[rpcField!]?.resolve().resolvedType : type
      t.same(lacking(schema, inner as protobuf.Type, name), [], `${front} of ${name}`)
      if (key !== undefined) t.ok(type.fields['idempotency_key'], `${front} of ${name}: key`)
      checked += membersOf(schema).length
    }
  }
  t.ok(checked > 100)
})

/** Answers of both fronts differ here. */
const DIFFERENT = new Set<OperationName>(['test_webhook_endpoint', 'list_events'])
/** Members of an event alone. */
const OF_EVENTS = new Set(['dead_deliveries', 'newest_dead_at', 'newest_dead_event_id'])

t.test('every member of an answer is a field of the answer to the call', async (t) => {
  for (const [name, operation] of ENTRIES) {
    if (operation.answer === null || DIFFERENT.has(name)) continue
    const faults = lacking(
      ANSWERS[operation.answer] ?? {},
      methodOf(operation).resolvedResponseType!,
      name,
    )
    const known = (path: string): boolean =>
      /webhook_endpoint/.test(name) && OF_EVENTS.has(path.split('.').at(-1) ?? '')
    t.same(
      faults.filter((path) => !known(path)),
      [],
      name,
    )
  }
})

/** Members that no recorded answer shows. */
const NOT_RECORDED = ['Receipt.refund', 'Payout.description', 'EventList.begins_after']

t.test('every member of an answer is in a recorded answer (see record.ts)', async (t) => {
  const { operations, webhooks } = JSON.parse(
    readFileSync(join(projectRoot(), EXAMPLES_FILE), 'utf8'),
  ) as Examples
  const shown = new Set<string>()
  const visit = (schema: Schema, value: unknown): void => {
    const { oneOf = [], items } = resolved(schema) as {
      readonly oneOf?: readonly Schema[]
      readonly items?: Schema
    }
    for (const one of oneOf) visit(one, value)
    if (Array.isArray(value)) value.forEach((item) => visit(items ?? {}, item))
    else if (typeof value === 'object' && value !== null) {
      for (const [member, of] of membersOf(schema)) {
        if (!(member in value)) continue
        shown.add(`${nameOf(schema)}.${member}`)
        visit(of, (value as Readonly<Record<string, unknown>>)[member])
      }
    }
  }
  const answer = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
  for (const { id, answer: name } of Object.values(OPERATIONS)) {
    for (const { answer: recorded } of operations[id] ?? []) {
      if (name !== null && recorded.status < 400) visit(answer(name), recorded.body)
    }
  }
  for (const { body } of Object.values(webhooks)) visit(answer('Event'), body)
  const named = Object.entries(ANSWERS)
    .filter(([name]) => [...shown].some((one) => one.startsWith(`${name}.`)))
    .flatMap(([name, schema]) => membersOf(schema).map(([member]) => `${name}.${member}`))
  t.ok(named.length > 100)
  t.same(
    named.filter((member) => !shown.has(member)),
    NOT_RECORDED,
  )
})

t.test('the guide names every member of a request', async (t) => {
  const guide = wholePartnerGuide()
  for (const [name, { content }] of ENTRIES) {
    if (content.in === 'path') continue
    for (const [member] of membersOf(content.schema)) {
      t.match(guide, new RegExp(`\`[^\`\n]*\\b${member}\\b[^\`\n]*\``), `${name}: ${member}`)
    }
  }
})
