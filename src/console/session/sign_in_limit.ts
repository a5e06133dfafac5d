/**
 * Bounds failed sign-ins: by client address, and of all addresses together, because a proxy or a
 * botnet hides behind either.
 *
 * - A sign-in is refused while its bucket is empty; each failure takes from it.
 * - One in progress has taken already: others that come meanwhile are not free.
 */
import { MINUTE, SECOND, type Clock } from '../../base/clock.js'

const PER_ADDRESS = 5
const IN_ALL = 50
const WINDOW_MS = MINUTE
const ADDRESSES_MAX = 10_000

export interface SignInLimit {
  /** Seconds until the next attempt is accepted. 0 means now. */
  waitSeconds(address: string): number
  /** @returns to be called if it does not fail */
  begin(address: string): () => void
}

export function createSignInLimit(clock: Clock): SignInLimit {
  let since = clock.now()
  let failures = new Map<string, number>()
  let inAll = 0

  const turn = (): void => {
    if (clock.now() - since < WINDOW_MS && failures.size < ADDRESSES_MAX) return
    since = clock.now()
    failures = new Map()
    inAll = 0
  }
  return {
    waitSeconds: (address) => {
      turn()
      if ((failures.get(address) ?? 0) < PER_ADDRESS && inAll < IN_ALL) return 0
      return Math.max(1, Math.ceil((since + WINDOW_MS - clock.now()) / SECOND))
    },
    begin: (address) => {
      turn()
      const taken = failures
      taken.set(address, (taken.get(address) ?? 0) + 1)
      inAll += 1
      return () => {
        if (taken !== failures) return
        taken.set(address, (taken.get(address) ?? 0) - 1)
        inAll -= 1
      }
    },
  }
}
