/** Waiting for what must come true, with an end. */

const LOOK_EVERY_MS = 10

/** Resolves with the first answer that is not undefined or false; throws when none came in time. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 15_000,
  everyMs = LOOK_EVERY_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`did not come true in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
