/**
 * The one connection of a process to NATS JetStream.
 *
 * Owns: connecting and reconnecting. Does not own: the stream and the durable consumer
 * (bus/event_stream), the publish window and deadlines (bus/publisher), pulling (bus/consumer), the
 * content of events.
 *
 * - Only this file and event_stream import the driver.
 * - Reconnects forever; each process decides whether it serves without the bus.
 * - The bus is up only while the stream (and for a reader the consumer) exists; missing ones are
 *   recreated. A recreated stream has lost its messages, and the publisher reports it.
 * - A message that the stream refuses is told in the log: until the cause ends, no event passes. So
 *   is a stream of other subjects or without acknowledgements, which an operator has made, the
 *   stream of another installation, and a subject that the user may not use.
 */
import {
  connect,
  createInbox,
  Events,
  headers,
  nanos,
  NatsError,
  type ConnectionOptions,
  type Msg,
  type NatsConnection,
  type Status,
} from 'nats'
import { MINUTE, SECOND, type Clock, type Instant } from '../base/clock.js'
import type { Logger } from '../base/log.js'
import { EVENT_HEADERS, EVENT_STREAM, EVENT_SUBJECTS, WEBHOOK_CONSUMER } from '../base/subjects.js'
import { parseBusUrl, type BusServer } from './bus_server.js'
import { createConsumer, type BusMessage, type Consumer, type PullRequest } from './consumer.js'
import type { EventMessage } from './event_message.js'
import {
  claimStream,
  ensureConsumer,
  ensureStream,
  isOfAnother,
  newestEvent,
  replicasAt,
  type NewestEvent,
} from './event_stream.js'
import { createPublisher, type Publisher } from './publisher.js'

const RECONNECT_AFTER_MS = 500
/** A start waits for what a processor says first. */
const KNOWN_CHECK_EVERY_MS = 20
/** Tries in a row after which the log says why the bus is not ready. */
const TOLD_AFTER = 6
/** No message is larger: bus/publisher bounds its events, its headers are a few kilobytes. */
const PAYLOAD_MIN = 256 * 1024
/** Parts of an acknowledgement's subject that has no domain and no account. */
const ACK_TOKENS = 9
const NO_RESPONDERS = 503
const CONFLICT = 409

/** Subjects that a user of the server needs, but for those of its interface. */
const SUBJECTS_USED = [EVENT_SUBJECTS, '$JS.ACK.>', '_INBOX.>']

const PULL_SUBJECT = `$JS.API.CONSUMER.MSG.NEXT.${EVENT_STREAM}.${WEBHOOK_CONSUMER}`
const ACK = new TextEncoder().encode('+ACK')

type Denied = NonNullable<Status['permissionContext']>

export interface BusOptions extends BusServer {
  /** True for a process that reads: it creates the durable consumer. */
  readonly consumes: boolean
  /** Time until an unacknowledged message is redelivered. */
  readonly ackWaitMs?: number
  /**
   * The ids of the installation whose events these are, the present one first. Undefined means not
   * yet known: the bus is not used. Empty, or without this option, any stream is used.
   */
  readonly installations?: () => readonly string[] | undefined
  /**
   * Whether the bus may be used. Called each time before the bus comes up, and retried while it
   * refuses. `newest`: the last event in the stream. Null if there is none. `isForeign`: another
   * installation uses the stream.
   */
  readonly admit?: (newest: NewestEvent | null, isForeign: boolean) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
}

export interface Bus {
  readonly publisher: Publisher
  readonly consumer: Consumer
  status(): 'up' | 'down'
  /** Why a bus that is up refused the last event. Null means that none was refused since. */
  refusal(): string | null
  close(): Promise<void>
}

