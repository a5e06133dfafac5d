/** A real server with the services of internal callers, in front of a world. */
import { status, type ServiceError } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import type { Test } from 'tap'
import { bearer } from '../../src/base/bearer.js'
import { CLEARTEXT, type GrpcTls } from '../../src/base/grpc_tls.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { contracts } from '../../src/base/protos.js'
import type { ProtoGrpcType as AccountProto } from '../../protos/types/account.js'
import type { ProtoGrpcType as BeneficiariesProto } from '../../protos/types/beneficiaries.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as FundingProto } from '../../protos/types/funding.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import type { ProtoGrpcType as EndpointsProto } from '../../protos/types/webhook_endpoints.js'
import { createQueryRunner, type QueryRunner } from '../../src/processor/queries/query.js'
import { createServer } from '../../src/processor/server.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import { createCommittedEvents } from '../../src/processor/servers/event_watch.js'
import { withEveryRole } from '../support/callers.js'
import { createWorld, RULES, type World, type WorldOptions } from '../support/world.js'

type V1 = (AccountProto &
  BeneficiariesProto &
  EventsProto &
  FundingProto &
  IntentsProto &
  PayoutsProto &
  EndpointsProto)['causeway']['v1']

export const SERVICES = [
  'PaymentIntents',
  'Payouts',
  'Beneficiaries',
  'Funding',
  'WebhookEndpoints',
  'Events',
  'Accounts',
] as const
type Clients = { readonly [Name in (typeof SERVICES)[number]]: InstanceType<V1[Name]> }

export const TOKEN = 'it_test'
export const TENANT = { partner_id: 'demo', environment: 'sandbox' }
export const META = bearer(TOKEN)

export interface PartnerServices {
  readonly world: World
  readonly address: string
  readonly clients: Clients
  /** Pages read for lists and streams. */
  reads(): number
  close(): Promise<void>
}

export async function openPartnerServices(
  t: Test,
  options: WorldOptions = {},
  tls: GrpcTls = CLEARTEXT,
): Promise<PartnerServices> {
  const events = createCommittedEvents()
  const world = await createWorld(t, { ...options, onPublished: events.committed })
  const memory = world.memory()
  const log = createLog('test', { LOG_LEVEL: 'silent' })
  let reads = 0
  const lists = createQueryRunner(
    { lists: world.store.lists, vault: world.vault, brand: RULES.brand },
    log,
  )
  const reader: QueryRunner = {
    run: (query, isAwaited) => {
      reads += 1
      return lists.run(query, isAwaited)
    },
  }
  const server = createServer(
    {
      clock: world.clock,
      memory,
      random: systemRandom(),
      pipeline: { submit: world.submit },
      reader,
    },
    withEveryRole(TOKEN),
    directoryService(memory, world.vault),
    { behind: () => [], released: () => undefined, events },
    tls,
  )
  const address = `127.0.0.1:${await server.bind('127.0.0.1:0')}`
  const { v1 } = contracts<{ causeway: { v1: V1 } }>().causeway
  const clients = Object.fromEntries(
    SERVICES.map((name) => [name, new v1[name](address, tls.channelCredentials(address))]),
  ) as unknown as Clients
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= server.close())
  t.teardown(async () => {
    for (const client of Object.values(clients)) client.close()
    await close()
  })
  return { world, address, clients, reads: () => reads, close }
}

type Done = (error: ServiceError | null, answer?: object) => void

/** The answer of one unary call, with the members that a test uses. @throws ServiceError */
export const answerOf = <Answer extends object = object>(
  start: (done: Done) => unknown,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    start((error, answer) => (error === null ? resolve(answer as Answer) : reject(error)))
  })

export interface Refusal {
  readonly status: string
  readonly code: string
  readonly reason: string
  readonly domain: string
  readonly violations: readonly { readonly field: string; readonly description: string }[]
}

/** How a call is refused, with the details of google.rpc.Status. */
export async function refusalOf(start: (done: Done) => unknown): Promise<Refusal> {
  const error = await answerOf(start).then(
    () => {
      throw new Error('not refused')
    },
    (fault: unknown) => fault as ServiceError,
  )
  const [bytes] = error.metadata.get('grpc-status-details-bin')
  const { code, message, details } = decode<Status>('Status', bytes as Buffer)
  if (code !== Number(error.code) || message !== error.details)
    throw new Error('the details differ')
  const partOf = <Part>(type: string): Part | undefined => {
    const found = details.find((any) => any.type_url === `type.googleapis.com/google.rpc.${type}`)
    return found && decode<Part>(type, found.value)
  }
  const { reason, domain } = partOf<{ reason: string; domain: string }>('ErrorInfo')!
  const bad = partOf<{ field_violations: Refusal['violations'] }>('BadRequest')
  return {
    status: status[error.code],
    code: String(error.metadata.get('causeway-error')[0]),
    reason,
    domain,
    violations: bad?.field_violations ?? [],
  }
}

interface Status {
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}

const { root } = protobuf.parse(
  `syntax = "proto3"; package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message BadRequest {
    message FieldViolation { string field = 1; string description = 2; }
    repeated FieldViolation field_violations = 1;
  }`,
  { keepCase: true },
)

const decode = <Message>(type: string, bytes: Uint8Array): Message => {
  const found = root.lookupType(`google.rpc.${type}`)
  return found.toObject(found.decode(bytes)) as Message
}
