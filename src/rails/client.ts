/**
 * The rail port over gRPC: one stream to a rail process, at a `unix:` path or `host:port`.
 *
 * Owns: the stream and its reconnect, batching, checking incoming reports. Does not own: repeated
 * inquiries (processor), the meaning of instructions and reports (rails/rail).
 *
 * - Instructions leave in the order in which they were sent.
 * - Instructions sent while the link is down, or beyond INSTRUCTIONS_WAITING_MAX behind a slow
 *   rail, are dropped: the processor inquires about them later.
 * - In a cluster a link names its shard. A report about an instruction of another shard is dropped
 *   and not acknowledged: the rail sends it again to a link of that shard. An answer is not: the
 *   payment may have moved here.
 * - The link is up only after the rail has described itself (a report cannot be judged without its
 *   finality window), `admit` has accepted it, and its reports have a handler.
 * - A rail that names no instruction any more has lost its journal, and one that answers
 *   `not_found` of the newest instruction that it has accepted or executed has an older one. The
 *   link is up only after that answer, because the rail would answer so of what it has sent to the
 *   bank. Reports that come before it wait for it.
 * - A rail that has lost its journal is used again when an operator accepts that (`acceptsLoss`).
 * - A rail that answers pings can hang all the same: Describe has a deadline, and a link that
 *   reports nothing after an inquiry is opened again.
 */
