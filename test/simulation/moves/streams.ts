/**
 * The command streams of a simulated processor: calls in, replies out.
 *
 * - A drain answers every call that has arrived before the last stream ends.
 */
import type { PartnerUpdate__Output } from '../../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../../protos/types/causeway/internal/v1/ProgressMark.js'

/** A call of a partner: creates an entity or a payout of its key, advances it, or reads it. */
export interface KeyedCall {
  readonly kind: 'create' | 'pay' | 'advance' | 'read'
  readonly partner: string
  readonly key: string
}

export interface Reply {
  /** Empty means that it was accepted. */
  readonly code: '' | 'not_here' | 'not_found' | 'configuration_error'
  readonly entity: string
  readonly state: number
  /** The number of restores of the partner's books before it. */
  readonly era: number
  /** Absent where the books are never set back. */
  readonly mark?: ProgressMark__Output
}

/** The gateway's end of a stream to a processor. */
export interface StreamEnds {
  announced(update: PartnerUpdate__Output): void
  draining(): void
  replied(ticket: number, reply: Reply): void
  /** The stream has ended. */
  ended(): void
}

/** The processor's end of a stream of commands. */
export interface OpenStreams {
  /** The marks that the gateway has, before its first call. */
  show(marks: readonly ProgressMark[]): void
  submit(ticket: number, call: KeyedCall): void
  /** No command follows. */
  endCommands(): void
}

interface GatewayStream {
  readonly ends: Omit<StreamEnds, 'announced'>
  unanswered: number
  isEnding: boolean
}

/** A call that has no reply yet. */
export interface Arrived {
  readonly call: KeyedCall
  reply(reply: Reply): void
}

export interface Streams {
  readonly size: number
  open(ends: Omit<StreamEnds, 'announced'>): OpenStreams
  /** Resolves when every stream has ended. */
  drain(): Promise<void>
  /** The process has ended. */
  breakOff(): void
}

export interface StreamsOptions {
  readonly submit: (arrived: Arrived) => void
  readonly shown: (marks: readonly ProgressMark[]) => void
}

export function createStreams({ submit, shown }: StreamsOptions): Streams {
  const streams = new Set<GatewayStream>()
  let isDraining = false
  let onEmpty: () => void = () => undefined

  const endAnswered = (stream: GatewayStream): void => {
    if (!stream.isEnding || stream.unanswered > 0 || !streams.delete(stream)) return
    stream.ends.ended()
    if (streams.size === 0) onEmpty()
  }
  return {
    get size() {
      return streams.size
    },
    open: (ends) => {
      const stream: GatewayStream = { ends, unanswered: 0, isEnding: false }
      streams.add(stream)
      if (isDraining) ends.draining()
      return {
        show: shown,
        submit: (ticket, call) => {
          stream.unanswered += 1
          const reply = (given: Reply): void => {
            stream.unanswered -= 1
            ends.replied(ticket, given)
            endAnswered(stream)
          }
          submit({ call, reply })
        },
        endCommands: () => {
          stream.isEnding = true
          endAnswered(stream)
        },
      }
    },
    drain: () => {
      isDraining = true
      for (const { ends } of streams) ends.draining()
      return new Promise((resolve) => {
        onEmpty = resolve
        if (streams.size === 0) resolve()
      })
    },
    breakOff: () => {
      for (const { ends } of streams) ends.ended()
      streams.clear()
    },
  }
}
