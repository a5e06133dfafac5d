/**
 * Polling for a condition, with a deadline that a busy machine stretches.
 *
 * The longer it lasts, the rarer the looks: most ask a whole stack, which shares the cores with
 * what is waited for.
 */
import { patience } from './patience.js'

const LOOK_FROM_MS = 10
const LOOK_TO_MS = 100
/** A wait lasts longer by at most this part of it. */
const LATE_BY_AT_MOST = 1 / 8

/**
 * Resolves with the first result that is neither undefined nor false.
 *
 * @param withinMs deadline on an idle machine (see patience)
 * @param everyMs fixed, for a look that drives what it waits for
 * @throws an error that names the condition when the deadline has passed
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 15_000,
  everyMs?: number,
): Promise<T> {
  const deadline = patience(withinMs)
  const began = performance.now()
  const growing = (): number => (performance.now() - began) * LATE_BY_AT_MOST
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (deadline.isOver()) throw new Error(`timed out waiting for: ${what}`)
    const pause = everyMs ?? Math.max(LOOK_FROM_MS, Math.min(LOOK_TO_MS, growing()))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
