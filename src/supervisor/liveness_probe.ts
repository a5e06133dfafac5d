/**
 * Whether a program that runs still works.
 *
 * Owns: asking it, and what counts as silence. Does not own: how it is asked (programs), what
 * becomes of it then (managed_process).
 *
 * - A pause, of the program or of ours, is no silence: SILENT_TIMES questions in a row are.
 */
import { SECOND } from '../base/clock.js'

export const PROBE_EVERY_MS = 5 * SECOND
const SILENT_TIMES = 3

/** @returns what ends the asking; nothing is told after it */
export function probeLiveness(
  answers: () => Promise<boolean>,
  onSilent: () => void,
  everyMs: number,
): () => void {
  let silentTimes = 0
  let ended = false
  let waiting: NodeJS.Timeout

  const probe = async (): Promise<void> => {
    silentTimes = (await answers()) ? 0 : silentTimes + 1
    if (ended) return
    if (silentTimes < SILENT_TIMES) probeLater()
    else onSilent()
  }
  const probeLater = (): void => {
    waiting = setTimeout(() => void probe(), everyMs)
  }

  probeLater()
  return () => {
    ended = true
    clearTimeout(waiting)
  }
}
