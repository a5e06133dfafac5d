/**
 * The gateways' stream: batches of commands in, batches of replies out.
 *
 * Owns: the stream. Does not own: authentication (the gateway did it), what an operation is
 * (operations), decisions.
 *
 * - Replies released together leave in one message, as far as it may hold them: gRPC's cap is
 *   never met, whatever the partners wrote.
 * - A stream that ends takes its unanswered replies with it; the commands themselves are decided
 *   all the same.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { CommandBatch__Output as CommandBatch } from '../../../protos/types/causeway/v1/CommandBatch.js'
import type { CommandStreamHandlers } from '../../../protos/types/causeway/v1/CommandStream.js'
import type { Reply as WireReply } from '../../../protos/types/causeway/v1/Reply.js'
import type { ReplyBatch } from '../../../protos/types/causeway/v1/ReplyBatch.js'
import { STREAM_BATCH_MAX, STREAM_BATCH_MAX_BYTES } from '../../base/constants.js'
import { plus, type Clock, type Instant } from '../../base/clock.js'
import type { KeyId, TenantId } from '../../base/ids.js'
import type { Answer } from '../cycle/answer.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { Reader } from '../queries/query.js'
import { jsonOf } from '../queries/raw_json.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import { admitsStream, type AuthInterceptor } from './auth_interceptor.js'
import { operationOf } from './operations.js'

type Stream = ServerDuplexStream<CommandBatch, ReplyBatch>

export interface CommandStreamDependencies {
  readonly clock: Clock
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly reader: Reader
  readonly auth: AuthInterceptor
  readonly pools: WebhookPools
}

export function commandStreamService({
  clock,
  pipeline,
  reader,
  auth,
  pools,
}: CommandStreamDependencies): CommandStreamHandlers {
  const open = (stream: Stream): void => {
    if (!admitsStream(auth, stream)) return
    const replies = gatherReplies(stream)
    const isAwaited = (deadline: Instant): boolean => replies.isOpen() && clock.now() <= deadline
    stream.on('data', (batch: CommandBatch) => {
      const now = clock.now()
      for (const wire of batch.commands) {
        const { command, query } = operationOf(wire, now, pools)
        const deadline = plus(now, wire.budget_ms)
        const reply = (answer: Answer): void => replies.add(wire.ticket, answer)
        pipeline.submit({
          queueKey: wire.tenant as TenantId,
          command,
          deadline,
          signedBy: wire.signed_by
            ? { keyId: wire.signed_by.key_id as KeyId, nonce: wire.signed_by.nonce }
            : null,
          reply: (answer) => {
            if (query === null || !answer.ok) reply(answer)
            else void reader.run(query, () => isAwaited(deadline)).then(reply)
          },
        })
      }
    })
    stream.on('error', () => replies.end())
    stream.on('end', () => {
      replies.end()
      stream.end()
    })
  }
  return { Open: open }
}

/** A UTF-16 unit takes no more than this in UTF-8. */
const BYTES_A_UNIT = 3

interface GatheredReplies {
  isOpen(): boolean
  add(ticket: number, answer: Answer): void
  end(): void
}

function gatherReplies(stream: Stream): GatheredReplies {
  let waiting: WireReply[] = []
  let bytes = 0
  let isOpen = true

  const flush = (): void => {
    if (!isOpen || waiting.length === 0) return
    stream.write({ replies: waiting })
    waiting = []
    bytes = 0
  }

  return {
    isOpen: () => isOpen,
    add: (ticket, answer) => {
      if (!isOpen) return
      const reply = toWire(ticket, answer)
      const size = (reply.body?.length ?? 0) * BYTES_A_UNIT
      if (waiting.length === STREAM_BATCH_MAX || bytes + size > STREAM_BATCH_MAX_BYTES) flush()
      if (waiting.length === 0) queueMicrotask(flush)
      waiting.push(reply)
      bytes += size
    },
    end: () => {
      isOpen = false
      waiting = []
    },
  }
}

function toWire(ticket: number, answer: Answer): WireReply {
  if (!answer.ok) return { ticket, code: answer.code }
  return { ticket, body: jsonOf(answer.view), replayed: answer.replayed ?? false }
}
