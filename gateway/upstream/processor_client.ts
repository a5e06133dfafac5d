/**
 * The one stream to the processor.
 *
 * Owns: batching, tickets, the stream's life. Does not own: what commands say, deadlines of
 * requests (server).
 *
 * - The commands of one turn of the event loop travel in one message, as far as it may hold them:
 *   a message costs far more than a command. One above gRPC's cap would break the stream.
 * - A ticket is never used again while its command waits, so a late answer cannot reach another
 *   caller.
 * - When the stream breaks, all that wait are told `configuration_error` at once: their outcome
 *   is unknown, and only their callers may repeat them.
 * - While there is no stream, and when IN_FLIGHT_MAX wait, a command is refused at once; nothing
 *   queues up here.
 * - A caller that throws harms no other one of its batch.
 * - A command that is never answered is settled as `timeout` long after its client was told so.
 */
import type { ClientDuplexStream, Metadata } from '@grpc/grpc-js'
import type { Command } from '../../protos/types/causeway/v1/Command.js'
import type { CommandBatch } from '../../protos/types/causeway/v1/CommandBatch.js'
import type { ReplyBatch__Output } from '../../protos/types/causeway/v1/ReplyBatch.js'
import type { ProtoGrpcType } from '../../protos/types/command_stream.js'
import {
  ANSWER_WITHIN_MS,
  QUEUE_MAX,
  STREAM_BATCH_MAX,
  STREAM_BATCH_MAX_BYTES,
} from '../../src/base/constants.js'
import { SECOND, type Clock, type Instant } from '../../src/base/clock.js'
import type { Logger } from '../../src/base/log.js'
import { contracts } from '../../src/base/protos.js'
import { createRetry } from '../../src/base/retry.js'
import { CHANNEL_OPTIONS, channelCredentials, REOPEN } from './channel.js'

/** Who waits for the outcome of a command. */
export interface Waiting {
  readonly startedAt: Instant
  /**
   * `code` is empty when the command was accepted; `body` is then its public JSON. Called at most
   * once.
   */
  settle(code: string, body: string, replayed: boolean): void
}

export interface ProcessorClient {
  /**
   * Takes the command over and gives it its ticket.
   *
   * @param bodyBytes of the body that the command was read from; its texts take no more
   */
  submit(command: Command, waiting: Waiting, bodyBytes?: number): void
  readonly open: boolean
  readonly inFlight: number
}

export interface StreamClient extends ProcessorClient {
  /** Resolves when the stream is open for the first time. */
  readonly opened: Promise<void>
  close(): void
}

/** More than the processor would queue can only end as 503, so it is not sent. */
const IN_FLIGHT_MAX = QUEUE_MAX
const FORGOTTEN_AFTER_MS = 2 * ANSWER_WITHIN_MS
const CONNECT_WITHIN_MS = 5 * SECOND
const TICKET_MAX = 2 ** 32 - 1

type Stream = ClientDuplexStream<CommandBatch, ReplyBatch__Output>

export interface ProcessorClientOptions {
  readonly address: string
  readonly metadata: Metadata
  readonly clock: Clock
  readonly log: Logger
}

export function createProcessorClient(options: ProcessorClientOptions): StreamClient {
  const { clock, log } = options
  const { CommandStream: RequestContext } = contracts<ProtoGrpcType>().causeway.v1
  const client = new RequestContext(options.address, channelCredentials(), CHANNEL_OPTIONS)
  const waiting = new Map<number, Waiting>()
  let stream: Stream | undefined
  let batch: Command[] = []
  let batchBytes = 0
  let lastTicket = 0
  let closed = false
  const retry = createRetry(REOPEN)
  let announce = (): void => undefined
  const opened = new Promise<void>((resolve) => (announce = resolve))

  const submit = (command: Command, caller: Waiting, bodyBytes = 0): void => {
    if (stream === undefined || waiting.size >= IN_FLIGHT_MAX) {
      return caller.settle('configuration_error', '', false)
    }
    command.ticket = nextTicket()
    waiting.set(command.ticket, caller)
    if (batchBytes + bodyBytes > STREAM_BATCH_MAX_BYTES) flush()
    batch.push(command)
    batchBytes += bodyBytes
    if (batch.length === 1) setImmediate(flush)
    else if (batch.length === STREAM_BATCH_MAX) flush()
  }

  const nextTicket = (): number => {
    do lastTicket = lastTicket === TICKET_MAX ? 1 : lastTicket + 1
    while (waiting.has(lastTicket))
    return lastTicket
  }

  const flush = (): void => {
    if (batch.length === 0 || stream === undefined) return
    stream.write({ commands: batch })
    batch = []
    batchBytes = 0
  }

  const take = ({ replies }: ReplyBatch__Output): void => {
    for (const { ticket, code, body, replayed } of replies) {
      const caller = waiting.get(ticket)
      if (caller === undefined) continue
      waiting.delete(ticket)
      tell(caller, code, body, replayed)
    }
  }

  const tell = (caller: Waiting, code: string, body: string, replayed: boolean): void => {
    try {
      caller.settle(code, body, replayed)
    } catch (error) {
      log.error({ err: error }, 'answer handler threw')
    }
  }

  const connect = (): void => {
    client.waitForReady(clock.now() + CONNECT_WITHIN_MS, (error) => {
      if (closed) return
      if (error) return connect()
      const opening: Stream = client.Open(options.metadata)
      opening.on('data', take)
      // A stream always ends with a status; the same end as an `error` needs a listener or it is
      // thrown.
      opening.on('error', () => undefined)
      opening.on('status', ({ details }) => broken(details))
      stream = opening
      announce()
    })
  }

  const broken = (details: string): void => {
    stream = undefined
    batch = []
    batchBytes = 0
    const callers = [...waiting.values()]
    waiting.clear()
    if (!closed) log.warn({ details, unanswered: callers.length }, 'the processor stream broke')
    for (const caller of callers) tell(caller, 'configuration_error', '', false)
    if (!closed) retry.schedule(connect)
  }

  const forget = (): void => {
    const before = clock.now() - FORGOTTEN_AFTER_MS
    for (const [ticket, caller] of waiting) {
      if (caller.startedAt > before) return
      waiting.delete(ticket)
      tell(caller, 'timeout', '', false)
    }
  }

  const forgetting = setInterval(forget, SECOND)
  connect()
  return {
    opened,
    submit,
    get open() {
      return stream !== undefined
    },
    get inFlight() {
      return waiting.size
    },
    close: () => {
      closed = true
      clearInterval(forgetting)
      retry.cancel()
      stream?.end()
      client.close()
    },
  }
}
