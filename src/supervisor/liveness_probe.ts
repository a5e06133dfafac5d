/**
 * Liveness probe of a running program.
 *
 * - One missed reply may be a pause of the program or of this process; FAILURE_THRESHOLD in a row
 *   count as a failure.
 */
import { SECOND } from '../base/clock.js'

export const PROBE_INTERVAL_MS = 5 * SECOND
const FAILURE_THRESHOLD = 3

/** @returns a function that stops the probe; `onFailed` is not called after it */
export function probeLiveness(
  isAlive: () => Promise<boolean>,
  onFailed: () => void,
  intervalMs: number,
): () => void {
  let failures = 0
  let ended = false
  let timer: NodeJS.Timeout

  const probe = async (): Promise<void> => {
    failures = (await isAlive()) ? 0 : failures + 1
    if (ended) return
    if (failures < FAILURE_THRESHOLD) probeNext()
    else onFailed()
  }
  const probeNext = (): void => {
    timer = setTimeout(() => void probe(), intervalMs)
  }

  probeNext()
  return () => {
    ended = true
    clearTimeout(timer)
  }
}