import { status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js'
import type { OrderBatch } from '../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { RailClient } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { ReportBatch__Output } from '../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { SECOND } from '../base/clock.js'
import type { EffectId, Environment } from '../base/ids.js'
import { bearer } from '../grpc/bearer.js'
import { crashPoint } from '../base/crash_point.js'
import { CHANNEL } from '../grpc/channel.js'
import { createRenewedClient } from '../grpc/renewed_client.js'
import { CLEARTEXT, type GrpcTls } from '../grpc/tls.js'
import type { Logger } from '../base/log.js'
import { contracts } from '../grpc/contracts.js'
import { createRetry, RECONNECT } from '../base/retry.js'
import { writeRailInstruction } from './instruction_codec.js'
import { createBatchingWriter, type BatchingWriter } from './batching_writer.js'
import {
  SHARD_METADATA,
  UNDESCRIBED,
  type MovementPeriod,
  type Rail,
  type RailDescription,
  type RailInstruction,
  type RailReport,
  type SummaryAnswer,
} from './rail.js'
import { readReport } from './report_codec.js'
import { readSummary } from './summary_codec.js'

/** A few seconds of load for a rail that has stopped reading. */
const INSTRUCTIONS_WAITING_MAX = 20_000

const DESCRIBED_WITHIN_MS = 5 * SECOND
/** An inquiry is answered at once; any report proves that the rail works. */
const REPORTED_WITHIN_MS = 30 * SECOND
/** Failures to connect before the first warning: processes of a stack start together. */
const QUIET_FAILURES = 8

/** Less than an operator's call waits. */
const SUMMARIZED_WITHIN_MS = 6 * SECOND

export interface RailConnection {
  /** `unix:/path.sock` or `host:port`. */
  readonly address: string
  readonly token: string
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
  readonly log: Logger
  /** For logs. Default: as it describes itself. */
  readonly name?: string
  /** The shard of the link. Absent if this processor has the only books. */
  readonly shard?: string
  /** Whether the link may open. Called before each opening, and retried while it refuses. */
  readonly admit?: (description: RailDescription) => Promise<boolean>
  /** The newest instruction that this rail has executed, as far as the books know. */
  readonly newestExecuted?: () => Promise<KnownInstruction | null>
  /** Whether a rail that has lost its journal may be used: nothing is submitted to it. */
  readonly acceptsLoss?: () => boolean
  /** Default: DESCRIBED_WITHIN_MS. */
  readonly describedWithinMs?: number
  /** Default: REPORTED_WITHIN_MS. */
  readonly reportedWithinMs?: number
}

/** An instruction that the rail has accepted or executed. */
export interface KnownInstruction {
  readonly id: EffectId
  readonly environment: Environment
}

export interface ConnectedRail extends Rail {
  /** Why the link is down, for operators; null while it is up. */
  fault(): string | null
  /** What a statement of the period has. Never rejects. */
  summarize(period: MovementPeriod): Promise<SummaryAnswer>
}

interface Link {
  readonly stream: ClientDuplexStream<OrderBatch, ReportBatch__Output>
  readonly railInstructions: BatchingWriter<RailInstruction>
}

/** A link that is up once the rail has answered about an instruction that it has. */
interface Proof {
  readonly link: Link
  readonly id: EffectId
  readonly timer: NodeJS.Timeout
  readonly reports: RailReport[]
}

/** Connects to the rail at an address and reconnects until closed. */
export function connectRail(connection: RailConnection): ConnectedRail {
  const { address, token, tls = CLEARTEXT, log, shard = '', admit } = connection
  const { acceptsLoss = () => false, newestExecuted = () => Promise.resolve(null) } = connection
  const { describedWithinMs = DESCRIBED_WITHIN_MS } = connection
  const { reportedWithinMs = REPORTED_WITHIN_MS } = connection
  const service = contracts<ProtoGrpcType>().causeway.rail.v1.Rail
  const client = createRenewedClient<RailClient>(
    (given) =>
      new service(address, tls.channelCredentials(address), {
        ...{ ...CHANNEL, ...tls.channelOptions(address), ...given },
      }),
  )
  const metadata = bearer(token)
  if (shard !== '') metadata.set(SHARD_METADATA, shard)

  const unanswered = `it has not answered Describe within ${describedWithinMs / SECOND} s`
  const silent = `it has answered no inquiry within ${reportedWithinMs / SECOND} s`
  let description = UNDESCRIBED
  let link: Link | undefined
  let proof: Proof | undefined
  let known: KnownInstruction | null = null
  let hasLostJournal = false
  /** An operator accepted that: what the books know proves nothing. */
  let isLossAccepted = false
  let downFor = 'it has not been reached yet'
  let failures = 0
  let silence: NodeJS.Timeout | undefined
  let closed = false
  const retry = createRetry(RECONNECT)
  let reportHandler: Parameters<Rail['onReport']>[0] | undefined
  /** A report without a handler would come again only with the next link. */
  let waitsForHandler = false
  let linkHandler: Parameters<Rail['onLink']>[0] = () => undefined

  const label = (): string => connection.name ?? description.name

  connect()
  return {
    describe: () => description,
    up: () => link !== undefined,
    fault: () => (link === undefined ? downFor : null),
    send,
    onReport: (handler) => {
      reportHandler = handler
      if (waitsForHandler && !closed) open()
    },
    onLink: (handler) => {
      linkHandler = handler
    },
    summarize,
    close,
  }

  function connect(): void {
    const call = client.current().Describe({}, metadata, (fault, answer) => {
      clearTimeout(timer)
      if (closed) return
      if (fault !== null || answer === undefined) {
        return failed(fault?.code === status.CANCELLED ? unanswered : (fault?.message ?? ''))
      }
      if (hasLostJournal && acceptsLoss()) takeAsItIs()
      const newestInstruction = answer.newest_instruction || null
      const { newestInstruction: before } = description
      if (newestInstruction === null && before !== null) {
        return lostJournal(`its journal is empty, and had instruction ${before}`)
      }
      description = {
        name: answer.name,
        finalityWindowMs: answer.finality_window_ms,
        newestInstruction,
      }
      if (admit === undefined) open()
      else void admitted(admit).catch(unread).then(openIfAdmitted)
    })
    const timer = setTimeout(() => call.cancel(), describedWithinMs)
  }

  /** Also finds what the rail must have, before its first link. */
  async function admitted(judge: NonNullable<typeof admit>): Promise<boolean> {
    if (!(await judge(description))) return false
    if (known === null && !isLossAccepted && description.newestInstruction !== null) {
      known = await newestExecuted()
    }
    return true
  }

  function unread(error: unknown): boolean {
    log.error({ rail: label(), error }, 'executions at the rail cannot be read')
    return false
  }

  function takeAsItIs(): void {
    log.warn({ rail: label() }, 'the rail is used without the journal that it has lost')
    hasLostJournal = false
    isLossAccepted = true
    known = null
    description = { ...description, newestInstruction: null }
  }

  function lostJournal(reason: string): void {
    hasLostJournal = true
    if (downFor !== reason) log.error({ rail: label(), reason }, 'the rail has lost its journal')
    downFor = reason
    retry.schedule(connect)
  }

  /** Warns of the 8th, 16th, 32nd … failure in a row, of an unanswered call from the first on. */
  function failed(reason: string): void {
    downFor = reason
    failures += 1
    const isPowerOfTwo = (failures & (failures - 1)) === 0
    const isWarning = isPowerOfTwo && (reason === unanswered || failures >= QUIET_FAILURES)
    log[isWarning ? 'warn' : 'debug'](
      { rail: label(), address, reason, failures },
      'the rail cannot be reached; payments wait for it',
    )
    retry.schedule(connect)
  }

  function summarize({ from, to }: MovementPeriod): Promise<SummaryAnswer> {
    const period = { from: String(from), to: String(to) }
    return new Promise((resolve) => {
      const call = client.current().Summarize(period, metadata, (fault, answer) => {
        clearTimeout(timer)
        const summary = answer && readSummary(answer)
        if (summary !== undefined) return resolve({ kind: 'summary', summary })
        log.warn(
          { rail: label(), reason: fault?.message },
          'the rail has not summed up its movements',
        )
        resolve({ kind: 'unknown', reason: reasonOf(fault) })
      })
      const timer = setTimeout(() => call.cancel(), SUMMARIZED_WITHIN_MS)
    })
  }

  function openIfAdmitted(isAdmitted: boolean): void {
    if (closed) return
    if (isAdmitted) return open()
    downFor = 'the books lack its newest instruction, or are not verified'
    retry.schedule(connect)
  }

  function open(): void {
    waitsForHandler = reportHandler === undefined
    if (waitsForHandler) return
    const stream: Link['stream'] = client.current().Link(metadata)
    const pack = (railInstructions: readonly RailInstruction[]): OrderBatch => ({
      orders: railInstructions.map((each) => writeRailInstruction(each, shard)),
    })
    const opened = {
      stream,
      railInstructions: createBatchingWriter({
        sink: stream,
        pack,
        bound: INSTRUCTIONS_WAITING_MAX,
      }),
    }
    stream.on('data', receive)
    stream.on('error', (fault) => lose(opened, fault.message))
    stream.on('end', () => lose(opened, 'ended by the rail'))
    if (known === null) return use(opened)
    const timer = setTimeout(() => lose(opened, silent), reportedWithinMs)
    proof = { link: opened, id: known.id, timer, reports: [] }
    opened.railInstructions.push([{ kind: 'query', ...known }])
  }

  function use(opened: Link): void {
    link = opened
    failures = 0
    hasLostJournal = false
    log.info({ rail: label() }, 'rail link up')
    linkHandler(true)
  }

  /** Reports on a link that is not up yet. */
  function prove({ link: opened, id, reports }: Proof, received: readonly RailReport[]): void {
    const answer = received.find((report) => report.id === id)
    reports.push(...received)
    if (answer === undefined) return
    endProof()
    if (answer.status !== 'not_found') {
      use(opened)
      return deliver(reports)
    }
    end(opened)
    lostJournal(`its journal is an older one: it had instruction ${id}`)
  }

  function endProof(): void {
    clearTimeout(proof?.timer)
    proof = undefined
  }

  function end(ended: Link): void {
    ended.railInstructions.close()
    ended.stream.cancel()
  }

  /** A stream reports its end more than once. */
  function lose(lost: Link, reason: string): void {
    if (link !== lost && proof?.link !== lost) return
    endProof()
    link = undefined
    downFor = reason
    clearTimeout(silence)
    silence = undefined
    const dropped = lost.railInstructions.waiting()
    end(lost)
    log.warn({ rail: label(), dropped, reason }, 'rail link lost')
    retry.schedule(connect)
    linkHandler(false)
  }

  function send(railInstructions: readonly RailInstruction[]): void {
    const dropped =
      link === undefined ? railInstructions.length : link.railInstructions.push(railInstructions)
    if (dropped > 0) log.warn({ rail: label(), dropped }, 'rail instructions dropped')
    if (railInstructions.some(({ kind }) => kind === 'query')) expectReport()
  }

  function expectReport(): void {
    const current = link
    if (current === undefined) return
    silence ??= setTimeout(() => lose(current, silent), reportedWithinMs)
  }

  function receive(batch: ReportBatch__Output): void {
    if (closed) return
    const reports = batch.reports.map(readReport).filter((report) => report !== undefined)
    const dropped = batch.reports.length - reports.length
    if (dropped > 0) log.error({ rail: label(), dropped }, 'malformed rail reports dropped')
    const own = shard === '' ? reports : reports.filter(isOwn)
    if (own.length < reports.length) {
      const foreign = reports.length - own.length
      log.warn({ rail: label(), foreign }, 'rail reports of other shards dropped')
    }
    crashPoint('rail_report.received')
    if (proof === undefined) deliver(own)
    else prove(proof, own)
  }

  function deliver(reports: readonly RailReport[]): void {
    // Only a report proves that the link works; opening a stream does not.
    retry.reset()
    clearTimeout(silence)
    silence = undefined
    known = newestKnown(known, reports)
    if (reports.length > 0) reportHandler?.(reports)
  }

  function isOwn(report: RailReport): boolean {
    const { shard: sender = shard, reportId } = report
    return sender === shard || reportId === null
  }

  function close(): Promise<void> {
    closed = true
    retry.cancel()
    clearTimeout(silence)
    const last = link ?? proof?.link
    endProof()
    link = undefined
    if (last !== undefined) end(last)
    client.close()
    return Promise.resolve()
  }
}

function reasonOf(fault: ServiceError | null): string {
  if (fault === null) return 'the rail answered with a malformed summary of its movements'
  if (fault.code === status.UNIMPLEMENTED) return 'the rail cannot summarize its movements'
  return 'the rail did not answer'
}

function newestKnown(
  known: KnownInstruction | null,
  reports: readonly RailReport[],
): KnownInstruction | null {
  let newest = known
  for (const { id, status, environment } of reports) {
    const isThere = status === 'accepted' || status === 'executed' || status === 'returned'
    if (!isThere || environment === undefined) continue
    const isNewer = newest === null || timeAndRandomOf(id) > timeAndRandomOf(newest.id)
    if (isNewer) newest = { id, environment }
  }
  return newest
}

/** Ids begin with their time. */
const timeAndRandomOf = (id: EffectId): string => id.slice(id.indexOf('_') + 1)