/** Starts to connect and returns at once. */
export function connectBus(options: BusOptions): Bus {
  const { consumes, ackWaitMs, admit, clock, log } = options
  const { installations: ownIds = () => [] } = options
  const publisher = createPublisher(clock)
  const consumer = createConsumer()
  let connection: NatsConnection | undefined
  let up = false
  let closing = false
  let refusal: string | null = null
  let streamCreated: string | undefined
  /** Counts how often the bus came up: acknowledgements are of one of these times. */
  let timesUp = 0
  let timesLost = 0
  let preparing: Promise<void> | undefined
  const faults = createFaultLog(log)
  const refusals = createRefusalLog(log, clock)

  const stayConnected = async (): Promise<void> => {
    while (!closing) {
      connection = await dial(options).catch((fault: unknown) => {
        faults.failed(fault)
        return undefined
      })
      if (connection === undefined) await pause(RECONNECT_AFTER_MS)
      else await serve(connection)
    }
  }

  /** Runs until the driver closes the connection; it reconnects by itself after a lost one. */
  const serve = async (link: NatsConnection): Promise<void> => {
    if (closing) return link.close()
    const replies = createInbox()
    const pulls = createInbox()
    subscribe(link, `${replies}.*`, onReply)
    subscribe(link, `${pulls}.*`, (message) => onPulled(link, message))
    prepare(link, replies, pulls)
    void watch(link, replies, pulls)
    await link.closed()
    down('connection closed')
    await preparing
  }

  /** The driver's status iterator does not end, not even when the connection is closed. */
  const watch = async (link: NatsConnection, replies: string, pulls: string): Promise<void> => {
    for await (const status of link.status()) {
      if (status.type === Events.Disconnect) {
        timesLost += 1
        down('connection lost')
      }
      if (status.type === Events.Reconnect) prepare(link, replies, pulls)
      const { permissionContext: denied } = status
      if (denied !== undefined) refused(denialOf(denied))
    }
  }

  /** Ensures stream and consumer, then attaches publisher and consumer. One run at a time. */
  const prepare = (link: NatsConnection, replies: string, pulls: string): void => {
    preparing ??= makeReady(link).then((created) => {
      preparing = undefined
      if (created === undefined) return
      const emptied = streamCreated !== undefined && created !== streamCreated
      streamCreated = created
      timesUp += 1
      up = true
      faults.ended()
      log.info({ emptied }, 'bus up')
      publisher.attach((message, ticket) => send(link, message, `${replies}.${ticket}`), emptied)
      if (consumes) consumer.attach((request) => requestMessages(link, request, pulls))
      prepareAgain = () => prepare(link, replies, pulls)
    })
  }
  let prepareAgain: () => void = () => undefined

  const makeReady = async (link: NatsConnection): Promise<string | undefined> => {
    while (!closing && !link.isClosed()) {
      const lost = timesLost
      const installations = ownIds()
      if (installations === undefined) {
        await pause(KNOWN_CHECK_EVERY_MS)
        continue
      }
      try {
        checkPayloadBound(link)
        const manager = await link.jetstreamManager({ checkAPI: false, timeout: 2 * SECOND })
        const stream = await ensureStream(manager, replicasAt(link), installations[0])
        const isForeign = isOfAnother(stream, installations)
        const isAdmitted =
          admit === undefined || (await admit(await newestEvent(manager), isForeign))
        if (isAdmitted) {
          await claimStream(manager, stream, installations)
          if (consumes) await ensureConsumer(manager, ackWaitMs)
          // The admission can take seconds.
          if (lost === timesLost) return stream.created
        }
        await pause(RECONNECT_AFTER_MS)
      } catch (fault) {
        faults.failed(fault)
        await pause(RECONNECT_AFTER_MS)
      }
    }
    return undefined
  }

  const down = (reason: string): void => {
    if (!up) return
    up = false
    refusal = null
    if (!closing) log.warn({ reason }, 'bus down')
    publisher.detach()
    consumer.detach()
  }

  /** The server answers, but the stream or consumer does not exist. */
  const missing = (reason: string): void => {
    if (!up) return
    down(reason)
    prepareAgain()
  }

  const refused = (reason: string): void => {
    refusal = reason
    refusals.told(reason)
  }

  const onReply = (reply: Msg): void => {
    const reason = refusalOf(reply)
    publisher.answer(numberAtEnd(reply.subject), reason === null)
    if (reply.headers?.code === NO_RESPONDERS) missing('no stream takes events')
    else if (reason === null) refusal = null
    else refused(reason)
  }

  const onPulled = (link: NatsConnection, message: Msg): void => {
    if (message.reply !== undefined && message.reply !== '') {
      const arrived = timesUp
      return consumer.deliver(
        readable(message, () => up && arrived === timesUp && !link.isClosed()),
      )
    }
    const code = message.headers?.code
    const failed = code === NO_RESPONDERS || code === CONFLICT
    consumer.ended(numberAtEnd(message.subject), failed ? 'failed' : 'expired')
    if (failed) missing(`pull refused: ${message.headers?.description ?? ''}`)
  }

  const running = stayConnected()
  return {
    publisher: publisher.publisher,
    consumer: consumer.consumer,
    status: () => (up ? 'up' : 'down'),
    refusal: () => refusal,
    close: async () => {
      closing = true
      const wasUp = up
      consumer.consumer.close()
      down('closing')
      if (wasUp) await flushed(connection)
      await connection?.close()
      await running
    },
  }
}

/** Why the bus is not ready, once it has lasted: each reason once. */
function createFaultLog(log: Logger) {
  let failures = 0
  let told: string | undefined
  return {
    failed: (fault: unknown): void => {
      const reason = reasonOf(fault)
      failures += 1
      const isNewReason = failures >= TOLD_AFTER && reason !== told
      if (isNewReason) told = reason
      log[isNewReason ? 'warn' : 'debug']({ reason }, 'bus not ready')
    },
    ended: (): void => {
      failures = 0
      told = undefined
    },
  }
}

/** Why the stream refuses messages: each reason once a minute, and another one after a second. */
function createRefusalLog(log: Logger, clock: Clock) {
  let last: { readonly reason: string; readonly at: Instant } | undefined
  return {
    told: (reason: string): void => {
      const now = clock.now()
      const silentMs = reason === last?.reason ? MINUTE : SECOND
      if (last !== undefined && now - last.at < silentMs) return
      last = { reason, at: now }
      log.warn({ reason }, 'bus refuses events')
    },
  }
}

