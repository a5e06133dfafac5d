/**
 * The pool's connection to a processor's control stream.
 *
 * Does not own: responses (control/control_handler).
 *
 * - The pool connects to the processor, so pools need no listening port and no discovery.
 * - A response goes to the stream of its request, or nowhere once that stream is closed.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { WebhookControlClient } from '../../../protos/types/causeway/internal/v1/WebhookControl.js'
import type { ControlResponse } from '../../../protos/types/causeway/internal/v1/ControlResponse.js'
import type { ControlRequest__Output as ControlRequest } from '../../../protos/types/causeway/internal/v1/ControlRequest.js'
import { bearer } from '../../../src/grpc/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import { createRetry, RECONNECT } from '../../../src/base/retry.js'
import type { TenantEvent } from '../store/store.js'
import type { ControlHandler } from './control_handler.js'

type ProcessorStream = ClientDuplexStream<ControlResponse, ControlRequest>

export interface ControlStreamOptions {
  /** Asked for each stream: its channel may have been opened again. */
  readonly client: () => WebhookControlClient
  readonly token: string
  readonly handle: ControlHandler
  /** The pool's number and the event it received last, of the processor's tenants. */
  readonly pool: number
  readonly lastReceived: () => Promise<TenantEvent | null>
  readonly log: Logger
}

export interface ControlStream {
  /** Ignores further requests and finishes those in progress. */
  close(): Promise<void>
}

export function openControlStream(options: ControlStreamOptions): ControlStream {
  const { client, token, handle, pool, lastReceived, log } = options
  const pending = new Set<Promise<void>>()
  let stream: ProcessorStream | undefined
  const retry = createRetry(RECONNECT)
  let closed = false

  const open = (): void => {
    const opened = client().Connect(bearer(token))
    stream = opened
    opened.on('data', (request: ControlRequest) => take(opened, request))
    opened.on('error', (fault) => lose(opened, fault.message))
    opened.on('end', () => lose(opened, 'ended by the processor'))
    void greet(opened)
  }

  /** The processor compares the pool's newest event with its own. */
  const greet = async (opened: ProcessorStream): Promise<void> => {
    try {
      const newest = await lastReceived()
      if (stream !== opened || closed) return
      const { id = '', tenant = '' } = newest ?? {}
      opened.write({ number: 0, greeting: { pool, newest_event: id, tenant } })
    } catch (error) {
      log.error({ error }, 'the newest stored event could not be reported to the processor')
    }
  }

  const take = (from: ProcessorStream, request: ControlRequest): void => {
    if (closed) return
    retry.reset()
    const work = handle(request)
      .then((answer) => {
        if (stream === from) from.write(answer)
      })
      .catch((error: unknown) => log.error({ error }, 'control response not sent'))
      .finally(() => pending.delete(work))
    pending.add(work)
  }

  /** A stream reports its end more than once. */
  const lose = (lost: ProcessorStream, reason: string): void => {
    if (stream !== lost || closed) return
    stream = undefined
    log.debug({ reason }, 'control stream lost')
    retry.schedule(open)
  }

  open()
  return {
    close: async () => {
      closed = true
      retry.cancel()
      await Promise.all(pending)
      stream?.cancel()
    },
  }
}
