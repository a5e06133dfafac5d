/**
 * Signed requests that are sent again through every gateway, also long after their answer: each is
 * accepted once, whatever owner the shard has by then.
 */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { createRecorder, type Recorder } from '../history/history.js'
import { signedRequest } from '../history/models.js'
import { faultsOf } from '../history/race.js'
import type { Partner } from '../support/partner.js'
import { sendOnce, type Headers } from '../support/raw_requests.js'
import type { CheckedClient } from '../workload/checked_client.js'
import { startLoop } from '../workload/loop.js'

/** Older ones are refused for their timestamp, accepted or not. */
const KEPT_MS = 120_000
const KEPT = 40
const NEXT_AFTER_MS = 100
const PATH = '/v1/balances'

interface Signed {
  readonly headers: Headers
  readonly signedAt: number
  readonly recorder: Recorder<'send', 'accepted' | 'refused'>
}

/** @param call makes one call; others do so to hold calls back */
export function startNonceReplays(
  name: string,
  partner: Partner,
  baseUrls: readonly string[],
  random: SeededRandom,
  call: <T>(send: () => Promise<T>) => Promise<T>,
): CheckedClient {
  const violations: string[] = []
  const kept: Signed[] = []
  let sent = 0
  let requests = 0

  const sign = (): Signed => ({
    headers: Object.entries(partner.sign('GET', PATH, '').headers),
    signedAt: performance.now(),
    recorder: createRecorder(),
  })
  const send = ({ headers, recorder }: Signed) =>
    recorder.record('send', async () => {
      sent += 1
      const request = { method: 'GET', path: PATH, headers }
      const { status, text } = await call(() => sendOnce(random.pick(baseUrls), request))
      if (status >= 500 || status === 429) return undefined
      if (status !== 200 && status !== 401) violations.push(`${name}: ${status} ${text}`)
      return status === 200 ? 'accepted' : 'refused'
    })
  const check = (given: readonly Signed[]): void => {
    for (const { recorder } of given)
      violations.push(...faultsOf(`${name}: a signed request`, signedRequest, recorder.operations))
  }

  const loop = startLoop(async () => {
    const fresh = sign()
    requests += 1
    kept.push(fresh)
    await send(fresh)
    const isOld = ({ signedAt }: Signed): boolean => performance.now() - signedAt > KEPT_MS
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
