/**
 * Compares answers with the OpenAPI document: status, error code, members, headers.
 *
 * - Objects are closed here, although the document leaves them open for clients: a member that the
 *   document lacks is a fault.
 * - A schema is compiled at its first use, so a test pays for what it calls.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { isInt64 } from '../../src/api/checks/formats.js'
import { isDateTime } from '../../src/base/date_time.js'
import type { HttpAnswer } from '../../src/client/index.js'

type Json = Readonly<Record<string, unknown>>

interface Content {
  readonly 'application/json'?: object
}

export interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Content
}

export interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Response>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, { readonly required?: boolean }>>
  }
}

export interface AnswerValidator {
  /** The reason why the answer is undocumented; undefined when it is documented. */
  faultOf(method: string, path: string, answer: AnswerToCheck): string | undefined
  /** The same for the body of a webhook. */
  faultOfEvent(body: unknown): string | undefined
}

export type AnswerToCheck = Pick<HttpAnswer, 'status' | 'headers' | 'body'>

/** Answers to requests that no operation takes. */
const UNROUTED: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_request'],
  401: ['authentication_failed'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  413: ['payload_too_large'],
  429: ['rate_limited'],
  500: ['internal_error'],
  503: ['configuration_error'],
  504: ['timeout'],
}

/** Headers that a document does not list: those of HTTP itself. */
const TRANSPORT = new Set([
  ...['connection', 'content-length', 'content-type', 'cache-control', 'date', 'keep-alive'],
  ...['transfer-encoding', 'content-encoding', 'vary', 'etag'],
])

export function createAnswerValidator(document: OpenApiDocument): AnswerValidator {
  // The meta-schema knows nothing of a whole OpenAPI document, and takes as long as all the rest.
  const lenient = { strict: false, meta: false, validateSchema: false } as const
  const ajv = new Ajv2020({ ...lenient, allErrors: false })
  ajv.addFormat('date-time', { type: 'string', validate: isDateTime })
  ajv.addFormat('int64', { type: 'string', validate: isInt64 })
  ajv.addFormat('uri', { type: 'string', validate: (text: string) => URL.canParse(text) })
  ajv.addSchema(closed(document) as Json, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  const find = createPathFinder(Object.keys(document.paths))

  const mismatch = (pointer: string, value: unknown): string | undefined => {
    let validate = compiled.get(pointer)
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `openapi#${pointer}` })
      compiled.set(pointer, validate)
    }
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }

  const faultOf: AnswerValidator['faultOf'] = (method, target, answer) => {
    const path = find(target.split('?', 1).join())
    const verb = method.toLowerCase()
    const operation = path === undefined ? undefined : document.paths[path]?.[verb]
    if (path === undefined || operation === undefined) return unroutedFault(answer)
    const { status, body } = answer
    const stated = operation.responses[String(status)]
    if (stated === undefined) return `status ${status} is not documented`
    const shared = stated.$ref?.split('/').at(-1)
    const response = shared === undefined ? stated : document.components.responses[shared]
    if (response === undefined) return `no response ${shared}`
    const parents =
      shared === undefined
        ? [...['paths', path, verb, 'responses'], String(status)]
        : ['components', 'responses', shared]
    const pointer = [...parents, 'content', 'application/json', 'schema']
      .map((name) => `/${escaped(name)}`)
      .join('')
    return mismatch(pointer, body) ?? headerFault(response, answer)
  }

  const unroutedFault = ({ status, body }: AnswerToCheck): string | undefined => {
    const codes = UNROUTED[status]
    if (codes === undefined) return `status ${status} of no operation`
    const { code } = (body as { error?: { code?: string } } | undefined)?.error ?? {}
    if (!codes.includes(code ?? '')) return `${status} ${code} of no operation`
    return mismatch('/components/schemas/Error', body)
  }

  const headerFault = (response: Response, { headers }: AnswerToCheck): string | undefined => {
    const documented = new Map(
      Object.keys(response.headers ?? {}).map((name) => [name.toLowerCase(), name]),
    )
    for (const [lower, name] of documented) {
      const { required = false } = document.components.headers[name] ?? {}
      if (required && headers[lower] === undefined) return `header ${name} is missing`
    }
    const extra = Object.keys(headers).find((name) => !TRANSPORT.has(name) && !documented.has(name))
    return extra === undefined ? undefined : `header ${extra} is not documented`
  }

  return { faultOf, faultOfEvent: (body) => mismatch('/components/schemas/Event', body) }
}

const escaped = (name: string): string =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))

function createPathFinder(paths: readonly string[]): (path: string) => string | undefined {
  const patterns = paths
    .filter((path) => path.includes('{'))
    .map((path) => [path, new RegExp(`^${path.replace(/\{[a-z_]+\}/, '[^/]+')}$`)] as const)
  const exact = new Set(paths)
  return (path) =>
    exact.has(path) ? path : patterns.find(([, pattern]) => pattern.test(path))?.[0]
}

/** The document with every object of its answers closed that does not say otherwise. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const members = Object.entries(part).map(([name, value]) => [name, closed(value)] as const)
  const { type, properties } = part as Json
  const isObject = type === 'object' && typeof properties === 'object'
  return {
    ...(isObject ? { additionalProperties: false } : {}),
    ...Object.fromEntries(members),
  }
}
