/** A payment that the books do not have may have left them for an archive: the answer names it. */
import { Refused } from '../calls/calls.js'
import type { OperatorClients } from '../calls/operator_client.js'

const NOT_FOUND: readonly string[] = ['payout_not_found', 'payment_intent_not_found']

/** @throws Error with the path of the archive, or what the call throws */
export async function unlessArchived<Answer>(
  { operator }: Pick<OperatorClients, 'operator'>,
  id: string,
  call: Promise<Answer>,
): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof Refused) || !NOT_FOUND.includes(error.code)) throw error
    const { data } = await operator.call('Find', { text: id })
    const archive = data.find((found) => found.id === id)?.archive
    if (archive === undefined) throw error
    throw new Error(`${id} has left the books for the archive ${archive}.`)
  }
}
