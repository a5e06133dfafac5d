/**
 * After the load: is it there?
 *
 * Owns: asking the stack, as a partner, for what it acknowledged. Does not own: counting all of it
 * (accounts).
 */
import type { Clock } from '../../../src/base/clock.js'
import { toRfc3339 } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import type { Sandbox } from '../../../src/operations/sandbox.js'
import { AMOUNT_USD_CENTS, PATH } from '../scenarios/create_intents.js'
import { createSigner } from '../client/signature.js'

export interface ReadBackOptions {
  readonly sandbox: Sandbox
  readonly clock: Clock
  readonly random: Random
}

const NONCE_BYTES = 32

/** What is wrong with these intents, in words; empty when all are as they were acknowledged. */
export async function readBack(
  intentIds: readonly string[],
  { sandbox, clock, random }: ReadBackOptions,
): Promise<string[]> {
  const sign = createSigner(sandbox.signing_secret)
  const faults: string[] = []
  for (const id of intentIds) {
    const path = `${PATH}/${id}`
    const timestamp = toRfc3339(clock.now())
    const nonce = random.bytes(NONCE_BYTES).toString('hex')
    const response = await fetch(`${sandbox.base_url}${path}`, {
      headers: {
        'X-Service-Key-Id': sandbox.key_id,
        'X-Service-Timestamp': timestamp,
        'X-Service-Nonce': nonce,
        'X-Service-Signature': sign({ method: 'GET', path, timestamp, nonce, body: '' }),
      },
    })
    const intent = (await response.json()) as Readonly<Record<string, unknown>>
    const isThere =
      response.status === 200 &&
      intent['intent_id'] === id &&
      intent['status'] === 'created' &&
      intent['amount_usd_cents'] === AMOUNT_USD_CENTS
    if (!isThere) faults.push(`${id} was acknowledged and is now: ${response.status}`)
  }
  return faults
}
