/**
 * The OpenAPI 3.1 document, made from the route table and the schemas that serve requests.
 *
 * * - It depends on the code and on the recorded examples only, so it is the same on every machine.
 */
import { TAGS, type KeyRule, type LocalOperation } from '../../src/api/operation.js'
import { ANSWERS } from '../../src/api/operations.js'
import type { Properties, Schema } from '../../src/api/schema.js'
import type { AnyRoute } from '../routing/route.js'
import { DESCRIPTION } from './description.js'
import type { Examples, RecordedCall } from './examples.js'
import { idempotencyKeySchema, SHARED_REQUEST_SCHEMAS, shown } from './request_schemas.js'
import { HEADERS, responsesOf, SHARED_RESPONSES } from './responses.js'
import { SECURITY, SECURITY_SCHEMES } from './security.js'
import { webhooks } from './webhooks.js'

/** The version of the interface that the document describes. */
const VERSION = '1.1.0'

export function openApiDocument(routes: readonly AnyRoute[], examples: Examples): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway partner API',
      version: VERSION,
      summary: 'QR payments and payouts.',
      description: DESCRIPTION,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'The host that serves this document.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(routes, examples),
    webhooks: webhooks(examples.webhooks),
    components: {
      schemas: {
        ...ANSWERS,
        ...SHARED_REQUEST_SCHEMAS,
        ...bodySchemas(routes),
      },
      parameters: { ClientRequestId: CLIENT_REQUEST_ID },
      responses: SHARED_RESPONSES,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

/** The body of a route's requests. Undefined if they have none. */
function bodyOf(route: AnyRoute): LocalOperation['body'] {
  if (route.auth === 'none') return route.operation.body
  const { content } = route.operation
  return content.in === 'body' ? content : undefined
}

const bodySchemas = (routes: readonly AnyRoute[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    routes.flatMap((route) => {
      const body = bodyOf(route)
      return body === undefined ? [] : [[body.name, shown(body.schema)] as const]
    }),
  )

function pathsOf(routes: readonly AnyRoute[], examples: Examples): Schema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    const recordedCalls = examples.operations[route.operation.id] ?? []
    path[route.method.toLowerCase()] = operationOf(route, recordedCalls)
  }
  return paths
}

function operationOf(route: AnyRoute, recordedCalls: readonly RecordedCall[]): Schema {
  const { id, tag, summary, description } = route.operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[route.auth],
    parameters: parametersOf(route, recordedCalls),
    ...requestBodyOf(route, recordedCalls),
    responses: responsesOf(route, recordedCalls),
  }
}

function parametersOf(route: AnyRoute, recordedCalls: readonly RecordedCall[]): readonly Schema[] {
  const main = recordedCalls[0]?.request
  const [, parameter] = /\{([a-z_]+)\}/.exec(route.path) ?? []
  const query = new URLSearchParams(main?.path.split('?')[1])
  const properties = (querySchemaOf(route)?.['properties'] ?? {}) as Properties
  const filters = Object.entries((shown({ properties })['properties'] ?? {}) as Properties)
  return [
    ...(parameter === undefined ? [] : [pathParameter(route, parameter, main?.path)]),
    ...filters.map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      description,
      schema,
      ...exampleOf(schema, query.get(name)),
    })),
    ...headerParameters(route, main?.headers ?? {}),
    { $ref: '#/components/parameters/ClientRequestId' },
  ]
}

function querySchemaOf(route: AnyRoute): Schema | undefined {
  if (route.auth === 'none') return undefined
  const { content } = route.operation
  return content.in === 'query' ? content.schema : undefined
}

const ENTITIES: Readonly<Record<string, string>> = {
  intent_id: 'Id of the payment intent.',
  payout_id: 'Id of the payout.',
  beneficiary_id: 'Id of the beneficiary.',
  endpoint_id: 'Id of the webhook endpoint.',
  event_id: 'Id of the event.',
}

function pathParameter(route: AnyRoute, name: string, sent: string | undefined): Schema {
  const at = route.path.split('/').indexOf(`{${name}}`)
  const id = sent?.split('?')[0]?.split('/')[at]
  return {
    name,
    in: 'path',
    required: true,
    description: ENTITIES[name] ?? `The ${name}.`,
    schema: { type: 'string', minLength: 1 },
    ...(id === undefined ? {} : { example: id }),
  }
}

function exampleOf({ type }: Schema, value: string | null): Schema {
  if (value === null) return {}
  return { example: type === 'integer' ? Number(value) : value }
}

function headerParameters(
  route: AnyRoute,
  sent: Readonly<Record<string, string>>,
): readonly Schema[] {
  if (route.auth === 'none') return []
  const { key } = route.operation
  const isSession = route.auth === 'session' || route.auth === 'hmac_or_session'
  return [
    ...(key === undefined ? [] : [idempotencyKey(key, sent)]),
    ...(isSession ? [PACKAGE] : []),
  ]
}

const idempotencyKey = (
  { maxLength, isRequired }: KeyRule,
  sent: Readonly<Record<string, string>>,
): Schema => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: isRequired,
  description: 'Printable ASCII. Send the same key and body in every attempt.',
  schema: idempotencyKeySchema(maxLength),
  ...(sent['Idempotency-Key'] === undefined ? {} : { example: sent['Idempotency-Key'] }),
})

const CLIENT_REQUEST_ID: Schema = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'An id of your own. A well-formed one is repeated as `X-Client-Request-Id`.',
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
}

const PACKAGE: Schema = {
  name: 'X-Service-Package',
  in: 'header',
  required: false,
  description:
    'Bundle id or application id of your app. Session requests need it once you registered one.',
  schema: { type: 'string' },
}

function requestBodyOf(route: AnyRoute, recordedCalls: readonly RecordedCall[]): Schema {
  const body = bodyOf(route)
  if (body === undefined) return {}
  const named = recordedCalls
    .filter(({ request }) => request.body !== undefined)
    .map(({ name, request }) => [name, { value: request.body }])
  return {
    requestBody: {
      required: body.isRequired,
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${body.name}` },
          ...(named.length === 0 ? {} : { examples: Object.fromEntries(named) as Schema }),
        },
      },
    },
  }
}
