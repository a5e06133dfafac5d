/**
 * What an operation of the partner API is: one entry of plain data. Its route, its rpc, the checks
 * of its request on both fronts, its record and its part of the OpenAPI document follow from it.
 *
 * Does not own: what an operation does (processor/servers/operations), how requests are parsed
 * (gateway/decode).
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import type { ProtoGrpcType as AccountProto } from '../../protos/types/account.js'
import type { ProtoGrpcType as BeneficiariesProto } from '../../protos/types/beneficiaries.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as FundingProto } from '../../protos/types/funding.js'
import { accepted, type ErrorCode, type Outcome } from '../base/errors.js'
import type { Check, Schema } from './checks/check.js'

/** The commands of partners. The gateway sends `check_session` on its own. */
export type OperationName = Exclude<NonNullable<Command['operation']>, 'check_session'>

/** What the command of an operation carries. */
export type MessageOf<Name extends OperationName> = NonNullable<Command[Name]>

/** How a route authenticates its caller. `hmac_or_session`: a bearer token decides if present. */
export type Auth = 'hmac' | 'session' | 'hmac_or_session' | 'receipt'

export const TAGS = {
  'Payment intents':
    'QR payments: create, scan, confirm, refund. Your backend signs; your app uses tokens.',
  Receipts: 'Receipts of a user, opened with a receipt token.',
  Beneficiaries: 'Bank accounts to pay out to.',
  Payouts: 'Payouts to bank accounts from your balance in the same currency.',
  Balances: 'Your balances, deposits and conversions.',
  Webhooks: 'Endpoints that receive your events, and their deliveries.',
  Events: 'Your events by number, whether or not an endpoint subscribes to them.',
  Account: 'What is configured for you.',
  Sandbox: 'Tools that exist in the sandbox only.',
  Contract: 'This document.',
} as const

export type Tag = keyof typeof TAGS

/** The texts of an operation in the OpenAPI document, and its answers. */
export interface Description {
  /** The operationId: generated clients name their methods after it. */
  readonly id: string
  readonly tag: Tag
  /** At most 60 characters, imperative, without a period. */
  readonly summary: string
  /** Markdown. */
  readonly description: string
  /** The answer's schema in `components.schemas`. Null if no call succeeds. */
  readonly answer: string | null
  readonly answerText: string
  /** Beyond those that every operation can answer. */
  readonly errors: readonly ErrorCode[]
}

/** What a message takes from the path and from the caller's token. */
export interface RouteValues {
  /** The path's parameter; empty when the path has none. */
  readonly id: string
  /** The token's `jti` on session routes, else empty. */
  readonly sessionJti: string
  /** The subject of the receipt token on receipt routes, else empty. */
  readonly receiptSubject: string
}

/** The body of a request: JSON that a schema checks. */
export interface BodyContent<Message> {
  readonly in: 'body'
  /** Its name in `components.schemas`. */
  readonly name: string
  /** Whether an absent body is refused; else it counts as `{}`. */
  readonly isRequired: boolean
  readonly schema: Schema
  read(json: unknown, values: RouteValues): Outcome<Message>
  /** The check of the same content as a message. */
  faultIn(message: Message): Outcome<unknown>
}

/** The parameters of a list. Its body is empty. */
export interface QueryContent<Message> {
  readonly in: 'query'
  readonly schema: Schema
  read(parameters: object, values: RouteValues): Outcome<Message>
  faultIn(message: Message): Outcome<unknown>
}

/** The path alone. A body is absent or `{}`. */
export interface NoContent<Message> {
  readonly in: 'path'
  /** Whether a query is refused; else it is ignored. */
  readonly refusesQuery: boolean
  messageOf(values: RouteValues): Message
}

/** What a request says beyond its path. */
export type Content<Message> = BodyContent<Message> | QueryContent<Message> | NoContent<Message>

/** The names of the message's members. */
type MembersOf<Name> = Name extends OperationName ? keyof MessageOf<Name> & string : never

export interface KeyRule {
  readonly isRequired: boolean
  readonly maxLength: number
}

