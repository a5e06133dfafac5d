/**
 * Signed requests that are sent again through every gateway, also long after their answer: each is
 * accepted once, whatever owner the shard has by then.
 */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { signOnce, type RepeatedRequest } from '../history/signed_requests.js'
import type { Partner } from '../support/partner.js'
import type { CheckedClient } from '../workload/checked_client.js'
import { startLoop } from '../workload/loop.js'

/** Older ones are refused for their timestamp, accepted or not. */
const KEPT_MS = 120_000
const KEPT = 40
const NEXT_AFTER_MS = 100

/** @param call makes one call; others do so to hold calls back */
export function startNonceReplays(
  name: string,
  partner: Partner,
  baseUrls: readonly string[],
  random: SeededRandom,
  call: <T>(send: () => Promise<T>) => Promise<T>,
): CheckedClient {
  const violations: string[] = []
  const kept: RepeatedRequest[] = []
  let sent = 0
  let requests = 0

  const send = (request: RepeatedRequest): Promise<unknown> => {
    sent += 1
    return request.send(random.pick(baseUrls))
  }
  const check = (given: readonly RepeatedRequest[]): void => {
    for (const request of given) violations.push(...request.faults())
  }

  const loop = startLoop(async () => {
    const fresh = signOnce(`${name}: a signed request`, partner, {
      surprises: violations,
      isLimited: true,
      make: call,
    })
    requests += 1
    kept.push(fresh)
    await send(fresh)
    const isOld = ({ signedAt }: RepeatedRequest): boolean => performance.now() - signedAt > KEPT_MS
    const old = kept.filter((each, index) => isOld(each) || index < kept.length - KEPT)
    check(old)
    for (const each of old) kept.splice(kept.indexOf(each), 1)
    if (kept.length > 0) await send(random.pick(kept)) // its answer can take longer than KEPT_MS
  }, NEXT_AFTER_MS)
  return {
    violations,
    checked: () => `${requests} nonces sent ${sent} times`,
    stop: async () => {
      await loop.stop()
      check(kept)
    },
  }
}
