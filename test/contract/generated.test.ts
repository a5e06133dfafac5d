/**
 * Requests generated from the document against a real stack: no 500, no undocumented answer, and
 * the same refusal over gRPC wherever a message can carry the request.
 *
 * `CONTRACT_RUNS` is the number of requests of each operation, 12 by default; half of them have a
 * fault. A finding prints its seed and path, which repeat it.
 */
import fc from 'fast-check'
import t from 'tap'
import { CLEAN_TEXT_RULE } from '../../src/base/text.js'
import { auditOf } from '../support/audit.js'
import { readDocument } from '../support/documented_answers.js'
import type { HttpAnswer } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { anIntent } from '../support/requests.js'
import { startStack } from '../support/stack.js'
import { createArbitraries, type Schema } from './arbitraries.js'
import { createRpcTwins, type RpcTwin } from './rpc_twin.js'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
}

interface Generated {
  readonly id: string
  readonly query: Readonly<Record<string, unknown>>
  readonly key: string | undefined
  readonly body: unknown
}

const RUNS = Number(process.env['CONTRACT_RUNS'] ?? 40)
const document = readDocument()
const { valid, faulty } = createArbitraries(document.components.schemas)
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...{ method: method.toUpperCase(), path },
    operation: operation as unknown as Operation,
  })),
)
const isDelete = ({ method }: { readonly method: string }): boolean => method === 'DELETE'
/** Deletions last: no other operation succeeds on what is deleted. */
const operations = [...documented.filter((one) => !isDelete(one)), ...documented.filter(isDelete)]

const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '20' } })
const { partner } = stack
const twins = createRpcTwins(stack.sandbox)
t.teardown(() => twins.close())

const idOf = (body: unknown, name = 'id'): string => String((body as Record<string, unknown>)[name])
const paid = await payByQr(partner, 'first')
await untilStatus(partner, `/v1/payment_intents/${paid.id}`, 'captured')
const beneficiary = {
  ...{ type: 'bank_account', name: 'Lan', destination_country: 'VN', currency: 'VND' },
  ...{ account_number: '0071001234567', bank_code: '970436' },
}
const endpoint = await partner.request('POST', '/v1/webhook_endpoints', {
  url: 'http://127.0.0.1:1/hooks',
})
const events = (await partner.request('GET', '/v1/events')).body as {
  readonly data: readonly { readonly event: { readonly id: string } }[]
}
const IDS: Readonly<Record<string, readonly string[]>> = {
  intent_id: [paid.id],
  payout_id: [await payOut(partner, 'first')],
  beneficiary_id: [idOf((await partner.request('POST', '/v1/beneficiaries', beneficiary)).body)],
  endpoint_id: [idOf(endpoint.body)],
  event_id: events.data.map(({ event }) => event.id),
}

/** Any text that the path can carry. */
const anyId = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 40 })
  .map(encodeURIComponent)
  .filter((text) => !/^\.{1,2}$/.test(text))

function requestsOf(
  { parameters, requestBody }: Operation,
  hasFault: boolean,
): fc.Arbitrary<Generated> {
  const own = parameters.filter((one): one is Parameter => !('$ref' in one))
  const inPath = own.find((one) => one.in === 'path')
  const known = inPath === undefined ? [] : (IDS[inPath.name] ?? [])
  const schemaOf = (one: Parameter): fc.Arbitrary<unknown> =>
    hasFault ? fc.oneof(valid(one.schema), fc.string()) : valid(one.schema)
  const query = own.filter((one) => one.in === 'query').map((one) => [one.name, schemaOf(one)])
  const unknown = hasFault ? { unknown_filter: fc.string() } : {}
  const key = own.find((one) => one.name === 'Idempotency-Key')
  const schema = requestBody?.content['application/json'].schema
  const body =
    schema === undefined
      ? fc.constantFrom<unknown>(undefined, {}, ...(hasFault ? [{ a: 1 }, []] : []))
      : hasFault
        ? faulty(schema)
        : valid(schema)
  return fc.record({
    id: known.length === 0 ? anyId : fc.oneof(fc.constantFrom(...known), anyId),
    query: fc.record(
      { ...(Object.fromEntries(query) as Record<string, fc.Arbitrary<unknown>>), ...unknown },
      { requiredKeys: [] },
    ),
    key:
      key === undefined
        ? fc.constant(undefined)
        : key.required === true && !hasFault
          ? (valid(key.schema) as fc.Arbitrary<string>)
          : fc.option(valid(key.schema) as fc.Arbitrary<string>, { nil: undefined }),
    body,
  })
}

