/**
 * The command stream of the gateways: batches of commands in, batches of replies out.
 *
 * Does not own: partner authentication (gateway), the operations (operations), decisions
 * (commands).
 *
 * - Replies released together are sent in one message, up to the gRPC message size limit.
 * - When a gateway ends its side, the stream ends once all its commands are answered. `drain`
 *   requests that of every gateway.
 * - After a commit the next message on each stream names it, where the books can have another
 *   owner: gateways show it to that one (progress marks).
 * - When a stream breaks, its pending replies are dropped; its commands are still decided.
 * - A refusal for a partner that is not in these books is `not_here`: the command has changed
 *   nothing, and only the owner of that partner can answer. A query whose partner has left
 *   meanwhile is refused for a while: its nonce is used.
 */
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js'
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { CommandBatch__Output as CommandBatch } from '../../../protos/types/causeway/internal/v1/CommandBatch.js'
import type { CommandStreamHandlers } from '../../../protos/types/causeway/internal/v1/CommandStream.js'
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../../protos/types/causeway/internal/v1/ProgressMark.js'
import type { SignedBy__Output as WireSignedBy } from '../../../protos/types/causeway/internal/v1/SignedBy.js'
import type { Reply as WireReply } from '../../../protos/types/causeway/internal/v1/Reply.js'
import type { ReplyBatch } from '../../../protos/types/causeway/internal/v1/ReplyBatch.js'
import { STREAM_BATCH_MAX, STREAM_BATCH_MAX_BYTES } from '../../base/constants.js'
import { instant, plus, SECOND, type Clock, type Instant } from '../../base/clock.js'
import { partsOfTenant, type KeyId, type TenantId } from '../../base/ids.js'
import { readTraceparent } from '../../base/traceparent.js'
import type { Memory } from '../cache/memory.js'
import { refuse, type Answer } from '../cycle/answer.js'
import type { SignedBy, Work } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { QueryRunner } from '../queries/query.js'
import { jsonOf } from '../queries/raw_json.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import type { CallCounts } from './call_counts.js'
import { operationOf } from './operations.js'
import { requestIdIn } from './request_id.js'

type GatewayStream = ServerDuplexStream<CommandBatch, ReplyBatch>

export interface CommandStreamDependencies {
  readonly clock: Clock
  readonly memory: Pick<Memory, 'partners'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly reader: QueryRunner
  readonly pools: WebhookPools
  readonly calls: Pick<CallCounts, 'add'>
  readonly progress?: GatewayProgress | undefined
  /** Default: nothing is traced. */
  readonly isTracing?: boolean | undefined
}

/** The commits that gateways know. */
export interface GatewayProgress {
  /** The mark of the last commit on disk. */
  mark(): ProgressMark
  /** Called with what a gateway has received from this owner or earlier ones. */
  shown(marks: readonly ProgressMark__Output[]): void
}

export interface CommandStreamService {
  readonly handlers: CommandStreamHandlers
  /** Streams that are open. */
  open(): number
  /** Resolves when every stream has ended. */
  drain(): Promise<void>
}

