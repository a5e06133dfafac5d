/**
 * A partner's continuous reads through one gateway, and the pauses between their successes.
 *
 * - A read is sent every EVERY_MS, also while earlier ones have no answer, so a client's own
 *   timeout does not lengthen a pause. Its nonce is stored, so each read waits for a commit.
 */
import { pathOf } from '../support/lifecycle.js'
import type { Partner } from '../support/partner.js'
import { intentIn, requestIntent } from '../support/payments.js'

const EVERY_MS = 50
/** Bound on reads without an answer, as a pause can last minutes. */
const OPEN_MAX = 100
/** Shorter times between two successes are no pause. */
const PAUSE_FROM_MS = 2 * EVERY_MS

/** @returns once a first read has succeeded */
export async function startReadProbe(partner: Partner) {
  const path = pathOf(intentIn(await requestIntent(partner, `read probe ${Math.random()}`)).id)
  const pauses: { from: number; to: number }[] = []
  let last = performance.now()
  let lastSent = last
  let open = 0

  const read = async (): Promise<void> => {
    const sent = performance.now()
    const answer = await partner.request('GET', path).catch(() => undefined)
    if (answer?.status !== 200) return
    const now = performance.now()
    if (now - last >= PAUSE_FROM_MS) pauses.push({ from: last, to: now })
    last = now
    lastSent = Math.max(lastSent, sent)
  }
  const timer = setInterval(() => {
    if (open >= OPEN_MAX) return
    open += 1
    void read().finally(() => (open -= 1))
  }, EVERY_MS)

  return {
    /** The longest time without a success that overlaps these moments of `performance.now()`. */
    longestPause: (from: number, to: number): number =>
      [...pauses, { from: last, to: performance.now() }]
        .filter((pause) => pause.to > from && pause.from < to)
        .reduce((longest, pause) => Math.max(longest, pause.to - pause.from), 0),
    /** Whether a read that was sent after this moment has succeeded. */
    isServedSince: (moment: number): boolean => lastSent >= moment,
    stop: () => clearInterval(timer),
  }
}
