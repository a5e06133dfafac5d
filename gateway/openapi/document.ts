/**
 * The OpenAPI 3.1 document, made from the route table and the schemas that serve requests.
 *
 * - Every route has a description and every description has a route, else it throws.
 * - It depends on the code and on the recorded examples only, so it is the same on every machine.
 */
import { ACCOUNT_ANSWERS } from '../answers/account.js'
import { ERROR_ANSWERS } from '../answers/errors.js'
import { FUNDING_ANSWERS } from '../answers/funding.js'
import { INTENT_ANSWERS } from '../answers/intents.js'
import { PAYOUT_ANSWERS } from '../answers/payouts.js'
import { SANDBOX_ANSWERS } from '../answers/sandbox.js'
import type { Properties, Schema } from '../answers/schema.js'
import { UNITS } from '../answers/units.js'
import { WEBHOOK_ANSWERS } from '../answers/webhooks.js'
import type { AnyRoute } from '../routing/route.js'
import { DESCRIPTION } from './description.js'
import type { Examples, Exchange } from './examples.js'
import { TAGS, type OperationDescription, type Operations } from './operation.js'
import { ACCOUNT_OPERATIONS } from './operations/account.js'
import { FUNDING_OPERATIONS } from './operations/funding.js'
import { INTENT_OPERATIONS } from './operations/intents.js'
import { PAYOUT_OPERATIONS } from './operations/payouts.js'
import { SANDBOX_OPERATIONS } from './operations/sandbox.js'
import { WEBHOOK_OPERATIONS } from './operations/webhooks.js'
import { idempotencyKeySchema, SHARED_REQUEST_SCHEMAS, shown } from './request_schemas.js'
import { HEADERS, responsesOf, SHARED_RESPONSES } from './responses.js'
import { SECURITY, SECURITY_SCHEMES } from './security.js'
import { webhooks } from './webhooks.js'

/** The version of the interface that the document describes. */
const VERSION = '1.1.0'

export const OPERATIONS: Operations = {
  ...INTENT_OPERATIONS,
  ...PAYOUT_OPERATIONS,
  ...FUNDING_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SANDBOX_OPERATIONS,
}

export function openApiDocument(routes: readonly AnyRoute[], examples: Examples): Schema {
  const described = routes.map((route) => ({ route, operation: descriptionOf(route) }))
  const unknown = Object.keys(OPERATIONS).filter(
    (name) => !routes.some((route) => nameOf(route) === name),
  )
  if (unknown.length > 0) throw new Error(`described, but no route: ${unknown.join(', ')}`)
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
    paths: pathsOf(described, examples),
    webhooks: webhooks(examples.webhooks),
    components: {
      schemas: {
        ...UNITS,
        ...INTENT_ANSWERS,
        ...PAYOUT_ANSWERS,
        ...FUNDING_ANSWERS,
        ...WEBHOOK_ANSWERS,
        ...ACCOUNT_ANSWERS,
        ...SANDBOX_ANSWERS,
        ...ERROR_ANSWERS,
        ...SHARED_REQUEST_SCHEMAS,
        ...bodySchemas(),
      },
      parameters: { ClientRequestId: CLIENT_REQUEST_ID },
      responses: SHARED_RESPONSES,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

interface Described {
  readonly route: AnyRoute
  readonly operation: OperationDescription
}

const nameOf = ({ method, path }: AnyRoute): string => `${method} ${path}`

function descriptionOf(route: AnyRoute): OperationDescription {
  const found = OPERATIONS[nameOf(route)]
  if (found === undefined) throw new Error(`a route without description: ${nameOf(route)}`)
  return found
}

const bodySchemas = (): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    Object.values(OPERATIONS).flatMap(({ body }) =>
      body === undefined ? [] : [[body.name, shown(body.schema)] as const],
    ),
  )

function pathsOf(described: readonly Described[], examples: Examples): Schema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { route, operation } of described) {
    const path = (paths[route.path] ??= {})
    const exchanges = examples.operations[operation.id] ?? []
    path[route.method.toLowerCase()] = operationOf(route, operation, exchanges)
  }
  return paths
}

function operationOf(
  route: AnyRoute,
  operation: OperationDescription,
  exchanges: readonly Exchange[],
): Schema {
  const parameters = parametersOf(route, operation, exchanges)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: SECURITY[route.auth],
    parameters,
    ...requestBodyOf(operation, exchanges),
    responses: responsesOf(route, operation, exchanges),
  }
}

function parametersOf(
  route: AnyRoute,
  operation: OperationDescription,
  exchanges: readonly Exchange[],
): readonly Schema[] {
  const main = exchanges[0]?.request
  const [, parameter] = /\{([a-z_]+)\}/.exec(route.path) ?? []
  const query = new URLSearchParams(main?.path.split('?')[1])
  const properties = (operation.query?.['properties'] ?? {}) as Properties
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
    ...headerParameters(route, operation, main?.headers ?? {}),
    { $ref: '#/components/parameters/ClientRequestId' },
  ]
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
  { keyRequired }: OperationDescription,
  sent: Readonly<Record<string, string>>,
): readonly Schema[] {
  if (route.auth === 'none') return []
  const key = route.handler.keyMaxLength
  const isSession = route.auth === 'session' || route.auth === 'hmac_or_session'
  return [
    ...(key === undefined ? [] : [idempotencyKey(key, keyRequired === true, sent)]),
    ...(isSession ? [PACKAGE] : []),
  ]
}

const idempotencyKey = (
  maxLength: number,
  required: boolean,
  sent: Readonly<Record<string, string>>,
): Schema => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
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

function requestBodyOf({ body }: OperationDescription, exchanges: readonly Exchange[]): Schema {
  if (body === undefined) return {}
  const named = exchanges
    .filter(({ request }) => request.body !== undefined)
    .map(({ name, request }) => [name, { value: request.body }])
  return {
    requestBody: {
      required: body.required ?? true,
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${body.name}` },
          ...(named.length === 0 ? {} : { examples: Object.fromEntries(named) as Schema }),
        },
      },
    },
  }
}
