/** Client of the Reconciliation service: streams the booked movements. */
import type { ServiceError } from '@grpc/grpc-js'
import type { ConcludeRequest } from '../../../protos/types/causeway/operator/v1/ConcludeRequest.js'
import type { Movement__Output as Movement } from '../../../protos/types/causeway/operator/v1/Movement.js'
import type { MovementPage__Output as MovementPage } from '../../../protos/types/causeway/operator/v1/MovementPage.js'
import type { ProtoGrpcType } from '../../../protos/types/reconciliation.js'
import { instant, type Clock } from '../../base/clock.js'
import { CLEARTEXT } from '../../grpc/tls.js'
import type { MovementKind } from '../../base/movements.js'
import { contracts } from '../../grpc/contracts.js'
import type { BookedMovement, Period } from '../../reconciliation/movement.js'
import type { BookedSource } from '../../reconciliation/reconcile.js'
import type { Actor } from '../cli/actor.js'
import { CALL_TIMEOUT_MS, credentialsOf, faultOf, type OperatorAccess } from '../calls/calls.js'

export interface ReconciliationClient extends BookedSource {
  /** The rail of each booking of the period. */
  railsDuring(period: Period): AsyncIterable<string>
  /** @throws Refused, or Error when the call fails */
  conclude(request: ConcludeRequest): Promise<void>
  close(): void
}

/**
 * @param rail only its bookings; undefined for those of all rails
 * @throws Error while a shard is missing: its bookings would all be findings
 */
export function connectReconciliation(
  access: OperatorAccess,
  actor: Actor,
  clock: Clock,
  rail?: string,
): ReconciliationClient {
  // The bank's statement has the payments of all shards.
  const shards = access.among ?? access.shards
  if (shards === undefined) return connectToOne(access, actor, clock, rail)
  if (shards.missing.length > 0) {
    throw new Error(`This needs every shard: ${shards.missing.join(', ')} did not answer.`)
  }
  const clients = [...shards.reached.values()].map((address) =>
    connectToOne({ ...access, address }, actor, clock, rail),
  )
  return {
    during: async function* (period) {
      for (const client of clients) yield* client.during(period)
    },
    railsDuring: async function* (period) {
      for (const client of clients) yield* client.railsDuring(period)
    },
    of: async (instructions) =>
      (await Promise.all(clients.map((client) => client.of(instructions)))).flat(),
    conclude: async (request) => {
      for (const client of clients) await client.conclude(request)
    },
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

function connectToOne(
  access: OperatorAccess,
  actor: Actor,
  clock: Clock,
  rail: string | undefined,
): ReconciliationClient {
  const { address, tls = CLEARTEXT } = access
  const bookedIn = ({ data }: MovementPage): BookedMovement[] =>
    data.filter((movement) => rail === undefined || movement.rail === rail).map(toBooked)
  const { Reconciliation } = contracts<ProtoGrpcType>().causeway.operator.v1
  const client = new Reconciliation(
    address,
    tls.channelCredentials(address),
    tls.channelOptions(address),
  )
  const metadata = credentialsOf(access)
  const deadline = (): { deadline: number } => ({ deadline: clock.now() + CALL_TIMEOUT_MS })
  const pages = async function* ({ from, to }: Period): AsyncIterable<MovementPage> {
    const stream = client.Movements({ actor, from, to }, metadata)
    try {
      yield* stream as AsyncIterable<MovementPage>
    } catch (error) {
      throw faultOf(error as ServiceError, address)
    }
  }

  return {
    during: async function* (period) {
      for await (const page of pages(period)) yield bookedIn(page)
    },
    railsDuring: async function* (period) {
      for await (const { data } of pages(period)) yield* data.map(({ rail: of }) => of)
    },
    of: (instructions) =>
      new Promise((resolve, reject) => {
        const request = { instruction_ids: [...instructions] }
        client.MovementsOf(request, metadata, deadline(), (error, page) => {
          if (page === undefined) reject(faultOf(error, address))
          else resolve(bookedIn(page))
        })
      }),
    conclude: (request) =>
      new Promise((resolve, reject) => {
        client.Conclude({ ...request, actor }, metadata, deadline(), (error) => {
          if (error === null) resolve()
          else reject(faultOf(error, address))
        })
      }),
    close: () => client.close(),
  }
}

const toBooked = (movement: Movement): BookedMovement => ({
  id: movement.id,
  instruction: movement.instruction_id,
  movement: movement.movement as MovementKind,
  currency: movement.currency,
  amount: BigInt(movement.amount),
  at: instant(Number(movement.booked_at)),
  undone: movement.undone,
})
