/** An operator's unary call to a processor of the trial cluster, with a deadline. */
import type { ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import { openCalls, type RpcRefusal } from '../support/rpc_calls.js'
import type { FaultContext } from './faults.js'

const actor = { reason: 'a test of faults' }

/** The answer or the refusal. */
export async function operatorCall<Answer extends object = object>(
  { operatorToken }: FaultContext,
  { address }: ClusterMember,
  rpc: string,
  request: object,
  withinMs: number,
): Promise<Answer & Partial<RpcRefusal>> {
  const { call, close } = openCalls(address, operatorToken, withinMs)
  return call<Answer>(rpc, { actor, ...request }).finally(close)
}
