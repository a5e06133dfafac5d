/** A real server with the services of internal callers, in front of a world. */
import type { ClientUnaryCall, Metadata, requestCallback } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { bearer } from '../../src/grpc/bearer.js'
import { CLEARTEXT, type GrpcTls } from '../../src/grpc/tls.js'
import { systemRandom } from '../../src/base/random.js'
import { contracts } from '../../src/grpc/contracts.js'
import type { ProtoGrpcType as AccountProto } from '../../protos/types/account.js'
import type { ProtoGrpcType as BeneficiariesProto } from '../../protos/types/beneficiaries.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as FundingProto } from '../../protos/types/funding.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import type { ProtoGrpcType as EndpointsProto } from '../../protos/types/webhook_endpoints.js'
import type { QueryRunner } from '../../src/processor/queries/query.js'
import { NO_STATEMENTS } from '../../src/processor/recovery/statement_check.js'
import { createServer } from '../../src/processor/server.js'
import type { Placements } from '../../src/processor/servers/placed_call.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import { createCommittedEvents } from '../../src/processor/servers/event_watch.js'
import { queriesOf } from './scenarios.js'
import { withEveryRole } from '../support/callers.js'
import { answerOf, type Done } from '../support/rpc_answers.js'
import { createWorld, type World, type WorldOptions } from '../support/world.js'

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
/** Unary rpcs as promises, with the token. */
type Calls<Client> = {
  readonly [Rpc in keyof Client]: Client[Rpc] extends (
    request: infer Request,
    done: requestCallback<infer Answer>,
  ) => ClientUnaryCall
    ? (request: Request) => Promise<Answer>
    : never
}
type Clients = { readonly [Name in (typeof SERVICES)[number]]: InstanceType<V1[Name]> }

export const TOKEN = 'it_test'
export const TENANT = { partner_id: 'demo', environment: 'sandbox' }
export const META = bearer(TOKEN)

export interface PartnerServices {
  readonly world: World
  readonly address: string
  readonly clients: Clients
  readonly calls: { readonly [Name in keyof Clients]: Calls<Clients[Name]> }
  /** Pages read for lists and streams. */
  reads(): number
  close(): Promise<void>
}

type UnaryCall = (request: object, metadata: Metadata, done: Done) => ClientUnaryCall

const callsOf = (client: object): object =>
  new Proxy(client as Readonly<Record<string, UnaryCall>>, {
    get: (rpcs, name: string) => (request: object) =>
      answerOf((done) => rpcs[name]!(request, META, done)),
  })

export async function openPartnerServices(
  t: Test,
  options: WorldOptions = {},
  tls: GrpcTls = CLEARTEXT,
  placements?: Placements,
): Promise<PartnerServices> {
  const events = createCommittedEvents()
  const world = await createWorld(t, { ...options, onPublished: events.committed })
  const memory = world.memory()
  let reads = 0
  const lists = queriesOf(world)
  const reader: QueryRunner = {
    run: (query, isAwaited) => {
      reads += 1
      return lists.run(query, isAwaited)
    },
  }
  const server = createServer(
    { clock: world.clock, memory, random: systemRandom(), pipeline: world, reader },
    withEveryRole(TOKEN),
    directoryService(memory, world.vault),
    {
      ...{ behind: () => [], isBusChecked: () => true, released: () => undefined },
      ...{ statements: NO_STATEMENTS, events, placements },
    },
    tls,
  )
  const address = `127.0.0.1:${await server.bind('127.0.0.1:0')}`
  const { v1 } = contracts<{ causeway: { v1: V1 } }>().causeway
  const clients = Object.fromEntries(
    SERVICES.map((name) => [name, new v1[name](address, tls.channelCredentials(address))]),
  ) as unknown as Clients
  const calls = Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [name, callsOf(client)]),
  ) as unknown as PartnerServices['calls']
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= server.close())
  t.teardown(async () => {
    for (const client of Object.values(clients)) client.close()
    await close()
  })
  return { world, address, clients, calls, reads: () => reads, close }
}
