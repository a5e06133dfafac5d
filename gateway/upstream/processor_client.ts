/**
 * Client of the processor's command stream: batches commands and matches replies by ticket.
 *
 * Does not own: the meaning of commands, request deadlines (http/server.ts).
 *
 * - The commands of one event-loop iteration travel in one message of at most
 *   STREAM_BATCH_MAX_BYTES: a message costs far more than a command, and one above gRPC's limit
 *   would break the stream.
 * - When the stream breaks, every command in flight settles as `configuration_error`: its outcome
 *   is unknown, and only its caller may retry it.
 * - When the processor drains, it answers all commands sent, and this side of the stream ends after
 *   the last answer. Further commands are held for the next stream, at most HOLD_WITHIN_MS; after
 *   that they settle as `configuration_error`, unsent. They are sent once a processor takes the
 *   stream: the connection may still be that of the one that stops.
 * - Without a stream otherwise, or with IN_FLIGHT_MAX commands in flight, a command settles as
 *   `configuration_error` at once.
 * - The first message of a stream has the marks of what was answered before (progress_marks).
 * - A `settle` callback that throws does not affect the other commands of its batch.
 * - A command that is never answered settles as `timeout` after ABANDON_AFTER_MS, well after its
 *   client received a 504.
 */
import type { ClientDuplexStream, Metadata } from '@grpc/grpc-js'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import type { CommandBatch } from '../../protos/types/causeway/internal/v1/CommandBatch.js'
import type { ReplyBatch__Output } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { Reply__Output } from '../../protos/types/causeway/internal/v1/Reply.js'
import type { ProtoGrpcType } from '../../protos/types/command_stream.js'
import {
  ANSWER_WITHIN_MS,
  QUEUE_MAX,
  STREAM_BATCH_MAX,
  STREAM_BATCH_MAX_BYTES,
} from '../../src/base/constants.js'
import { SECOND, type Clock } from '../../src/base/clock.js'
import { createRenewedClient } from '../../src/grpc/renewed_client.js'
import { CLEARTEXT, type GrpcTls } from '../../src/grpc/tls.js'
import type { Logger } from '../../src/base/log.js'
import { contracts } from '../../src/grpc/contracts.js'
import { createRetry } from '../../src/base/retry.js'
import { createTickets } from '../../src/base/tickets.js'
import { readTraceparent } from '../../src/base/traceparent.js'
import type { RequestTrace } from '../http/request_context.js'
import { CHANNEL_OPTIONS, REOPEN } from './channel.js'
import type { PendingCommand } from './pending_command.js'
import { createProgressMarks, type ProgressMarks } from './progress_marks.js'
import { createHeldCommands, settleSafely, type Submit } from './held_commands.js'

export interface ProcessorClient {
  /** Sends the command with a new ticket. */
  readonly submit: Submit
  readonly open: boolean
  readonly inFlight: number
}

export interface StreamClient extends ProcessorClient {
  /** Resolves when the stream first opens. */
  readonly opened: Promise<void>
  /** Submits the commands held since the processor drained; while it drains, more are held. */
  releaseHeld(submit: Submit): void
  close(): void
}

/** The processor would answer 503 beyond its queue bound, so more is not sent. */
const IN_FLIGHT_MAX = QUEUE_MAX
const ABANDON_AFTER_MS = 2 * ANSWER_WITHIN_MS
const CONNECT_WITHIN_MS = 5 * SECOND
/** A restart of the processor takes a second or two. Shorter than ANSWER_WITHIN_MS. */
const HOLD_WITHIN_MS = 4 * SECOND
/**
 * A processor says at once that it takes a stream, one of an earlier version with its first answer:
 * it is taken as such then. Longer than a connection that is not there any more takes to fail.
 */
const TAKEN_WITHIN_MS = 2 * SECOND

type CommandStream = ClientDuplexStream<CommandBatch, ReplyBatch__Output>

export interface ProcessorClientOptions {
  readonly address: string
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
  readonly metadata: Metadata
  readonly clock: Clock
  readonly log: Logger
  /** The marks of all processors. Default: those of this one alone. */
  readonly marks?: ProgressMarks
  /** Default: HOLD_WITHIN_MS. */
  readonly holdWithinMs?: number
  /** Called whenever the stream has opened. */
  readonly onOpen?: () => void
}

/** Undefined in most replies: their requests have a trace already, or none. */
function traceIn({ traceparent, parent }: Reply__Output): RequestTrace | undefined {
  if (traceparent === '') return undefined
  const self = readTraceparent(traceparent)
  const above = readTraceparent(parent)
  return self === undefined || above === undefined ? undefined : { self, parent: above }
}

