/** The counters of payment limits (limits/usage), as a commit stores them. */
import type { Memory } from '../cache/memory.js'

/**
 * What a counter becomes when an amount is taken back. One that was damaged counts less than that:
 * below 0 its commit would fail, which stops every payment. It counts as a corrupt row instead.
 */
export function usageOf({ corruptRows }: Memory, key: string, used: bigint): bigint {
  if (used >= 0n) return used
  corruptRows.add(key)
  return 0n
}
