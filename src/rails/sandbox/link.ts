/**
 * One open stream of the sandbox rail.
 *
 * Owns: its flow control in both directions, its end. Does not own: who may open one, which one
 * gets the reports (server), what orders do (cycle).
 *
 * - All that is unacknowledged is told when the link opens.
 * - A link that reads too slowly is ended: it misses nothing that the next one is not told.
 * - A link that writes too fast is not read until its orders are on disk.
 */
import { status, type ServerDuplexStream } from '@grpc/grpc-js'
import type { OrderBatch__Output } from '../../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { ReportBatch } from '../../../protos/types/causeway/rail/v1/ReportBatch.js'
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { readRailInstruction } from '../instruction_reader.js'
import { createBatchingWriter } from '../batching_writer.js'
import type { RailReport } from '../rail.js'
import { writeReport } from '../report_writer.js'
import type { Cycle } from './cycle.js'

/** Some seconds of a reader that stands still. */
const REPORTS_WAITING_MAX = 20_000
const INSTRUCTIONS_IN_FLIGHT_MAX = 8_192
const FINISH_WITHIN_MS = 2 * SECOND

export type Call = ServerDuplexStream<OrderBatch__Output, ReportBatch>

export interface LinkOptions {
  readonly call: Call
  readonly cycle: Cycle
  readonly log: Logger
  /** Told once, whoever ended it. */
  readonly onClose: () => void
  readonly fail: (error: unknown) => void
}

export interface Link {
  tell(reports: readonly RailReport[]): void
  /** What comes from now on is left alone: an unknown outcome to its sender. */
  stopReading(): void
  /** Lets out what waits, then ends the stream. */
  finish(): Promise<void>
}

export function createLink({ call, cycle, log, onClose, fail }: LinkOptions): Link {
  const reports = createBatchingWriter({ sink: call, pack, bound: REPORTS_WAITING_MAX })
  let open = true
  let reading = true
  let inFlight = 0

  call.on('data', take)
  call.on('error', close)
  call.on('cancelled', close)
  call.on('end', () => {
    close()
    call.end()
  })
  sendUnacknowledged().catch((error: unknown) => {
    if (open) fail(error)
  })
  return { tell, stopReading, finish }

  function take(batch: OrderBatch__Output): void {
    if (!reading) return
    const railInstructions = batch.orders
      .map(readRailInstruction)
      .filter((railInstruction) => railInstruction !== undefined)
    const dropped = batch.orders.length - railInstructions.length
    if (dropped > 0) log.error({ dropped }, 'orders not understood')
    if (railInstructions.length === 0) return
    inFlight += railInstructions.length
    if (inFlight > INSTRUCTIONS_IN_FLIGHT_MAX) call.pause()
    void cycle.take(railInstructions, tell).then(() => {
      inFlight -= railInstructions.length
      if (inFlight <= INSTRUCTIONS_IN_FLIGHT_MAX) call.resume()
    })
  }

  function tell(given: readonly RailReport[]): void {
    if (!open || reports.push(given) === 0) return
    log.warn('link ended: it reads too slowly')
    close()
    endWith(call, status.RESOURCE_EXHAUSTED, 'reads too slowly')
  }

  async function sendUnacknowledged(): Promise<void> {
    for await (const page of cycle.unacknowledged()) {
      tell(page)
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

/** Ends a stream with a status: grpc-js sends the one of an error that the stream emits. */
export function endWith(call: Call, code: status, details: string): void {
  call.emit('error', { code, details })
}
