/**
 * Responses of an operation: its success, and each error status with its codes.
 *
 * - Statuses follow from the handler and the error registry, as at runtime.
 */
import { ERRORS, type ErrorCode } from '../../src/base/errors.js'
import type { Description } from '../../src/api/operation.js'
import { ref, text, type Schema } from '../../src/api/schema.js'
import { errorStatus } from '../http/error_response.js'
import type { AnyRoute, Success } from '../routing/route.js'
import type { RecordedCall } from './examples.js'

/** The errors of every operation. */
const COMMON: readonly ErrorCode[] = [
  'invalid_request',
  'not_found',
  'payload_too_large',
  'rate_limited',
  'internal_error',
  'configuration_error',
  'timeout',
]

/** Statuses whose codes are the same for most operations, so they are shared. */
const SHARED: Readonly<Record<number, { readonly name: string; readonly code: ErrorCode }>> = {
  400: { name: 'InvalidRequest', code: 'invalid_request' },
  401: { name: 'AuthenticationFailed', code: 'authentication_failed' },
  404: { name: 'NotFound', code: 'not_found' },
  413: { name: 'PayloadTooLarge', code: 'payload_too_large' },
  429: { name: 'RateLimited', code: 'rate_limited' },
  500: { name: 'InternalError', code: 'internal_error' },
  503: { name: 'ConfigurationError', code: 'configuration_error' },
  504: { name: 'Timeout', code: 'timeout' },
}

const EXAMPLE_REQUEST_ID = 'req_01KB5Y6E1GJ4ZP7Q2M8W3N9R5T'

export const HEADERS: Readonly<Record<string, Schema>> = {
  'X-Request-Id': {
    description: 'Quote it to support.',
    required: true,
    schema: text('The id of the request.', { pattern: '^req_' }),
  },
  'X-Client-Request-Id': {
    description: 'The well-formed `X-Request-Id` of the request. Absent when there was none.',
    schema: text('As sent.'),
  },
  'Idempotency-Key': {
    description:
      'The key as received: compare it with the key that you sent. Absent when none was sent, ' +
      'when it is not valid, and in answers before authentication: every 401, some 429 and 503.',
    schema: text('Printable ASCII.'),
  },
  'Idempotent-Replayed': {
    description: '`true` when the answer is that of an earlier request with the same key.',
    required: true,
    schema: text('A boolean as text.', { enum: ['true', 'false'] }),
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Limit': {
    description: 'The limit that was exceeded.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Remaining': {
    description: 'What is left of it.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds until requests are accepted again.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const ALWAYS = ['X-Request-Id', 'X-Client-Request-Id']

const headersOf = (...names: readonly string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Headers of error statuses that say when to retry. */
const WAITS: Readonly<Record<number, readonly string[]>> = {
  429: ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  503: ['Retry-After'],
}

export function responsesOf(route: AnyRoute, recordedCalls: readonly RecordedCall[]): Schema {
  const { operation } = route
  const isKeyed = route.auth !== 'none' && route.operation.key !== undefined
  const isConfirm = route.auth !== 'none' && route.operation.refusesAsConflict === true
  const successes = operation.answer === null ? [] : successesOf(route)
  const own = successes.map(({ status, headers }) => [
    status,
    successResponse(operation, status, [...headers.map(([name]) => name)], isKeyed, recordedCalls),
  ])
  const codes: ErrorCode[] = [
    ...COMMON,
    ...(route.auth === 'none' ? [] : (['authentication_failed'] as const)),
    ...operation.errors,
  ]
  const statuses = [...new Set(codes.map((code) => errorStatus(code, isConfirm)))]
  const errors = statuses.map((status) => [
    status,
    errorResponse(
      status,
      codes.filter((code) => errorStatus(code, isConfirm) === status),
      isKeyed,
      recordedCalls,
    ),
  ])
  return Object.fromEntries([...own, ...errors]) as Schema
}

function successesOf(route: AnyRoute): readonly Success[] {
  if (route.auth === 'none') return [{ status: 200, headers: [] }]
  const { handler } = route
  const [first, replayed] = [handler.success(false), handler.success(true)]
  return first.status === replayed.status ? [first] : [first, replayed]
}

function successResponse(
  { answer, answerText }: Description,
  status: number,
  headers: readonly string[],
  isKeyed: boolean,
  recordedCalls: readonly RecordedCall[],
): Schema {
  return {
    description: answerText,
    headers: headersOf(...ALWAYS, ...headers, ...(isKeyed ? ['Idempotency-Key'] : [])),
    content: {
      'application/json': {
        schema: ref(answer ?? ''),
        ...examplesOf(recordedCalls, status),
      },
    },
  }
}

function examplesOf(recordedCalls: readonly RecordedCall[], status: number): Schema {
  const fitting = recordedCalls.filter(({ answer }) => answer.status === status)
  if (fitting.length === 0) return {}
  const named = fitting.map(({ name, answer }) => [name, { value: answer.body }])
  return { examples: Object.fromEntries(named) as Schema }
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  isKeyed: boolean,
  recordedCalls: readonly RecordedCall[],
): Schema {
  const shared = SHARED[status]
  const [first, ...others] = codes
  if (shared !== undefined && others.length === 0 && first === shared.code) {
    return { $ref: `#/components/responses/${shared.name}` }
  }
  return envelopeResponse(status, codes, isKeyed, recordedCalls)
}

function envelopeResponse(
  status: number,
  codes: readonly ErrorCode[],
  isKeyed: boolean,
  recordedCalls: readonly RecordedCall[],
): Schema {
  // All members are named: strict readers accept no member that one part of a schema leaves out.
  const members = { code: { enum: codes }, message: {}, request_id: {} }
  const narrowed = { properties: { error: { properties: members } } }
  const names = [
    ...ALWAYS,
    ...(isKeyed && status !== 401 ? ['Idempotency-Key'] : []),
    ...(WAITS[status] ?? []),
  ]
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
    headers: headersOf(...names),
    content: {
      'application/json': {
        schema: { allOf: [ref('Error'), narrowed] },
        examples: Object.fromEntries(
          codes.map((code) => [code, errorExample(code, recordedCalls)]),
        ),
      },
    },
  }
}

/** The recorded answer with this code, else the envelope as the gateway makes it. */
function errorExample(code: ErrorCode, recordedCalls: readonly RecordedCall[]): Schema {
  const made = {
    error: { code, message: ERRORS[code].message, request_id: EXAMPLE_REQUEST_ID },
  }
  const recorded = recordedCalls.find(
    ({ answer }) => (answer.body as Partial<typeof made>).error?.code === code,
  )
  return { value: recorded?.answer.body ?? made }
}

export const SHARED_RESPONSES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(SHARED).map(([status, { name, code }]) => [
    name,
    envelopeResponse(Number(status), [code], true, []),
  ]),
)
