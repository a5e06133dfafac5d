/** Waits for as many iterations of the event loop. */
export async function iterations(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
