/** Polling with the back-off of the partner guide: after a second, then 1.5 times as long. */
import type { CallOptions, Requester } from './request.js'

export interface PollOptions extends CallOptions {
  /** Default one minute. In an app, then show "payment in progress": never pay again. */
  readonly withinMs?: number
}

const POLL_WITHIN_MS = 60_000
const POLL_FIRST_MS = 1_000
const POLL_MAX_MS = 15_000
const POLL_FACTOR = 1.5

/** @returns the latest state; when the time is over, it need not be final */
export async function poll<T>(
  { now, random, sleep }: Requester,
  get: () => Promise<T>,
  isFinal: (latest: T) => boolean,
  { withinMs = POLL_WITHIN_MS, signal }: PollOptions,
): Promise<T> {
  const deadline = now() + withinMs
  let delay = POLL_FIRST_MS
  for (;;) {
    await sleep(delay * (0.75 + random() / 2), signal)
    const latest = await get()
    if (isFinal(latest) || now() >= deadline) return latest
    delay = Math.min(delay * POLL_FACTOR, POLL_MAX_MS)
  }
}
