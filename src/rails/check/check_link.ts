/**
 * One link to the adapter under check: what it sent and what was reported on it.
 *
 * - Only reports about instructions of this run are acknowledged: a processor waits for others.
 * - Waiting ends with a Violation when the deadline passes or the adapter ends the link.
 */
import { status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js'
import type { Order } from '../../../protos/types/causeway/rail/v1/Order.js'
import type { OrderBatch } from '../../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { ReportBatch__Output } from '../../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { Report__Output } from '../../../protos/types/causeway/rail/v1/Report.js'
import { SECOND } from '../../base/clock.js'

export type LinkCall = ClientDuplexStream<OrderBatch, ReportBatch__Output>
export type Reported = Report__Output

/** The adapter broke the rule of the line. The message says what was seen. */
export class Violation extends Error {
  override name = 'Violation'
}

const ENDED_WITHIN_MS = 2 * SECOND
const LOOK_EVERY_MS = 50

/** How long the kit waits for something. */
export interface Deadline {
  isOver(): boolean
}

export interface CheckLinkOptions {
  readonly call: LinkCall
  /** A new one for each wait. */
  readonly deadline: () => Deadline
  /** Whether reports about this instruction stay unacknowledged. Default: none does. */
  readonly keeps?: (id: string) => boolean
  readonly isOfThisRun: (id: string) => boolean
  /** Gets every report about an instruction of this run. */
  readonly observe: (report: Reported) => void
}

export interface CheckLink {
  /** One message. Resolves when the transport has it. */
  send(...orders: readonly Order[]): Promise<void>
  /** The reports about an instruction, in order. */
  about(id: string | undefined): readonly Reported[]
  /** The first result that is neither undefined nor false. */
  until<Found>(what: string, find: () => Found | undefined | false): Promise<Found>
  /** The first report about the instruction with this status. */
  report(id: string | undefined, wanted: string): Promise<Reported>
  /** Resolves with the code of the fault with which the adapter ends the link. */
  ended(): Promise<status>
  /** Ends the link in order. */
  close(): Promise<void>
  /** Cuts it: what is under way in either direction is lost. */
  cut(): void
}

export function createCheckLink(options: CheckLinkOptions): CheckLink {
  const { call, deadline, keeps = () => false, isOfThisRun, observe } = options
  const received = new Map<string, Reported[]>()
  const watchers = new Set<() => void>()
  let fault: ServiceError | undefined
  let over = false

  call.on('data', receive)
  call.on('error', (error: ServiceError) => {
    fault = error
    end()
  })
  call.on('end', end)
  return { send, about, until, report, ended, close, cut: () => call.cancel() }

  function receive({ reports }: ReportBatch__Output): void {
    const own = reports.filter(({ id }) => isOfThisRun(id))
    for (const each of own) {
      observe(each)
      const before = received.get(each.id)
      if (before === undefined) received.set(each.id, [each])
      else before.push(each)
    }
    acknowledge(own.filter(({ id }) => !keeps(id)))
    notify()
  }

  function acknowledge(reports: readonly Reported[]): void {
    const orders = reports
      .filter(({ report_id: id }) => id !== '')
      .map(({ report_id }) => ({ acknowledge: { report_id } }))
    if (orders.length > 0) void send(...orders)
  }

  function send(...orders: readonly Order[]): Promise<void> {
    return new Promise((resolve) => {
      if (over) resolve()
      else call.write({ orders: [...orders] }, () => resolve())
    })
  }

  function about(id: string | undefined): readonly Reported[] {
    return received.get(id ?? '') ?? []
  }

  function until<Found>(what: string, find: () => Found | undefined | false): Promise<Found> {
    return new Promise((resolve, reject) => {
      const { isOver } = deadline()
      const look = (): void => {
        const found = find()
        if (found !== undefined && found !== false) finish(() => resolve(found))
        else if (over) finish(() => reject(new Violation(`the link ended before ${what}`)))
        else if (isOver()) finish(() => reject(new Violation(`not in time: ${what}`)))
      }
      const finish = (settle: () => void): void => {
        clearInterval(timer)
        watchers.delete(look)
        settle()
      }
      const timer = setInterval(look, LOOK_EVERY_MS)
      watchers.add(look)
      look()
    })
  }

  function report(id: string | undefined, wanted: string): Promise<Reported> {
    return until(`a report \`${wanted}\` of ${id}`, () =>
      about(id).find(({ status: found }) => found === wanted),
    )
  }

  function ended(): Promise<status> {
    return new Promise((resolve, reject) => {
      const { isOver } = deadline()
      const timer = setInterval(() => {
        if (over) resolve(fault?.code ?? status.OK)
        else if (isOver()) reject(new Violation('the adapter keeps the link open'))
        else return
        clearInterval(timer)
      }, LOOK_EVERY_MS)
    })
  }

  async function close(): Promise<void> {
    call.end()
    const deadline = new Promise((resolve) => setTimeout(resolve, ENDED_WITHIN_MS).unref())
    const end = new Promise<void>((resolve) => {
      const look = (): void => (over ? resolve() : undefined)
      watchers.add(look)
      look()
    })
    await Promise.race([end, deadline])
    call.cancel()
  }

  function end(): void {
    over = true
    notify()
  }

  function notify(): void {
    for (const look of [...watchers]) look()
  }
}