export function commandStreamService({
  clock,
  memory,
  pipeline,
  reader,
  pools,
  calls,
  progress,
  isTracing = false,
}: CommandStreamDependencies): CommandStreamService {
  const streams = new Set<GatewayStream>()
  let isDraining = false
  let allEnded = (): void => undefined

  const isHere = (tenant: string): boolean =>
    memory.partners.has(partsOfTenant(tenant as TenantId).partner)

  const open = (stream: GatewayStream): void => {
    streams.add(stream)
    stream.sendMetadata(new Metadata()) // says that the stream is taken
    if (isDraining) stream.write(DRAINING)
    const replies = createReplyBatcher(stream, progress)
    stream.on('data', (batch: CommandBatch) => {
      if (batch.marks.length > 0) progress?.shown(batch.marks)
      const now = clock.now()
      replies.expect(batch.commands.length)
      for (const wire of batch.commands) pipeline.submit(workOf(wire, now, replies))
    })
    stream.on('error', () => replies.drop())
    stream.on('cancelled', () => replies.drop())
    stream.on('end', () => replies.endWhenAnswered())
    stream.on('close', () => {
      streams.delete(stream)
      if (streams.size === 0) allEnded()
    })
  }

  const workOf = (wire: WireCommand, now: Instant, replies: ReplyBatcher): Work => {
    const { command, query } = operationOf(wire, now, pools)
    const deadline = plus(now, wire.budget_ms)
    const send = (answer: Answer, isOurs = answer.ok || isHere(wire.tenant)): void => {
      if (isOurs) calls.add(wire.tenant, now, answer, wire.consume_nonce_only)
      replies.add(wire.ticket, isOurs ? answer : NOT_HERE, work.gatewaySpan)
    }
    const work: Work = {
      queueKey: wire.tenant as TenantId,
      command,
      origin: {
        cause: 'request',
        requestId: requestIdIn(wire.request_id),
        traceparent: isTracing ? readTraceparent(wire.traceparent) : undefined,
      },
      gatewaySpan: null,
      deadline,
      signedBy: wire.signed_by ? signatureIn(wire.signed_by) : null,
      reply: (answer) => {
        if (query === null || !answer.ok) return send(answer)
        const isAwaited = (): boolean => replies.isOpen() && clock.now() <= deadline
        const sendRead = (read: Answer): void => send(isHere(wire.tenant) ? read : LEFT, true)
        void reader.run(query(answer.view), isAwaited).then(sendRead)
      },
    }
    return work
  }

  return {
    handlers: { Open: open },
    open: () => streams.size,
    drain: () =>
      new Promise((resolve) => {
        isDraining = true
        allEnded = resolve
        for (const stream of streams) stream.write(DRAINING)
        if (streams.size === 0) resolve()
      }),
  }
}

const NOT_HERE = refuse('not_here')
const LEFT = refuse('configuration_error')
const DRAINING: ReplyBatch = { draining: true }

/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const UTF8_BYTES_PER_UNIT = 3

interface ReplyBatcher {
  isOpen(): boolean
  /** This many more commands arrived; each gets a reply. */
  expect(commands: number): void
  add(ticket: number, answer: Answer, span: Work['gatewaySpan']): void
  /** Ends the stream after the last reply that is expected. */
  endWhenAnswered(): void
  /** Drops all replies. */
  drop(): void
}

function createReplyBatcher(
  stream: GatewayStream,
  progress: GatewayProgress | undefined,
): ReplyBatcher {
  let told: ProgressMark | undefined
  let pending: WireReply[] = []
  let bytes = 0
  let isOpen = true
  let expected = 0
  let isEnding = false

  const newMark = (): { readonly mark?: ProgressMark } => {
    const mark = progress?.mark()
    if (mark === undefined || (mark.batch === told?.batch && mark.epoch === told?.epoch)) return {}
    told = mark
    return { mark }
  }

  const flush = (): void => {
    if (!isOpen) return
    if (pending.length > 0) {
      stream.write({ replies: pending, ...newMark() })
      pending = []
      bytes = 0
    }
    if (isEnding && expected === 0) {
      isOpen = false
      stream.end()
    }
  }

  return {
    isOpen: () => isOpen,
    expect: (commands) => {
      expected += commands
    },
    add: (ticket, answer, span) => {
      if (!isOpen) return
      const reply = toWire(ticket, answer)
      if (span) {
        reply.traceparent = span.traceparent
        reply.parent = span.parent
      }
      const size = (reply.body?.length ?? 0) * UTF8_BYTES_PER_UNIT
      if (pending.length === STREAM_BATCH_MAX || bytes + size > STREAM_BATCH_MAX_BYTES) flush()
      if (pending.length === 0) queueMicrotask(flush)
      pending.push(reply)
      bytes += size
      expected -= 1
    },
    endWhenAnswered: () => {
      isEnding = true
      flush()
    },
    drop: () => {
      isOpen = false
      pending = []
    },
  }
}

const signatureIn = ({ key_id, nonce, signed_at }: WireSignedBy): SignedBy => ({
  keyId: key_id as KeyId,
  nonce,
  signedAt: signed_at === NOT_GIVEN ? null : instant(signed_at * SECOND),
})
const NOT_GIVEN = 0

function toWire(ticket: number, answer: Answer): WireReply {
  if (!answer.ok) return { ticket, code: answer.code, violation: answer.violation ?? null }
  return { ticket, body: jsonOf(answer.view), replayed: answer.replayed ?? false }
}
