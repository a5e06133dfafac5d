/**
 * After the load: is it there?
 *
 * Owns: asking the stack, as a partner and as an operator, for what it acknowledged. Does not own:
 * the audit of the books (test/audit), nor what a crash would have left (make chaos).
 */
import type { Clock } from '../../src/base/clock.js'
import { toRfc3339 } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { Sandbox } from '../../src/operations/sandbox.js'
import { AMOUNT_USD_CENTS, PATH } from './create_intents.js'
import { createSigner } from './signature.js'

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

export interface Counters {
  /** Commands that the processor decided. */
  readonly commands: number
  /** Its commits, an fsync each. */
  readonly commits: number
}

export async function countersOf(opsUrl: string): Promise<Counters> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return {
    commands: sampleOf(text, 'causeway_commands_total'),
    commits: sampleOf(text, 'causeway_commits_total'),
  }
}

/** The first sample of a metric, whatever its labels. */
export function sampleOf(exposition: string, metric: string): number {
  const line = exposition
    .split('\n')
    .find((text) => text.startsWith(`${metric} `) || text.startsWith(`${metric}{`))
  if (line === undefined) throw new Error(`there is no metric ${metric}`)
  return Number(line.slice(line.lastIndexOf(' ') + 1))
}
