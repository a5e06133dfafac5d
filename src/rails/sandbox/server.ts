/**
 * The sandbox rail's gRPC server.
 *
 * Owns: who may speak, links and their flow control, the socket. Does not own: what orders do
 * (cycle), the form of messages (rails/order_reader, rails/report_writer).
 *
 * S1. Every call but health needs the internal token.
 * S2. News goes to the newest link, and all that is unacknowledged goes to each link that opens.
 * S3. A link that reads too slowly is ended: it misses nothing that the next one is not told. A
 *     link that writes too fast is not read until its orders are on disk.
 */
import { rmSync } from 'node:fs'
import {
  Server,
  ServerCredentials,
  status,
  type Metadata,
  type ServerDuplexStream,
  type StatusObject,
} from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import type { OrderBatch__Output } from '../../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { RailHandlers } from '../../../protos/types/causeway/rail/v1/Rail.js'
import type { ReportBatch } from '../../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../../protos/types/rail.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../base/bounds.js'
import { SECOND, type Clock } from '../../base/clock.js'
import { hasBearer } from '../../base/internal_token.js'
import type { Logger } from '../../base/log.js'
import { contracts } from '../../base/protos.js'
import type { Random } from '../../base/random.js'
import { readOrder } from '../order_reader.js'
import { createPipe, type Pipe } from '../pipe.js'
import type { RailDescription, RailReport } from '../rail.js'
import { writeReport } from '../report_writer.js'
import { createCycle } from './cycle.js'
import type { Journal } from './journal.js'

/** What the journal does not know now was never here: "not found" is final at once. */
const DESCRIPTION: RailDescription = { name: 'sandbox', finalityWindowMs: 0 }
/** Some seconds of a reader that stands still. */
const REPORTS_WAITING_MAX = 20_000
/** Of one link, on their way to the disk. */
const ORDERS_IN_FLIGHT_MAX = 8_192
const CLOSE_WITHIN_MS = 2 * SECOND

export interface SandboxRailOptions {
  /** `unix:/path.sock` or `host:port`; port 0 takes a free one. */
  readonly address: string
  readonly token: string
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly delayMs: number
  /** Told once, when the process must end and start again from the journal. */
  readonly fail: (error: unknown) => void
}

export interface SandboxRail {
  /** Where it listens, as a client dials it. */
  readonly address: string
  /** Finishes what it has read, then ends all links. The journal stays open. */
  close(): Promise<void>
}

type Call = ServerDuplexStream<OrderBatch__Output, ReportBatch>

interface Link {
  readonly call: Call
  readonly reports: Pipe<RailReport>
}

export async function startSandboxRail(options: SandboxRailOptions): Promise<SandboxRail> {
  const { journal, clock, random, log, delayMs, token, fail } = options
  const links = new Set<Link>()
  const tell = (news: readonly RailReport[]): void => {
    const newest = [...links].at(-1)
    if (newest !== undefined) report(newest, news)
  }
  const cycle = createCycle({ journal, clock, random, log, delayMs, tell, fail })
  const handlers: RailHandlers = {
    Describe: (call, callback) => {
      if (!hasBearer(call.metadata, token)) return callback(REFUSED)
      const { name, finalityWindowMs } = DESCRIPTION
      callback(null, { name, finality_window_ms: finalityWindowMs })
    },
    Link: (call) => openLink(call),
  }

  const server = createGrpcServer(handlers)
  await cycle.start()
  const address = await bind(server, options.address)
  return { address, close }

  function openLink(call: Call): void {
    if (!hasBearer(call.metadata, token)) return end(call, REFUSED)
    const pack = (reports: readonly RailReport[]): ReportBatch => ({
      reports: reports.map(writeReport),
    })
    const link = {
      call,
      reports: createPipe({ sink: call, pack, bound: REPORTS_WAITING_MAX }),
    }
    links.add(link)
    log.info({ links: links.size }, 'link opened')
    call.on('data', createIntake(link))
    call.on('error', () => closeLink(link))
    call.on('cancelled', () => closeLink(link))
    call.on('end', () => {
      closeLink(link)
      call.end()
    })
    tellUnacknowledged(link).catch(fail)
  }

  function createIntake(link: Link): (batch: OrderBatch__Output) => void {
    let inFlight = 0
    const answer = (reports: readonly RailReport[]): void => report(link, reports)
    return (batch) => {
      const orders = batch.orders.map(readOrder).filter((order) => order !== undefined)
      const dropped = batch.orders.length - orders.length
      if (dropped > 0) log.error({ dropped }, 'orders not understood')
      if (orders.length === 0) return
      inFlight += orders.length
      if (inFlight > ORDERS_IN_FLIGHT_MAX) link.call.pause()
      void cycle.take(orders, answer).then(() => {
        inFlight -= orders.length
        if (inFlight <= ORDERS_IN_FLIGHT_MAX) link.call.resume()
      })
    }
  }

  async function tellUnacknowledged(link: Link): Promise<void> {
    for await (const page of cycle.unacknowledged()) {
      if (!links.has(link)) return
      report(link, page)
      await link.reports.empty()
    }
  }

  function report(link: Link, reports: readonly RailReport[]): void {
    if (!links.has(link) || link.reports.push(reports) === 0) return
    log.warn('link ended: it reads too slowly')
    closeLink(link)
    end(link.call, TOO_SLOW)
  }

  function closeLink(link: Link): void {
    if (!links.delete(link)) return
    link.reports.close()
    log.info({ links: links.size }, 'link closed')
  }

  async function close(): Promise<void> {
    for (const { call } of links) call.pause()
    await cycle.stop()
    for (const link of links) {
      await Promise.race([link.reports.empty(), after(CLOSE_WITHIN_MS)])
      closeLink(link)
      link.call.end()
    }
    await shutDown(server)
  }
}

const REFUSED = { code: status.UNAUTHENTICATED, details: 'authentication failed' }
const TOO_SLOW = { code: status.RESOURCE_EXHAUSTED, details: 'reads too slowly' }

/** Ends a stream with a status: grpc-js sends the one of the error it is given. */
function end(call: Call, with_: Pick<StatusObject, 'code' | 'details'>): void {
  call.emit('error', with_)
}

function createGrpcServer(handlers: RailHandlers): Server {
  const server = new Server({ 'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES })
  server.addService(contracts<ProtoGrpcType>().causeway.rail.v1.Rail.service, handlers)
  new HealthImplementation({ '': 'SERVING', 'causeway.rail.v1.Rail': 'SERVING' }).addToServer(
    server,
  )
  return server
}

/** A socket file that a killed process left behind is taken away. */
function bind(server: Server, address: string): Promise<string> {
  if (address.startsWith('unix:')) rmSync(address.slice('unix:'.length), { force: true })
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error !== null) reject(new Error(`can not listen on ${address}: ${error.message}`))
      else resolve(address.startsWith('unix:') ? address : address.replace(/\d+$/, String(port)))
    })
  })
}

async function shutDown(server: Server): Promise<void> {
  const quiet = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
  await Promise.race([quiet, after(CLOSE_WITHIN_MS)])
  server.forceShutdown()
}

const after = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