export interface ApiOperation<Name extends OperationName> extends Description {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The parameter is written `{name}`. */
  readonly path: string
  readonly auth: Auth
  /** Default: BODY_MAX_BYTES. */
  readonly bodyMaxBytes?: number
  /** The rule for the Idempotency-Key. Default: the operation reads none. */
  readonly key?: KeyRule
  readonly content: Content<MessageOf<Name>>
  /** The status of an accepted command. */
  readonly success: 200 | 201 | 202
  /** The status of a replay, which `Idempotent-Replayed` then tells. Default: they are alike. */
  readonly replayed?: 200
  /** Default: false. See errorStatus in gateway/http/error_response. */
  readonly refusesAsConflict?: true
  /** Default: false. The processor answers it outside of its command cycle, as it does lists. */
  readonly runsOutsideCycle?: true
  /**
   * The changed entity, when the request is recorded: the member of the message that names it, or
   * the entity that the operation creates. Default: the request is not recorded.
   */
  readonly recordedEntity?: 'created' | MembersOf<Name>
  /** The call of internal services that does the same. */
  readonly rpc: RpcName
  /** The field of the call's request that holds the message. Default: the request itself. */
  readonly rpcField?: string
  /** Whether the message has that field, too. Default: the field holds the message. */
  readonly isRpcFieldMember?: true
  /** The method of the TypeScript client. That of the Python client follows from it. */
  readonly client: string
  /** The name of the method's argument that is the body. Default: the body's only member. */
  readonly clientBody?: string
  /**
   * Whether a repetition changes nothing more, or makes one more token or quote: then clients
   * repeat it after an unknown outcome. Default: reads, and calls with a key.
   */
  readonly isRepeatable?: true
}

/** Some of the operations, by name. */
export type OperationsOf<Names extends OperationName> = {
  readonly [Name in Names]: ApiOperation<Name>
}

/** Any of the operations. */
export type AnyOperation = ApiOperation<OperationName>

/** The operations that the gateway answers. */
export type LocalName = 'check_signature' | 'check_request' | 'get_openapi_document'

/** An operation that the gateway answers without the processor and without authentication. */
export interface LocalOperation extends Description {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: Pick<BodyContent<unknown>, 'name' | 'schema' | 'isRequired'>
  /** Why there is no call of internal services. */
  readonly noRpc: string
  /** The method of the TypeScript client. Null if there is none. */
  readonly client: string | null
}

type Public = (AccountProto & BeneficiariesProto & EventsProto & FundingProto)['causeway']['v1']

/** The rpcs of a generated definition, without its index signature. */
type RpcsOf<Definition> = keyof {
  [Rpc in keyof Definition as string extends Rpc ? never : Rpc & string]: true
}

/** `Service.Rpc` of the public contracts. */
export type RpcName = {
  [Name in keyof Public]: Public[Name] extends { service: infer Definition }
    ? `${Name}.${RpcsOf<Definition>}`
    : never
}[keyof Public]

/** How the content of a message differs from its form in JSON. Default: it does not. */
type AsJson<Message> = (message: Message) => object

/** A body of the check's members. */
export const body = <Value, Message extends object>(
  name: string,
  check: Check<Value>,
  messageOf: (value: Value, values: RouteValues) => Message,
  { asJson = (message) => message, isRequired = true }: BodyOptions<Message> = {},
): BodyContent<Message> => ({
  in: 'body',
  name,
  isRequired,
  schema: check.schema,
  read: reader(check, messageOf),
  faultIn: (message) => check(membersOf(asJson(message), check.schema)),
})

interface BodyOptions<Message> {
  readonly asJson?: AsJson<Message>
  readonly isRequired?: boolean
}

/** A query of the check's parameters. */
export const query = <Value, Message extends object>(
  check: Check<Value>,
  messageOf: (value: Value, values: RouteValues) => Message,
  asJson: AsJson<Message>,
): QueryContent<Message> => ({
  in: 'query',
  schema: check.schema,
  read: reader(check, messageOf),
  faultIn: (message) => check(membersOf(asJson(message), check.schema)),
})

export const noContent = <Message>(
  messageOf: (values: RouteValues) => Message,
  refusesQuery = false,
): NoContent<Message> => ({ in: 'path', messageOf, refusesQuery })

const reader =
  <Value, Message>(
    check: Check<Value>,
    messageOf: (value: Value, values: RouteValues) => Message,
  ) =>
  (given: unknown, values: RouteValues): Outcome<Message> => {
    const read = check(given)
    return read.ok ? accepted(messageOf(read.value, values)) : read
  }

/** The members that the schema names, without absent ones. */
function membersOf(message: object, schema: Schema): object {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, Schema>> }
  const members = message as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      const value = members[name]
      if (value === undefined || value === null) return []
      const isMessage = typeof value === 'object' && 'properties' in member
      return [[name, isMessage ? membersOf(value, member) : value]]
    }),
  )
}