/** @throws Error when the server would end the connection at a large message */
function checkPayloadBound({ info }: NatsConnection): void {
  const accepted = info?.max_payload ?? PAYLOAD_MIN
  if (accepted < PAYLOAD_MIN)
    throw new Error(`max_payload of the server is ${accepted} bytes, it needs ${PAYLOAD_MIN}`)
}

const reasonOf = (fault: unknown): string =>
  fault instanceof NatsError && fault.code === String(NO_RESPONDERS)
    ? 'the server answers no JetStream request: JetStream is off there, or has no leader'
    : String(fault)

/** Connects once; afterwards the driver reconnects forever, to any server of a NATS cluster. */
function dial(server: BusServer): Promise<NatsConnection> {
  return connect({
    ...serverAt(server),
    timeout: 3 * SECOND,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_AFTER_MS,
    reconnectJitter: RECONNECT_AFTER_MS / 2,
    // Detects a hanging server within 20 s.
    pingInterval: 10 * SECOND,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  })
}

function serverAt({ url, tls = {} }: BusServer): ConnectionOptions {
  const address = parseBusUrl(url)
  if (address === undefined) throw new Error('the URL of the bus is malformed')
  const { protocol, hosts, user, password = '' } = address
  // The driver ignores the scheme: without `tls` it accepts an unencrypted connection.
  const secured = protocol === 'tls:' ? { tls } : {}
  const servers = hosts.map(({ hostname, port }) => `${protocol}//${hostname}:${port}`)
  const to = { servers, ...secured }
  return user === undefined ? to : { ...to, user, pass: password }
}

/**
 * A liveness probe of the server: true when it answers a request about the stream, whether or not
 * the stream exists. Reuses one connection, to create no garbage in an idle process.
 */
export function streamProbe(url: string, withinMs: number): () => Promise<boolean> {
  let link: NatsConnection | undefined
  return async () => {
    try {
      link ??= await connect({ ...serverAt({ url }), reconnect: false, timeout: withinMs })
      await link.request(`$JS.API.STREAM.INFO.${EVENT_STREAM}`, '', { timeout: withinMs })
      return true
    } catch {
      void link?.close().catch(() => undefined)
      link = undefined
      return false
    }
  }
}

function send(link: NatsConnection, message: EventMessage, reply: string): void {
  const fields = headers()
  for (const [name, value] of message.headers) fields.append(name, value)
  link.publish(message.subject, message.payload, { reply, headers: fields })
}

function requestMessages(link: NatsConnection, request: PullRequest, pulls: string): void {
  const { batch, expiresMs, number } = request
  const body = JSON.stringify({ batch, expires: nanos(expiresMs) })
  link.publish(PULL_SUBJECT, body, { reply: `${pulls}.${number}` })
}

/** Without the right to subscribe the driver calls back once, with a fault and no message. */
function subscribe(link: NatsConnection, subject: string, handle: (message: Msg) => void): void {
  link.subscribe(subject, {
    callback: (fault, message) => {
      if (fault === null) handle(message)
    },
  })
}

/** Why the server has refused a subject: it answers neither the request nor the event. */
function denialOf({ operation, subject }: Denied): string {
  const granted = SUBJECTS_USED.find((pattern) => subject.startsWith(pattern.slice(0, -1)))
  const act = operation === 'publish' ? 'publish to' : 'subscribe to'
  return `the user of the bus may not ${act} ${granted ?? subject}`
}

/** An acknowledgement carries a stream sequence: null. Any other reply is a refusal, with why. */
function refusalOf(reply: Msg): string | null {
  if (reply.headers?.hasError === true) return reply.headers.description
  const answer = answerIn(reply)
  if (answer === undefined) return 'the answer is malformed'
  if (answer.error !== undefined) return answer.error.description ?? 'without a reason'
  return answer.seq === undefined ? 'the answer has no sequence' : null
}

interface PublishAnswer {
  readonly seq?: number
  readonly error?: { readonly description?: string }
}

function answerIn(reply: Msg): PublishAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(reply.string())
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

const readable = (message: Msg, isLinked: () => boolean): BusMessage => ({
  subject: message.subject,
  header: (name) => message.headers?.get(name) ?? '',
  payload: message.data,
  isRepeated: () =>
    message.headers?.has(EVENT_HEADERS.repeated) === true || deliveriesOf(message) > 1,
  ack: () => {
    if (isLinked()) message.respond(ACK)
  },
})

/** How often the message was delivered: `$JS.ACK.[domain.account.]stream.consumer.count.…` */
function deliveriesOf({ reply = '' }: Msg): number {
  const tokens = reply.split('.')
  return Number(tokens[tokens.length > ACK_TOKENS ? 6 : 4])
}

/** Sends the last acknowledgements before the connection closes; waits at most a second. */
async function flushed(connection: NatsConnection | undefined): Promise<void> {
  await Promise.race([connection?.flush().catch(() => undefined), pause(SECOND)])
}

const numberAtEnd = (subject: string): number => Number(subject.slice(subject.lastIndexOf('.') + 1))

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
