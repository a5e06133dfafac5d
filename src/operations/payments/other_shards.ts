/** Which instructions of a statement are payments of other shards, whose own books know them. */
import { PREFIX } from '../../base/ids.js'
import { Refused } from '../calls/calls.js'
import { connectOperator, type OperatorClient } from '../calls/operator_client.js'
import type { Context } from '../cli/command.js'

/** Calls at once. */
const BATCH_SIZE = 100

const NOT_THERE: readonly string[] = [
  'payout_not_found',
  'payment_intent_not_found',
  'invalid_request',
]

/**
 * @returns those that a shard other than the named one has
 * @throws Error when a shard does not answer
 */
export async function paymentsOfOtherShards(
  { access, clock }: Pick<Context, 'access' | 'clock'>,
  instructions: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const { among, ...named } = access
  const others = [...(among?.reached.values() ?? [])].filter((each) => each !== named.address)
  return paymentsOf(others, instructions, (address) =>
    connectOperator({ ...named, address }, clock),
  )
}

/** @returns those that one of the shards has. @throws Error when a shard does not answer */
export async function paymentsOf(
  shards: readonly string[],
  instructions: Iterable<string>,
  connect: (shard: string) => Pick<OperatorClient, 'call' | 'close'>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const shard of shards) {
    const client = connect(shard)
    const asked = [...instructions].filter((id) => !found.has(id))
    try {
      for (let start = 0; start < asked.length; start += BATCH_SIZE) {
        const batch = asked.slice(start, start + BATCH_SIZE)
        const answers = await Promise.all(batch.map((id) => isThere(client, id)))
        for (const [index, id] of batch.entries()) if (answers[index] === true) found.add(id)
      }
    } finally {
      client.close()
    }
  }
  return found
}

async function isThere(operator: Pick<OperatorClient, 'call'>, id: string): Promise<boolean> {
  try {
    if (id.startsWith(PREFIX.intent)) await operator.call('ShowIntent', { intent_id: id })
    else await operator.call('ShowPayout', { payout_id: id })
    return true
  } catch (error) {
    if (error instanceof Refused && NOT_THERE.includes(error.code)) return false
    throw error
  }
}
