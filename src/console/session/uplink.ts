/**
 * The calls of one operator to the processors: one processor, or all shards of several.
 *
 * - The operator's token or certificate goes with each call; who may do what is decided by the
 *   processor.
 * - The shards are found again when they were last found SHARDS_FRESH_MS ago, so a page follows a
 *   shard to its next owner. A page that has begun keeps its clients until its calls have ended.
 */
import type { CallerIdentity__Output as Identity } from '../../../protos/types/causeway/operator/v1/CallerIdentity.js'
import type { ShardsDefinition } from '../../../protos/types/causeway/operator/v1/Shards.js'
import type { ProtoGrpcType as ShardsProto } from '../../../protos/types/shards.js'
import { SECOND, systemClock, type Clock } from '../../base/clock.js'
import type { GrpcTls } from '../../grpc/tls.js'
import { contracts } from '../../grpc/contracts.js'
import { processorAddresses } from '../../grpc/processor_addresses.js'
import type { Settings } from '../../settings/settings.js'
import {
  callsToOne,
  Late,
  Refused,
  type Calls,
  type OperatorAccess,
  type Shards,
} from '../../operations/calls/calls.js'
import {
  closeOperatorClients,
  connectOperatorClients,
  connectRecovery,
  type OperatorClients,
  type RecoveryClient,
} from '../../operations/calls/operator_client.js'
import { findShards } from '../../operations/calls/shards.js'

/** A page says so rather than wait for longer. */
const CALL_WITHIN_MS = 4 * SECOND
const FIND_WITHIN_MS = SECOND
const SHARDS_FRESH_MS = 2 * SECOND
/** Longer than the calls of a page or a change, one after the other. */
const REPLACED_KEPT_MS = 60 * SECOND

export interface Clients extends OperatorClients {
  readonly access: OperatorAccess
}

export interface Uplink {
  /** @throws Refused when the token is rejected */
  clients(): Promise<Clients>
  /** The next `clients` finds the shards again. */
  forgetShards(): void
  close(): void
}

export interface UplinkOptions {
  readonly settings: Pick<Settings, 'PROCESSOR_ADDRESS' | 'PROCESSORS'>
  readonly tls: GrpcTls
  readonly clock: Clock
}

/** The credential of one operator. */
export interface Credential {
  /** The operator's, or with a certificate the console's. */
  readonly token: string
  /** The operator's (DER). */
  readonly certificate?: Buffer
}

export function openUplink(
  { token, ...shown }: Credential,
  { settings, tls, clock }: UplinkOptions,
): Uplink {
  const { PROCESSOR_ADDRESS: address, PROCESSORS } = settings
  const access: OperatorAccess = {
    ...{ address, token: () => token, ...shown, tls, timeoutMs: CALL_WITHIN_MS },
  }
  let current: { readonly clients: Clients; readonly map: string; foundAt: number } | undefined
  const replaced = new Map<Clients, NodeJS.Timeout>()

  const closeReplaced = (clients: Clients): void => {
    clearTimeout(replaced.get(clients))
    replaced.delete(clients)
    closeOperatorClients(clients)
  }
  const closeLater = (clients: Clients): void => {
    const closing = setTimeout(() => closeReplaced(clients), REPLACED_KEPT_MS)
    replaced.set(clients, closing.unref())
  }

  const connect = (map: string, to: OperatorAccess): Clients => {
    if (current?.map === map) current.foundAt = clock.now()
    else {
      if (current !== undefined) closeLater(current.clients)
      current = {
        clients: { ...connectOperatorClients(to, clock), access: to },
        map,
        foundAt: clock.now(),
      }
    }
    return current.clients
  }

  return {
    clients: async () => {
      if (PROCESSORS.length === 0) return connect('', access)
      if (current !== undefined && clock.now() - current.foundAt < SHARDS_FRESH_MS) {
        return current.clients
      }
      const addresses = await processorAddresses(PROCESSORS)
      const shards = await findShards(addresses, { ...access, timeoutMs: FIND_WITHIN_MS }, clock)
      return connect(textOf(shards), { ...access, shards })
    },
    forgetShards: () => {
      if (current !== undefined) current.foundAt = -Infinity
    },
    close: () => {
      if (current !== undefined) closeOperatorClients(current.clients)
      current = undefined
      for (const clients of [...replaced.keys()]) closeReplaced(clients)
    },
  }
}

const textOf = ({ reached, missing }: Shards): string => JSON.stringify([...reached, missing])

/**
 * The operator of the credential, and clients for its calls. The owner of a shard can have changed
 * since the shards were found: they are found once more when it does not answer.
 *
 * @throws Refused when the credential is rejected, Error without an answer
 */
export async function identify(
  uplink: Uplink,
): Promise<{ readonly clients: Clients; readonly operator: Identity }> {
  const ask = async () => {
    const clients = await uplink.clients()
    return { clients, operator: await clients.callers.call('Identify', {}) }
  }
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Refused || error instanceof Late) throw error
    uplink.forgetShards()
    return ask()
  }
}

/** The processor does not accept the credential any more. */
export const isTokenRejected = (error: unknown): boolean =>
  error instanceof Refused && error.code === 'authentication_failed'

/** A call of which each shard has its own answer. @param shard empty means the only books */
export async function ofShard<T>(
  { access, recovery }: Clients,
  shard: string,
  call: (recovery: RecoveryClient) => Promise<T>,
): Promise<T> {
  const address = access.shards?.reached.get(shard)
  if (address === undefined) return call(recovery)
  const { shards: _all, ...own } = access
  const client = connectRecovery({ ...own, address }, systemClock)
  try {
    return await call(client)
  } finally {
    client.close()
  }
}

/** Every processor that answers can be asked about all shards. @throws Refused without a cluster */
export async function withShards<T>(
  { access }: Clients,
  call: (shards: Calls<ShardsDefinition>) => Promise<T>,
): Promise<T> {
  const { shards: all, ...own } = access
  const [address = access.address] = all?.reached.values() ?? []
  const { Shards: Service } = contracts<ShardsProto>().causeway.operator.v1
  const client = callsToOne(Service, { ...own, address }, systemClock)
  try {
    return await call(client)
  } finally {
    client.close()
  }
}
