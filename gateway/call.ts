/**
 * A call: a request on its way to the processor and back.
 *
 * Owns: the order of checks at the door. Does not own: each check, the operations (routes/).
 *
 * J1. Nobody learns about routes, bodies or states before he proved who he is, wherever a proof is
 *     asked for.
 * J2. A signature that verified burns its nonce, also when the call is refused here: `burn_only`.
 *     Only a call over a limit does not, as sparing the processor is the point of refusing it.
 * J3. A command is in flight from its submission until it is settled, whether its client waits or
 *     not.
 * J4. What is too much is refused before the body is read, where nobody has to be known for it.
 * J5. What has to wait for its turn waits before its signature is looked at; the processor has as
 *     much time for it as is left then. Who names no key of ours does not wait: a stranger is
 *     refused at once and can not fill the line, and there are no long lines of tokens.
 */
import type { Command } from '../protos/types/causeway/v1/Command.js'
import type { Clock, Instant } from '../src/base/clock.js'
import type { ErrorCode } from '../src/base/errors.js'
import type { Environment } from '../src/base/ids.js'
import type { Authenticator, Caller } from './authenticate.js'
import type { Backlog } from './backlog.js'
import type { BrandHeaders } from './brand_headers.js'
import { repeatKey } from './decode/idempotency_key.js'
import type { Directory } from './directory.js'
import type { AnswerHeaders, Exchange } from './exchange.js'
import type { Hosts } from './hosts.js'
import type { Lane, Lanes } from './lanes.js'
import type { InFlight, Limits } from './limits.js'
import { knownCode } from './problem.js'
import type { ProcessorClient, Waiting } from './processor_client.js'
import type { PacedRefusals } from './paced_refusals.js'
import { OK, type Destination, type Handler, type LocalHandler } from './route.js'

export interface CallOptions {
  readonly brandHeaders: BrandHeaders
  readonly hosts: Hosts
  readonly limits: Limits
  readonly lanes: Lanes
  readonly backlog: Backlog
  readonly pacedRefusals: PacedRefusals
  readonly authenticator: Authenticator
  readonly directory: Directory
  readonly processor: ProcessorClient
  readonly clock: Clock
}

/** Before anybody is known. False: it is to be served. */
export function turnsAway(
  { limits, lanes, backlog, pacedRefusals }: CallOptions,
  exchange: Exchange,
  { kind }: Destination,
): boolean {
  const laneOf = (): Lane => lanes(exchange)
  const verdict = kind === 'local' ? 'passes' : limits.overload(exchange.startedAt, laneOf)
  if (verdict !== 'passes') {
    const tooMany = verdict === 'flood' ? [...backlog.drop(), exchange] : [exchange]
    for (const one of tooMany) {
      limits.shed()
      pacedRefusals.add(() => one.refuse('configuration_error', RETRY_SOON))
    }
    return true
  }
  const waitAsSource = limits.source(exchange)
  if (waitAsSource > 0) refuseForNow(pacedRefusals, exchange, waitAsSource)
  return waitAsSource > 0
}

const RETRY_SOON: AnswerHeaders = [['Retry-After', '1']]

export function serveCall(
  options: CallOptions,
  exchange: Exchange,
  destination: Destination,
): void {
  const { authenticator, backlog, lanes } = options
  const host = exchange.header('host')
  const environment = options.hosts(typeof host === 'string' ? host : '')
  if (environment === undefined) return exchange.refuse('not_found')
  if (destination.kind === 'local') {
    return answerHere(options, exchange, environment, destination.handler)
  }
  if (destination.kind === 'nowhere' && !authenticator.isSigned(exchange)) {
    return exchange.refuse(destination.code, destination.headers)
  }
  const lane = lanes(exchange)
  const serve = (): void => serveInTurn(options, exchange, destination, environment, lane)
  if (lane.of === 'key' && backlog.mustHold()) backlog.hold(exchange, lane, serve)
  else serve()
}

function serveInTurn(
  options: CallOptions,
  exchange: Exchange,
  destination: Exclude<Destination, { kind: 'local' }>,
  environment: Environment,
  lane: Lane,
): void {
  const { limits, backlog, pacedRefusals, authenticator, processor } = options
  const auth = destination.kind === 'nowhere' ? 'hmac' : destination.route.auth
  const caller = authenticator.authenticate(exchange, auth, environment, destination.id)
  if (!caller.ok) return exchange.refuse(caller.code)
  const keyMaxLength =
    destination.kind === 'operation' ? destination.route.handler.keyMaxLength : undefined
  if (keyMaxLength !== undefined) repeatKey(exchange, keyMaxLength)
  const waitAsCaller = limits.caller(caller.value)
  if (waitAsCaller > 0) return refuseForNow(pacedRefusals, exchange, waitAsCaller)

  const call: Call = {
    exchange,
    caller: caller.value,
    inFlight: limits.inFlight(caller.value.tenant),
    lane,
    backlog,
  }
  if (destination.kind === 'nowhere') {
    return burnAndRefuse(processor, call, destination.code, destination.headers)
  }
  const { handler } = destination.route
  const { sessionJti, receiptSubject } = caller.value
  const operation = handler.decode({ exchange, id: destination.id, sessionJti, receiptSubject })
  if (!operation.ok) {
    const { code } = operation
    if (auth === 'session') return checkAndRefuse(processor, call, destination.id, code)
    return burnAndRefuse(processor, call, code, [])
  }
  const command = commandOf(call, operation.value)
  processor.submit(command, new Answering(call, handler), exchange.body.length)
}