/** Session operations get an intent and a token of their own. */
async function send(
  method: string,
  path: string,
  { security }: Operation,
  { id, query, key, body }: Generated,
): Promise<HttpAnswer> {
  const texts = Object.entries(query).map(
    ([name, value]) => [name, String(value)] as [string, string],
  )
  const search = new URLSearchParams(texts).toString()
  const headers = key === undefined ? {} : { 'Idempotency-Key': key }
  const [first = {}] = security
  if ('receiptToken' in first) {
    const minted = await partner.request('POST', `/v1/payment_intents/${paid.id}/receipt_token`)
    const token = idOf(minted.body, 'receipt_token')
    return partner.session(token).request(method, path.replace(/\{[a-z_]+\}/, id), body)
  }
  if ('sessionToken' in first) {
    const created = await partner.request('POST', '/v1/payment_intents', anIntent())
    const token = idOf(created.body, 'session_token')
    const own = path.replace(/\{[a-z_]+\}/, idOf(created.body, 'intent_id'))
    return partner.session(token).request(method, own, body, { headers })
  }
  const target = path.replace(/\{[a-z_]+\}/, id) + (search === '' ? '' : `?${search}`)
  return partner.request(method, target, body, { headers })
}

/**
 * Compares the refusal of an invalid request. A request that changed something is not sent twice.
 *
 * @returns how the fronts differ. Undefined means that they do not, or no message can carry the
 * request
 */
async function difference(
  twin: RpcTwin,
  method: string,
  { key, query }: Generated,
  answer: HttpAnswer,
): Promise<string | undefined> {
  const { status, text } = answer
  const isRepeatable = method === 'GET' || key !== undefined || status >= 300
  if (!isRepeatable || HTTP_ONLY.has(status)) return undefined
  const refusal = await twin.send()
  const isInvalid = INVALID.has(refusal?.code ?? '')
  if (status !== 400 && !isInvalid) return undefined
  const { code, message } = status === 400 ? errorIn(answer) : { code: 'accepted', message: '' }
  // A text or number that a body lacks is an empty one or zero in a message.
  const [lacking] = /^.*(?=: is required$)/.exec(message) ?? []
  if (lacking !== undefined && !twin.canLack(lacking)) return undefined
  compared += 1
  const { field = '', description = '' } = refusal?.violations[0] ?? {}
  const isSameField = message === `${fieldOf(twin.root, field)}: ${description}`
  // Of several texts with NUL each front names the one that it reads first.
  const isOneOfSeveral =
    Object.values(query).filter((value) => String(value).includes('\0')).length > 1 &&
    [message, `: ${description}`].every((each) => each.endsWith(`: ${CLEAN_TEXT_RULE}`))
  const same = code === refusal?.code && (isSameField || isOneOfSeveral)
  return same ? undefined : `${text} ${JSON.stringify(refusal)}`
}

const errorIn = ({ body }: HttpAnswer): { readonly code: string; readonly message: string } =>
  (body as { readonly error: { readonly code: string; readonly message: string } }).error

/** Too large, too many, busy. */
const HTTP_ONLY = new Set([413, 429, 503])
const INVALID = new Set(['invalid_request', 'invalid_beneficiary'])
let compared = 0

/** The field of an HTTP message that a field of a call stands for. */
function fieldOf(root: string, field: string): string {
  const names = field
    .split('.')
    .filter((name, i) => !(i === 0 && name === root) && name !== 'types')
  const path = names.join('.')
  if (path === 'idempotency_key') return 'header Idempotency-Key'
  if (root === 'list' && path !== '') return `query ${path}`
  return path === '' ? 'body' : path
}

const succeeded = new Set<string>()

for (const { method, path, operation } of operations) {
  t.test(`${method} ${path}`, async (t) => {
    for (const hasFault of [false, true]) {
      const generated = requestsOf(operation, hasFault)
      await fc.assert(
        fc.asyncProperty(generated, async (request) => {
          const answer = await send(method, path, operation, request)
          const { status, text } = answer
          if (status === 500) throw new Error(text)
          const [first = {}] = operation.security
          const twin = 'signature' in first ? twins.of({ method, path, ...request }) : undefined
          const found = twin && (await difference(twin, method, request, answer))
          if (found !== undefined) throw new Error(`HTTP and gRPC differ: ${found}`)
          if (status < 300) succeeded.add(operation.operationId)
        }),
        { numRuns: Math.ceil(RUNS / 2) },
      )
      t.pass(hasFault ? 'with a fault' : 'valid')
    }
  })
}

t.test('valid requests reach the operations', async (t) => {
  t.ok(succeeded.size >= operations.length / 2, [...succeeded].join())
})

t.test('invalid requests were compared over gRPC', async (t) => {
  t.ok(compared > operations.length, `${compared} requests`)
})

t.test('the audit is clean', async (t) => {
  const { clean, report } = await auditOf(stack.dataDir)
  t.ok(clean, report)
})
