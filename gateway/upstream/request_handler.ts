/**
 * A call: a request on its way to the processor and back.
 *
 * Owns: the order of checks at the gateway. Does not own: each check, the operations (routes/).
 *
 * - Nobody learns about routes, bodies or states before he proved who he is, wherever a proof is
 *   asked for.
 * - A signature that verified consumes its nonce, also when the call is refused here:
 *   `consume_nonce_only`. Only a call over a limit does not, as sparing the processor is the point
 *   of refusing it.
 * - A command is in flight from its submission until it is settled, whether its client waits or
 *   not.
 * - What is too much is refused before the body is read, where nobody has to be known for it.
 * - What has to wait for its turn waits before its signature is looked at; the processor has as
 *   much time for it as is left then. Who names no key of ours does not wait: a stranger is
 *   refused at once and cannot fill the line, and there are no long lines of tokens.
 */
import type { Command } from '../../protos/types/causeway/v1/Command.js'
import type { Clock, Instant } from '../../src/base/clock.js'
import type { ErrorCode } from '../../src/base/errors.js'
import type { Environment } from '../../src/base/ids.js'
import type { Authenticator, Caller } from '../authentication/authenticate.js'
import type { RequestScheduler } from '../admission/request_scheduler.js'
import type { BrandHeaders } from '../http/headers.js'
import { repeatKey } from '../decode/idempotency_key.js'
import type { Directory } from '../authentication/partner_directory.js'
import type { AnswerHeaders, RequestContext } from '../http/request_context.js'
import type { Hosts } from '../routing/hosts.js'
import type { TrafficClass, TrafficClassifier } from '../admission/traffic_class.js'
import type { InFlight, Limits } from '../admission/limits.js'
import { registeredCode } from '../http/error_response.js'
import type { ProcessorClient, Waiting } from './processor_client.js'
import type { RejectionThrottle } from '../admission/rejection_throttle.js'
import { OK, type RouteMatch, type Handler, type LocalHandler } from '../routing/route.js'

export interface RequestHandlerOptions {
  readonly brandHeaders: BrandHeaders
  readonly hosts: Hosts
  readonly limits: Limits
  readonly classify: TrafficClassifier
  readonly scheduler: RequestScheduler
  readonly rejectionThrottle: RejectionThrottle
  readonly authenticator: Authenticator
  readonly directory: Directory
  readonly processor: ProcessorClient
  readonly clock: Clock
}

/** Before anybody is known. False: it is to be served. */
export function rejectEarly(
  { limits, classify, scheduler, rejectionThrottle }: RequestHandlerOptions,
  request: RequestContext,
  { kind }: RouteMatch,
): boolean {
  const trafficClassOf = (): TrafficClass => classify(request)
  const admission = kind === 'local' ? 'passes' : limits.overload(request.startedAt, trafficClassOf)
  if (admission !== 'passes') {
    const tooMany = admission === 'flood' ? [...scheduler.drop(), request] : [request]
    for (const one of tooMany) {
      limits.shed()
      rejectionThrottle.add(() => one.refuse('configuration_error', RETRY_SOON))
    }
    return true
  }
  const waitAsSource = limits.source(request)
  if (waitAsSource > 0) refuseForNow(rejectionThrottle, request, waitAsSource)
  return waitAsSource > 0
}

const RETRY_SOON: AnswerHeaders = [['Retry-After', '1']]

export function handleRequest(
  options: RequestHandlerOptions,
  request: RequestContext,
  destination: RouteMatch,
): void {
  const { authenticator, scheduler, classify } = options
  const host = request.header('host')
  const environment = options.hosts(typeof host === 'string' ? host : '')
  if (environment === undefined) return request.refuse('not_found')
  if (destination.kind === 'local') {
    return answerHere(options, request, environment, destination.handler)
  }
  if (destination.kind === 'nowhere' && !authenticator.isSigned(request)) {
    return request.refuse(destination.code, destination.headers)
  }
  const trafficClass = classify(request)
  const serve = (): void => handle(options, request, destination, environment, trafficClass)
  if (trafficClass.of === 'key' && scheduler.mustHold())
    scheduler.hold(request, trafficClass, serve)
  else serve()
}

