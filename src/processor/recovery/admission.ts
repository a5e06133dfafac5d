/**
 * Admission of the bus, the rail and the webhook pools: each may be used once the books contain its
 * mark.
 *
 * Owns: the order of a start: nothing is sent to or received from the bus or the rail before each
 * reachable source is checked. Does not own: the comparison (recovery/marks).
 *
 * - A source that cannot be reached does not stop the start. It is checked at each connection.
 * - A source whose mark the books do not contain is not admitted; the owner of the connection
 *   retries.
 * - A mark that is refused counts as none: the source is admitted.
 */
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Behind, Mark, Marks } from './marks.js'

/** A start waits this long for the awaited sources. */
const REACHED_WITHIN_MS = SECOND

export interface AdmissionOptions {
  readonly marks: Marks
  /** Sources that a start waits for, when they can be reached. */
  readonly awaited: readonly string[]
  /** `late`: the start is complete. */
  readonly onBehind: (behind: Behind, late: boolean) => void
  readonly onRefused: (reason: string) => void
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

/** `contained`: the books have its mark. `unmarked`: it has none. `rejected`: it is not used. */
export type Admitted = 'contained' | 'unmarked' | 'rejected'

export interface Admission {
  /** A null mark: the source is empty or does not report one. Never rejects. */
  admits(source: string, mark: Mark | null): Promise<Admitted>
  /** Whether the books were compared with the source since the start, whatever the result. */
  isChecked(source: string): boolean
  /** Resolves when the awaited sources were admitted, or could not be reached in time. */
  start(): Promise<void>
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { marks, onBehind, onRefused, pause, log } = options
  const awaited = new Set(options.awaited)
  const checked = new Set<string>()
  let late = false
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))

  const compare = async (source: string, mark: Mark | null): Promise<Admitted> => {
    try {
      const result = mark === null ? null : await marks.check(mark)
      checked.add(source)
      if (result === null) return 'unmarked'
      if (result.kind === 'contained') return 'contained'
      if (result.kind === 'behind') {
        onBehind(result, late)
        return 'rejected'
      }
      onRefused(result.reason)
      return 'unmarked'
    } catch (error) {
      log.error({ error, source }, 'failed to check a mark')
      return 'rejected'
    }
  }

  return {
    admits: async (source, mark) => {
      const admitted = await compare(source, mark)
      if (admitted === 'rejected') return admitted
      awaited.delete(source)
      if (awaited.size === 0) begin()
      await begun
      return admitted
    },
    isChecked: (source) => checked.has(source),
    start: async () => {
      await Promise.race([begun, pause(REACHED_WITHIN_MS)])
      if (awaited.size > 0)
        log.warn(
          { sources: [...awaited] },
          'sources not reached; they are checked when they connect',
        )
      late = true
      begin()
    },
  }
}