const refuseForNow = (paced: PacedRefusals, exchange: Exchange, seconds: number): void =>
  paced.add(() => exchange.refuse('rate_limited', [['Retry-After', String(seconds)]]))

function answerHere(
  { directory, brandHeaders, clock }: CallOptions,
  exchange: Exchange,
  environment: Environment,
  handler: LocalHandler,
): void {
  const partners = directory.partners()
  if (partners === undefined) return exchange.refuse('configuration_error')
  const now = clock.now()
  const body = handler.answer({ exchange, environment, brandHeaders, partners, now })
  if (body.ok) exchange.answer(OK.status, body.value)
  else exchange.refuse(body.code)
}

/** A request whose caller is known. */
interface Call {
  readonly exchange: Exchange
  readonly caller: Caller
  readonly inFlight: InFlight
  readonly lane: Lane
  readonly backlog: Backlog
}

/** Refuses a caller who is known: after its nonce is burnt, if it has one. */
function burnAndRefuse(
  processor: ProcessorClient,
  call: Call,
  code: ErrorCode,
  headers: AnswerHeaders,
): void {
  if (call.caller.signedBy === null) return call.exchange.refuse(code, headers)
  processor.submit(commandOf(call, { burn_only: true }), new Burning(call, code, headers))
}

/** Refuses a caller with a session token: a token that is used up is the first fault. */
function checkAndRefuse(
  processor: ProcessorClient,
  call: Call,
  intentId: string,
  code: ErrorCode,
): void {
  const { sessionJti } = call.caller
  const command = { check_session: { intent_id: intentId, session_jti: sessionJti } }
  processor.submit(commandOf(call, command), new Burning(call, code, []))
}

/**
 * The operation is a fresh object of ours and becomes the command: a copy of it would cost a
 * microsecond.
 */
function commandOf({ exchange, caller }: Call, command: Command): Command {
  command.ticket = 0
  command.budget_ms = exchange.timeLeft()
  command.tenant = caller.tenant
  command.signed_by = caller.signedBy
  return command
}

/** What both kinds of command have in common: they are in flight until they are settled (J3). */
abstract class CommandInFlight implements Waiting {
  readonly startedAt: Instant
  protected readonly exchange: Exchange
  private readonly inFlight: InFlight
  private readonly lane: Lane
  /** Null: its answer is waited for beside the processor's cycle. */
  private readonly backlog: Backlog | null

  constructor({ exchange, inFlight, lane }: Call, backlog: Backlog | null) {
    this.startedAt = exchange.startedAt
    this.exchange = exchange
    this.inFlight = inFlight
    this.lane = lane
    this.backlog = backlog
    inFlight.count += 1
    if (backlog !== null) backlog.sent(lane)
  }

  settle(code: string, body: string, replayed: boolean): void {
    this.inFlight.count -= 1
    if (this.backlog !== null) this.backlog.answered(this.lane, this.startedAt)
    if (code === '') this.accepted(body, replayed)
    else this.exchange.refuse(knownCode(code))
  }

  protected abstract accepted(body: string, replayed: boolean): void
}

/** Waits for the outcome of an operation. */
class Answering extends CommandInFlight {
  private readonly handler: Handler

  constructor(call: Call, handler: Handler) {
    super(call, handler.waitsBesideCycle === true ? null : call.backlog)
    this.handler = handler
  }

  protected accepted(body: string, replayed: boolean): void {
    const { status, headers } = this.handler.success(replayed)
    this.exchange.answer(status, body, headers)
  }
}

/**
 * Waits until a nonce is consumed or a token is looked up, then refuses. A nonce that was seen
 * before and a token that is used up go first.
 */
class Burning extends CommandInFlight {
  private readonly code: ErrorCode
  private readonly headers: AnswerHeaders

  constructor(call: Call, code: ErrorCode, headers: AnswerHeaders) {
    super(call, call.backlog)
    this.code = code
    this.headers = headers
  }

  protected accepted(): void {
    this.exchange.refuse(this.code, this.headers)
  }
}
