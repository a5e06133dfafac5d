/**
 * The command of an operation from an HTTP request, by its entry in src/api.
 *
 * - The order of the checks: idempotency key, query, body.
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { accepted, type Outcome } from '../../src/base/errors.js'
import type {
  AnyOperation,
  KeyRule,
  MessageOf,
  OperationName,
  RouteValues,
} from '../../src/api/operation.js'
import type { RequestContext } from '../http/request_context.js'
import { readBody, readOptionalBody, withoutBody } from './body.js'
import { IDEMPOTENCY_KEY, optionalKey, requiredKey } from './idempotency_key.js'
import { readQuery, withoutQuery } from './query.js'

/** The `operation` oneof of a command, with one member set. */
export type Operation = Pick<Command, NonNullable<Command['operation']>>

export interface RouteInput extends RouteValues {
  readonly request: RequestContext
}

type Message = MessageOf<OperationName> & { idempotency_key?: string }

export function decodeOperation(
  name: OperationName,
  { key: rule, content }: AnyOperation,
  input: RouteInput,
): Outcome<Operation> {
  const key = rule === undefined ? NO_KEY : keyOf(rule, input.request)
  if (!key.ok) return key
  const message: Outcome<Message> = messageOf(content, input)
  if (!message.ok) return message
  if (key.value !== undefined) message.value.idempotency_key = key.value
  return accepted({ [name]: message.value })
}

const NO_KEY: Outcome<undefined> = accepted(undefined)

function keyOf({ isRequired, maxLength }: KeyRule, request: RequestContext) {
  const header = request.header(IDEMPOTENCY_KEY)
  return isRequired ? requiredKey(header, maxLength) : optionalKey(header, maxLength)
}

function messageOf(content: AnyOperation['content'], input: RouteInput): Outcome<Message> {
  const { request } = input
  switch (content.in) {
    case 'body': {
      const read = (json: unknown): Outcome<Message> => content.read(json, input)
      const { body } = request
      return content.isRequired ? readBody(body, read) : readOptionalBody(body, read)
    }
    case 'query': {
      const list = readQuery(request.query, (parameters) => content.read(parameters, input))
      return list.ok ? withoutBody(request.body, list.value) : list
    }
    case 'path': {
      const query = content.refusesQuery ? withoutQuery(request.query) : null
      if (query !== null && !query.ok) return query
      return withoutBody(request.body, content.messageOf(input))
    }
  }
}
