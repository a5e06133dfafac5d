/**
 * Finds the shards of a cluster for the CLI: every processor reports the shard that it owns.
 *
 * - A shard that no processor owns is missing. Lists name it and exit with 1, because a list
 *   without it would mislead.
 * - Without a list of shards, a processor that does not answer is named instead.
 */
import type { OwnShard__Output as OwnShard } from '../../../protos/types/causeway/operator/v1/OwnShard.js'
import type { ProtoGrpcType } from '../../../protos/types/shards.js'
import { SECOND, type Clock } from '../../base/clock.js'
import { contracts } from '../../grpc/contracts.js'
import { callsToOne, Refused, type OperatorAccess, type Shards } from './calls.js'

/** A processor that does not say by then what it owns is left out of the command. */
const SHOWN_WITHIN_MS = 2 * SECOND

/** The member of an answer that lacks shards. */
export const MISSING_SHARDS = 'missing_shards'

export const missingShardsIn = (answer: object): readonly string[] =>
  (answer as { readonly [MISSING_SHARDS]?: readonly string[] })[MISSING_SHARDS] ?? []

/** @throws Refused when a processor rejects the operator */
export async function findShards(
  addresses: readonly string[],
  access: Omit<OperatorAccess, 'address'>,
  clock: Clock,
): Promise<Shards> {
  const asked = await Promise.all(
    addresses.map(async (address) => ({ address, own: await ownShard(address, access, clock) })),
  )
  const reached = new Map<string, { address: string; epoch: number }>()
  const names = new Set<string>()
  for (const { address, own } of asked) {
    if (own === null) continue
    for (const name of own.shards) names.add(name)
    // Books outside of a cluster are named by the address of their processor.
    const name = own.shards.length === 0 ? own.shard || address : own.shard
    if (name === '') continue
    const epoch = Number(own.epoch)
    if (epoch >= (reached.get(name)?.epoch ?? 0)) reached.set(name, { address, epoch })
  }
  const silent = asked.filter(({ own }) => own === null).map(({ address }) => address)
  const missing = names.size === 0 ? silent : [...names].filter((name) => !reached.has(name))
  const found = [...reached].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    reached: new Map(found.map(([name, { address }]) => [name, address])),
    missing: missing.sort(),
    isCluster: names.size > 0,
  }
}

async function ownShard(
  address: string,
  access: Omit<OperatorAccess, 'address'>,
  clock: Clock,
): Promise<OwnShard | null> {
  const { Shards } = contracts<ProtoGrpcType>().causeway.operator.v1
  const own = { ...access, address, timeoutMs: SHOWN_WITHIN_MS }
  const client = callsToOne(Shards, own, clock)
  try {
    return await client.call('Show', {})
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  } finally {
    client.close()
  }
}