export function createProcessorClient(options: ProcessorClientOptions): StreamClient {
  const { address, tls = CLEARTEXT, clock, log, holdWithinMs = HOLD_WITHIN_MS } = options
  const { marks = createProgressMarks() } = options
  const { CommandStream } = contracts<ProtoGrpcType>('causeway/internal/v1/command_stream.proto')
    .causeway.internal.v1
  const client = createRenewedClient(
    (given) =>
      new CommandStream(address, tls.channelCredentials(address), {
        ...{ ...CHANNEL_OPTIONS, ...tls.channelOptions(address), ...given },
      }),
  )
  const inFlight = createTickets<PendingCommand>(IN_FLIGHT_MAX)
  let stream: CommandStream | undefined
  /** It is open, and the processor has not taken it yet. */
  let unused: CommandStream | undefined
  /** The processor drains it: nothing more is sent. */
  let draining: CommandStream | undefined
  let batch: Command[] = []
  let batchBytes = 0
  let closed = false
  const held = createHeldCommands(clock, log)
  /** From the drain of the processor until the next stream opens, or HOLD_WITHIN_MS. */
  let isHolding = false
  let holding: NodeJS.Timeout | undefined
  const retry = createRetry(REOPEN)
  let resolveOpened = (): void => undefined
  const opened = new Promise<void>((resolve) => (resolveOpened = resolve))

  const submit: Submit = (command, pending, bodyBytes = 0) => {
    if (isHolding && held.size + inFlight.size < IN_FLIGHT_MAX) {
      return held.add(command, pending, bodyBytes)
    }
    if (stream === undefined || inFlight.size >= IN_FLIGHT_MAX) {
      return pending.settle('configuration_error', '', false)
    }
    command.ticket = inFlight.add(pending)
    if (batchBytes + bodyBytes > STREAM_BATCH_MAX_BYTES) flush()
    batch.push(command)
    batchBytes += bodyBytes
    if (batch.length === 1) setImmediate(flush)
    else if (batch.length === STREAM_BATCH_MAX) flush()
  }

  const flush = (): void => {
    if (batch.length === 0 || stream === undefined) return
    stream.write({ commands: batch })
    batch = []
    batchBytes = 0
  }

  const applyReplies = ({ replies, draining: isDraining, mark }: ReplyBatch__Output): void => {
    if (mark !== null) marks.received(mark)
    if (isDraining) drain()
    for (const reply of replies) {
      const { ticket, code, body, replayed, violation } = reply
      const pending = inFlight.take(ticket)
      if (pending === undefined) continue
      settleSafely(log, pending, code, body, replayed, violation, traceIn(reply))
    }
    endWhenAnswered()
  }

  const drain = (): void => {
    if (stream === undefined) return
    flush()
    draining = stream
    stream = undefined
    isHolding = true
    holding = setTimeout(refuseHeld, holdWithinMs)
  }

  /**
   * The processor closes the connection when both sides have ended, and grpc-js drops the answers
   * that it has not read by then.
   */
  const endWhenAnswered = (): void => {
    if (inFlight.size > 0) return
    draining?.end()
    draining = undefined
  }

  const endHolding = (): void => {
    clearTimeout(holding)
    isHolding = false
  }

  const refuseHeld = (): void => {
    endHolding()
    held.refuse()
  }

  const connect = (): void => {
    client.current().waitForReady(clock.now() + CONNECT_WITHIN_MS, (error) => {
      if (closed) return
      if (error) return connect()
      const opening: CommandStream = client.current().Open(options.metadata)
      unused = opening
      const use = (): void => {
        clearTimeout(waiting)
        if (!closed && unused === opening) useStream(opening)
      }
      const waiting = isHolding ? setTimeout(use, TAKEN_WITHIN_MS) : undefined
      opening.on('data', applyReplies)
      // A stream always ends with a status. The same end also comes as an `error`, which throws
      // without a listener.
      opening.on('error', () => undefined)
      opening.on('status', ({ details }) => {
        clearTimeout(waiting)
        onBroken(details)
      })
      const known = marks.all()
      if (known.length > 0) opening.write({ marks: known })
      if (waiting === undefined) use()
      else opening.once('metadata', use)
    })
  }

  const useStream = (opened: CommandStream): void => {
    unused = undefined
    stream = opened
    resolveOpened()
    endHolding()
    held.releaseTo(submit)
    options.onOpen?.()
  }

  const onBroken = (details: string): void => {
    unused = undefined
    stream = undefined
    draining = undefined
    batch = []
    batchBytes = 0
    const unanswered = inFlight.takeAll()
    if (isHolding && unanswered.length === 0) log.info('processor stream drained')
    else if (!closed)
      log.warn({ reason: details, unanswered: unanswered.length }, 'processor stream broke')
    for (const pending of unanswered) {
      settleSafely(log, pending, 'configuration_error', '', false)
    }
    if (!closed) retry.schedule(connect)
  }

  const abandonOverdue = (): void => {
    const before = clock.now() - ABANDON_AFTER_MS
    for (const pending of inFlight.takeAll(({ startedAt }) => startedAt <= before)) {
      settleSafely(log, pending, 'timeout', '', false)
    }
    endWhenAnswered()
  }

  const abandoning = setInterval(abandonOverdue, SECOND)
  connect()
  return {
    opened,
    submit,
    get open() {
      return stream !== undefined
    },
    get inFlight() {
      return inFlight.size + held.size
    },
    releaseHeld: (to) => held.releaseTo(to),
    close: () => {
      closed = true
      refuseHeld()
      clearInterval(abandoning)
      retry.cancel()
      unused?.end()
      stream?.end()
      draining?.end()
      client.close()
    },
  }
}
