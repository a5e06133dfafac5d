/**
 * The gRPC call that asks for the same as a request of the partner API.
 *
 * - A request that no message can carry has no such call: an unknown member, a value of another
 *   type, a timestamp that is none.
 */
import { credentials, type Client, type ServiceError } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { bearer } from '../../src/grpc/bearer.js'
import { parseDateTime } from '../../src/base/date_time.js'
import { contracts } from '../../src/grpc/contracts.js'
import type { Sandbox } from '../../src/operations/calls/sandbox.js'
import type { AnyOperation } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { loadProtoTypes } from '../support/proto_types.js'
import { refusalIn, type Refusal } from '../support/rpc_answers.js'

export interface PartnerRequest {
  readonly method: string
  /** With its parameter in braces. */
  readonly path: string
  /** The parameter as it stands in the path. */
  readonly id: string
  readonly query: Readonly<Record<string, unknown>>
  readonly key: string | undefined
  readonly body: unknown
}

export interface RpcTwin {
  /** The field of the request that holds the body. Empty means the request itself. */
  readonly root: string
  /** Whether the field of this name can be absent, as a message can and a text cannot. */
  canLack(name: string): boolean
  /** Null means that the call was accepted. */
  send(): Promise<Refusal | null>
}

const operationAt = ({ method, path }: PartnerRequest): AnyOperation | undefined =>
  Object.values(OPERATIONS).find((one) => one.method === method && one.path === path)

type Unary = (message: object, metadata: object, done: (error: ServiceError | null) => void) => void

export interface RpcTwins {
  of(request: PartnerRequest): RpcTwin | undefined
  close(): void
}

export function createRpcTwins({ grpc_address, internal_token, partner_id }: Sandbox): RpcTwins {
  const types = loadProtoTypes()
  const metadata = bearer(internal_token)
  const tenant = { partner_id, environment: 'sandbox' }
  const services = contracts<{
    causeway: { v1: Record<string, new (...args: unknown[]) => Client> }
  }>().causeway.v1
  const clients = new Map<string, Client>()
  const clientOf = (service: string): Client => {
    const known = clients.get(service)
    if (known !== undefined) return known
    const made = new services[service]!(grpc_address, credentials.createInsecure())
    clients.set(service, made)
    return made
  }
  return {
    of: (request) => {
      const [service = '', rpc = ''] = operationAt(request)?.rpc.split('.') ?? []
      if (rpc === '') return undefined
      const call = types.lookupService(`causeway.v1.${service}`).methods[rpc]!
      call.resolve()
      const type = call.resolvedRequestType!
      const message = messageOf(type, request)
      if (message === undefined) return undefined
      const client = clientOf(service) as unknown as Readonly<Record<string, Unary>>
      return {
        root: rootOf(type)?.name ?? '',
        canLack: (name) =>
          bodyTypeOf(type).fields[name]?.resolve().resolvedType instanceof protobuf.Type,
        send: () =>
          new Promise((resolve) => {
            client[rpc]!({ ...message, tenant }, metadata, (error) =>
              resolve(error === null ? null : refusalIn(error)),
            )
          }),
      }
    },
    close: () => clients.forEach((client) => client.close()),
  }
}

/** The only message beside the tenant. */
const rootOf = (type: protobuf.Type): protobuf.Field | undefined =>
  type.fieldsArray.find(
    ({ name, resolvedType }) => name !== 'tenant' && resolvedType instanceof protobuf.Type,
  )

const bodyTypeOf = (type: protobuf.Type): protobuf.Type =>
  (rootOf(type)?.resolvedType as protobuf.Type | undefined) ?? type

function messageOf(
  type: protobuf.Type,
  { path, id, query, key, body }: PartnerRequest,
): object | undefined {
  const root = rootOf(type)
  const inner = bodyTypeOf(type)
  if (body !== undefined && !isRecord(body)) return undefined
  // The HTTP parser trims the header.
  if (key !== key?.trim()) return undefined
  const [, parameter] = /\{([a-z_]+)\}/.exec(path) ?? []
  const named = { ...query, ...body }
  const given = Object.entries({
    ...named,
    ...(parameter === undefined ? {} : { [parameter]: id }),
    ...(key === undefined || !('idempotency_key' in inner.fields) ? {} : { idempotency_key: key }),
  })
  // A name that the path or a header uses is unknown in a body.
  if (Object.keys(named).some((name) => name === parameter || name === 'idempotency_key'))
    return undefined
  const members: [string, unknown][] = given.map(([name, value]) => [
    name,
    asField(fieldOf(inner, name), value),
  ])
  if (members.some(([, value]) => value === undefined)) return undefined
  const message = Object.fromEntries(members)
  return root === undefined ? message : { [root.name]: message }
}

/** A caller's name can be one that every object inherits. */
const fieldOf = ({ fields }: protobuf.Type, name: string): protobuf.Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** The value as the field carries it; undefined when it cannot. */
function asField(field: protobuf.Field | undefined, value: unknown): unknown {
  if (field === undefined || value === null) return undefined
  field.resolve()
  const { resolvedType } = field
  if (field instanceof protobuf.MapField) {
    const isTexts = isRecord(value) && Object.values(value).every((each) => isText(each))
    return isTexts ? value : undefined
  }
  if (field.repeated) return Array.isArray(value) && value.every(isText) ? value : undefined
  if (resolvedType instanceof protobuf.Type) {
    if (resolvedType.name === 'EventFilter')
      return Array.isArray(value) && value.every(isText) ? { types: value } : undefined
    if (!isRecord(value)) return undefined
    const members = Object.entries(value).map(([name, member]) => [
      name,
      asField(fieldOf(resolvedType, name), member),
    ])
    return members.some(([, member]) => member === undefined)
      ? undefined
      : Object.fromEntries(members)
  }
  switch (field.type) {
    case 'string':
      // `qr_payload` and the like are texts; an amount may also be a number there.
      return isText(value) ? value : undefined
    case 'bool':
      return typeof value === 'boolean' ? value : undefined
    case 'uint32':
      return uint32Of(value)
    case 'int64':
      return int64Of(field.name, value)
    default:
      return undefined
  }
}

/** UTF-8 without lone surrogates. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && !/[\ud800-\udfff]/u.test(value)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A number, or its digits in a query. */
function uint32Of(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value
  const fits =
    typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < 2 ** 32
  // `007` is a number here and no limit in a query.
  return fits && String(number) === String(value) ? number : undefined
}

/** A moment in milliseconds, or a number of an event. */
function int64Of(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (name === 'after') return /^[0-9]{1,18}$/.test(value) ? value : undefined
  const moment = parseDateTime(value)
  return moment?.ns === 0 ? String(moment.ms) : undefined
}