function handle(
  options: RequestHandlerOptions,
  request: RequestContext,
  destination: Exclude<RouteMatch, { kind: 'local' }>,
  environment: Environment,
  trafficClass: TrafficClass,
): void {
  const { limits, scheduler, rejectionThrottle, authenticator, processor } = options
  const auth = destination.kind === 'nowhere' ? 'hmac' : destination.route.auth
  const caller = authenticator.authenticate(request, auth, environment, destination.id)
  if (!caller.ok) return request.refuse(caller.code)
  const keyMaxLength =
    destination.kind === 'operation' ? destination.route.handler.keyMaxLength : undefined
  if (keyMaxLength !== undefined) repeatKey(request, keyMaxLength)
  const waitAsCaller = limits.caller(caller.value)
  if (waitAsCaller > 0) return refuseForNow(rejectionThrottle, request, waitAsCaller)

  const call: Call = {
    request,
    caller: caller.value,
    inFlight: limits.inFlight(caller.value.tenant),
    trafficClass,
    scheduler,
  }
  if (destination.kind === 'nowhere') {
    return consumeNonceAndReject(processor, call, destination.code, destination.headers)
  }
  const { handler } = destination.route
  const { sessionJti, receiptSubject } = caller.value
  const operation = handler.decode({ request, id: destination.id, sessionJti, receiptSubject })
  if (!operation.ok) {
    const { code } = operation
    if (auth === 'session') return checkAndRefuse(processor, call, destination.id, code)
    return consumeNonceAndReject(processor, call, code, [])
  }
  const command = commandOf(call, operation.value)
  processor.submit(command, new Answering(call, handler), request.body.length)
}

const refuseForNow = (
  throttle: RejectionThrottle,
  request: RequestContext,
  seconds: number,
): void => throttle.add(() => request.refuse('rate_limited', [['Retry-After', String(seconds)]]))

function answerHere(
  { directory, brandHeaders, clock }: RequestHandlerOptions,
  request: RequestContext,
  environment: Environment,
  handler: LocalHandler,
): void {
  const partners = directory.partners()
  if (partners === undefined) return request.refuse('configuration_error')
  const now = clock.now()
  const body = handler.answer({ request, environment, brandHeaders, partners, now })
  if (body.ok) request.answer(OK.status, body.value)
  else request.refuse(body.code)
}

/** A request whose caller is known. */
interface Call {
  readonly request: RequestContext
  readonly caller: Caller
  readonly inFlight: InFlight
  readonly trafficClass: TrafficClass
  readonly scheduler: RequestScheduler
}

/** Refuses a caller who is known: after its nonce is consumed, if it has one. */
function consumeNonceAndReject(
  processor: ProcessorClient,
  call: Call,
  code: ErrorCode,
  headers: AnswerHeaders,
): void {
  if (call.caller.signedBy === null) return call.request.refuse(code, headers)
  processor.submit(
    commandOf(call, { consume_nonce_only: true }),
    new ConsumingNonce(call, code, headers),
  )
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
  processor.submit(commandOf(call, command), new ConsumingNonce(call, code, []))
}

/**
 * The operation is a fresh object of ours and becomes the command: a copy of it would cost a
 * microsecond.
 */
function commandOf({ request, caller }: Call, command: Command): Command {
  command.ticket = 0
  command.budget_ms = request.timeLeft()
  command.tenant = caller.tenant
  command.signed_by = caller.signedBy
  return command
}

/** What both kinds of command have in common: they are in flight until they are settled. */
abstract class CommandInFlight implements Waiting {
  readonly startedAt: Instant
  protected readonly request: RequestContext
  private readonly inFlight: InFlight
  private readonly trafficClass: TrafficClass
  /** Null: its answer is waited for beside the processor's cycle. */
  private readonly scheduler: RequestScheduler | null

  constructor({ request, inFlight, trafficClass }: Call, scheduler: RequestScheduler | null) {
    this.startedAt = request.startedAt
    this.request = request
    this.inFlight = inFlight
    this.trafficClass = trafficClass
    this.scheduler = scheduler
    inFlight.count += 1
    if (scheduler !== null) scheduler.sent(trafficClass)
  }

  settle(code: string, body: string, replayed: boolean): void {
    this.inFlight.count -= 1
    if (this.scheduler !== null) this.scheduler.answered(this.trafficClass, this.startedAt)
    if (code === '') this.accepted(body, replayed)
    else this.request.refuse(registeredCode(code))
  }

  protected abstract accepted(body: string, replayed: boolean): void
}

/** Waits for the outcome of an operation. */
class Answering extends CommandInFlight {
  private readonly handler: Handler

  constructor(call: Call, handler: Handler) {
    super(call, handler.waitsBesideCycle === true ? null : call.scheduler)
    this.handler = handler
  }

  protected accepted(body: string, replayed: boolean): void {
    const { status, headers } = this.handler.success(replayed)
    this.request.answer(status, body, headers)
  }
}

/**
 * Waits until a nonce is consumed or a token is looked up, then refuses. A nonce that was seen
 * before and a token that is used up go first.
 */
class ConsumingNonce extends CommandInFlight {
  private readonly code: ErrorCode
  private readonly headers: AnswerHeaders

  constructor(call: Call, code: ErrorCode, headers: AnswerHeaders) {
    super(call, call.scheduler)
    this.code = code
    this.headers = headers
  }

  protected accepted(): void {
    this.request.refuse(this.code, this.headers)
  }
}
