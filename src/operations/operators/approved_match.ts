/**
 * After the approval of a match, which only the shard of the payment has made: the other shards of
 * the cluster that lack the execution dismiss it, as for a match that needs no approval.
 *
 * - The approval is made whatever comes of this: what is left to do is a line of its report.
 */
import type { ApprovedRequest__Output as Approved } from '../../../protos/types/causeway/operator/v1/ApprovedRequest.js'
import type { Actor } from '../cli/actor.js'
import type { OperatorClients } from '../calls/operator_client.js'
import { missingShardsIn } from '../calls/shards.js'

/** @returns what is left to do */
export async function dismissElsewhere(
  recovery: OperatorClients['recovery'],
  actor: Actor,
  { request, orphan }: Approved,
): Promise<readonly string[]> {
  const { instruction_id = '', matched_to: payment_id } = orphan ?? {}
  if (request === null || payment_id === undefined) return []
  const left = (why: string): string[] => [
    `NOT DISMISSED in other shards: ${why}`,
    `Repeat: recovery resolve ${instruction_id} --match ${payment_id} --evidence TEXT`,
  ]
  const { evidence = '' } = JSON.parse(request.arguments) as { readonly evidence?: string }
  const match = { actor, instruction_id, resolution: 'matched', payment_id, evidence }
  try {
    // The same match again changes nothing where it is made.
    const missing = missingShardsIn(await recovery.call('ResolveOrphan', match))
    return missing.length === 0 ? [] : left(`${missing.join(', ')} did not answer.`)
  } catch (error) {
    return left(error instanceof Error ? error.message : String(error))
  }
}
