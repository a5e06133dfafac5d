/**
 * Lets the bus, the rail and the webhook pools in once the books contain what these know.
 *
 * Owns: the order of a start: nothing is sent to or taken from the bus or the rail before each of
 * those that can be reached was judged. Does not own: the judgement (recovery/marks).
 *
 * - A source that cannot be reached does not stop the start. It is judged when it connects, and
 *   again with each further connection.
 * - A source that knows more than the books is not let in; whoever holds the link asks again later.
 */
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Mark, Marks } from './marks.js'

const REACHED_WITHIN_MS = SECOND

export interface AdmissionOptions {
  readonly marks: Marks
  /** Sources that a start waits for. */
  readonly awaited: readonly string[]
  /** `late`: the service is serving already. */
  readonly onBehind: (reason: string, late: boolean) => void
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

export interface Admission {
  /** Null: the source has nothing, or does not tell. Never rejects. */
  admits(source: string, mark: Mark | null): Promise<boolean>
  /** Resolves when the awaited sources were admitted, or could not be reached in time. */
  start(): Promise<void>
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { marks, onBehind, pause, log } = options
  const awaited = new Set(options.awaited)
  let late = false
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))

  const isContained = async (source: string, mark: Mark | null): Promise<boolean> => {
    if (mark === null) return true
    try {
      const judgement = await marks.judge(mark)
      if (judgement.kind === 'behind') onBehind(judgement.reason, late)
      return judgement.kind === 'contained'
    } catch (error) {
      log.error({ err: error, source }, 'mark not judged')
      return false
    }
  }

  return {
    admits: async (source, mark) => {
      if (!(await isContained(source, mark))) return false
      awaited.delete(source)
      if (awaited.size === 0) begin()
      await begun
      return true
    },
    start: async () => {
      await Promise.race([begun, pause(REACHED_WITHIN_MS)])
      if (awaited.size > 0) log.warn({ sources: [...awaited] }, 'not reached yet, judged later')
      late = true
      begin()
    },
  }
}
