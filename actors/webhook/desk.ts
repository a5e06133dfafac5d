/**
 * Attends the processor's delivery desk.
 *
 * Owns: the stream and its reopening. Does not own: answers (webhook/clerk).
 *
 * D1. The pool comes to the processor, so nobody has to know where pools are, and a pool has no
 *     door of its own.
 * D2. A question is answered on the stream it came from; when that is gone nobody waits any more.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { DeliveryDeskClient } from '../../protos/types/causeway/v1/DeliveryDesk.js'
import type { DeskAnswer } from '../../protos/types/causeway/v1/DeskAnswer.js'
import type { DeskQuestion__Output as DeskQuestion } from '../../protos/types/causeway/v1/DeskQuestion.js'
import { bearer } from '../../src/base/internal_token.js'
import type { Logger } from '../../src/base/log.js'
import { createRetry, RECONNECT } from '../../src/base/retry.js'
import type { Clerk } from './clerk.js'

type Stream = ClientDuplexStream<DeskAnswer, DeskQuestion>

export interface DeskOptions {
  readonly client: DeliveryDeskClient
  readonly token: string
  readonly clerk: Clerk
  /** Which pool it is, and the event it received last. */
  readonly pool: number
  readonly lastReceived: () => Promise<string | null>
  readonly log: Logger
}

export interface AttendedDesk {
  /** Takes no further question, and finishes those that are under way. */
  leave(): Promise<void>
}

export function attendDesk(options: DeskOptions): AttendedDesk {
  const { client, token, clerk, pool, lastReceived, log } = options
  const underWay = new Set<Promise<void>>()
  let stream: Stream | undefined
  const retry = createRetry(RECONNECT)
  let left = false

  const open = (): void => {
    const opened = client.Attend(bearer(token))
    stream = opened
    opened.on('data', (question: DeskQuestion) => take(opened, question))
    opened.on('error', (fault) => lose(opened, fault.message))
    opened.on('end', () => lose(opened, 'ended by the processor'))
    void greet(opened)
  }

  /** The processor compares it with its books. */
  const greet = async (opened: Stream): Promise<void> => {
    try {
      const newest = await lastReceived()
      if (stream !== opened || left) return
      opened.write({ number: 0, greeting: { pool, newest_event: newest ?? '' } })
    } catch (error) {
      log.error({ err: error }, 'greeting failed')
    }
  }

  const take = (from: Stream, question: DeskQuestion): void => {
    if (left) return
    retry.reset()
    const work = clerk(question)
      .then((answer) => {
        if (stream === from) from.write(answer)
      })
      .finally(() => underWay.delete(work))
    underWay.add(work)
  }

  /** A stream tells of its end more than once. */
  const lose = (lost: Stream, reason: string): void => {
    if (stream !== lost || left) return
    stream = undefined
    log.debug({ reason }, 'delivery desk lost')
    retry.schedule(open)
  }

  open()
  return {
    leave: async () => {
      left = true
      retry.cancel()
      await Promise.all(underWay)
      stream?.cancel()
    },
  }
}
