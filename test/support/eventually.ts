/** Polling for a condition, with a deadline that a busy machine stretches. */
import { patience } from './patience.js'

const LOOK_EVERY_MS = 10

/**
 * Resolves with the first result that is neither undefined nor false.
 *
 * @param withinMs deadline on an idle machine (see patience)
 * @throws an error that names the condition when the deadline has passed
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 15_000,
  everyMs = LOOK_EVERY_MS,
): Promise<T> {
  const deadline = patience(withinMs)
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (deadline.isOver()) throw new Error(`timed out waiting for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
