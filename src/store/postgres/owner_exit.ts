/**
 * How a process that owns books, or the store of a webhook pool, ends when it cannot go on: memory
 * may differ from the disk, so nothing more is answered.
 */
import { EXIT_DEPOSED, EXIT_RECOVER } from '../../process/child.js'
import type { Logger } from '../../base/log.js'
import { Deposed } from '../store.js'
import { NoAnswer } from './answers.js'

export function exitAtOnce(log: Logger, reason: string, error: unknown): void {
  log.fatal({ error }, reason)
  log.flush(() => process.exit(error instanceof Deposed ? EXIT_DEPOSED : EXIT_RECOVER))
}

/** For a store that is opened: a candidate that has no answer looks for the primary again. */
export const orExit =
  (exit: (error: NoAnswer) => void) =>
  (error: unknown): Promise<never> => {
    if (!(error instanceof NoAnswer)) throw error
    exit(error)
    return new Promise<never>(() => undefined)
  }
