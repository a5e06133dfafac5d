/** The counters of payment limits (limits/usage), as a commit stores them. */
import type { LiveIntent, Memory } from '../cache/memory.js'
import type { CommandContext } from '../cycle/command.js'

/**
 * What a counter becomes when an amount is taken back. One that was damaged counts less than that:
 * below 0 its commit would fail, which stops every payment. It counts as a corrupt row instead.
 */
export function usageOf({ corruptRows }: Memory, key: string, used: bigint): bigint {
  if (used >= 0n) return used
  corruptRows.add(key)
  return 0n
}

/** What a payment adds to its counters. */
export function countedUsage({ state, context }: LiveIntent): bigint {
  const isCounted = state !== 'failed' && state !== 'cancelled'
  return isCounted ? BigInt(context.scanned?.quote.localMinor ?? 0) : 0n
}

/**
 * Takes an amount from a counter of a month that has ended. One that has become 0 names the user
 * for nothing: it is deleted. So is a damaged one, which was less than what it counts.
 */
export function takeUsage({ memory, batch }: CommandContext, key: string, used: bigint): void {
  const left = usageOf(memory, key, (memory.usage.get(key) ?? 0n) - used)
  memory.usage.set(key, left, batch.number)
  if (left === 0n) batch.expire({ usage: [key] })
  else batch.stage('usage', key, { key, used: left })
}
