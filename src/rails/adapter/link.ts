/**
 * One open stream of an adapter, with flow control in both directions.
 *
 * Does not own: authentication (server), the choice of the link that gets reports (links), deciding
 * instructions (cycle).
 *
 * - Every unacknowledged report that it takes is sent when the link opens.
 * - A link whose peer reads too slowly is ended; the next link gets the reports it missed.
 * - A link whose peer writes too fast is paused until its instructions are on disk.
 */
import { status, type ServerDuplexStream } from '@grpc/grpc-js'
import type { OrderBatch__Output } from '../../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { ReportBatch } from '../../../protos/types/causeway/rail/v1/ReportBatch.js'
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { readRailInstruction } from '../instruction_codec.js'
import { createBatchingWriter } from '../batching_writer.js'
import type { RailReport } from '../rail.js'
import type { Tracer } from '../../tracing/tracer.js'
import { recordReceipts } from './receipt_spans.js'
import { writeReport } from '../report_codec.js'
import type { Cycle } from './cycle.js'

/** A few seconds of load for a peer that has stopped reading. */
const REPORTS_WAITING_MAX = 20_000
const INSTRUCTIONS_IN_FLIGHT_MAX = 8_192
const FINISH_WITHIN_MS = 2 * SECOND

export type LinkStream = ServerDuplexStream<OrderBatch__Output, ReportBatch>

export interface LinkOptions {
  readonly call: LinkStream
  readonly cycle: Cycle
  readonly log: Logger
  /** The shards that it names. Empty if it serves any. */
  readonly shards: readonly string[]
  /** Whether this link gets the report. */
  readonly takes: (link: Link, report: RailReport) => boolean
  /** Called once. */
  readonly onClose: () => void
  readonly fail: (error: unknown) => void
  /** Undefined means that nothing is traced. */
  readonly tracer?: Tracer | undefined
}

export interface Link {
  readonly shards: readonly string[]
  /** Sends all unacknowledged reports that it takes. */
  repeat(): void
  send(reports: readonly RailReport[]): void
  /** Ignores further instructions; to their sender their outcome is unknown. */
  stopReading(): void
  /** Flushes the buffer for at most FINISH_WITHIN_MS, then ends the stream. */
  finish(): Promise<void>
}

export function createLink(options: LinkOptions): Link {
  const { call, cycle, log, shards, takes, onClose, fail, tracer } = options
  const reports = createBatchingWriter({ sink: call, pack, bound: REPORTS_WAITING_MAX })
  let open = true
  let reading = true
  let inFlight = 0

  call.on('data', receive)
  call.on('error', close)
  call.on('cancelled', close)
  call.on('end', () => {
    close()
    call.end()
  })
  const link: Link = { shards, repeat, send, stopReading, finish }
  repeat()
  return link

  function repeat(): void {
    sendUnacknowledged().catch((error: unknown) => {
      if (open) fail(error)
    })
  }

  function receive(batch: OrderBatch__Output): void {
    if (!reading) return
    const railInstructions = batch.orders
      .map(readRailInstruction)
      .filter((railInstruction) => railInstruction !== undefined)
    const dropped = batch.orders.length - railInstructions.length
    if (dropped > 0) log.error({ dropped }, 'malformed instructions dropped')
    if (railInstructions.length === 0) return
    inFlight += railInstructions.length
    if (inFlight > INSTRUCTIONS_IN_FLIGHT_MAX) call.pause()
    const startedAt = tracer?.now() ?? 0
    void cycle.submit(railInstructions, send).then(() => {
      if (tracer !== undefined) recordReceipts(tracer, railInstructions, startedAt)
      inFlight -= railInstructions.length
      if (inFlight <= INSTRUCTIONS_IN_FLIGHT_MAX) call.resume()
    })
  }

  function send(given: readonly RailReport[]): void {
    if (!open || reports.push(given) === 0) return
    log.warn('link ended: peer reads too slowly')
    close()
    endWith(call, status.RESOURCE_EXHAUSTED, 'reads too slowly')
  }

  async function sendUnacknowledged(): Promise<void> {
    for await (const page of cycle.unacknowledged()) {
      const its = page.filter((report) => takes(link, report))
      if (its.length > 0) send(its)
      await reports.empty()
      if (!open) return
    }
  }

  function stopReading(): void {
    reading = false
    call.pause()
  }

  async function finish(): Promise<void> {
    const deadline = new Promise<void>((resolve) => {
      setTimeout(resolve, FINISH_WITHIN_MS).unref()
    })
    await Promise.race([reports.empty(), deadline])
    close()
    call.end()
  }

  function close(): void {
    if (!open) return
    open = false
    reports.close()
    onClose()
  }
}

const pack = (reports: readonly RailReport[]): ReportBatch => ({
  reports: reports.map(writeReport),
})

/** Ends a stream with a status: grpc-js takes it from an `error` event of the stream. */
export function endWith(call: LinkStream, code: status, details: string): void {
  call.emit('error', { code, details })
}
