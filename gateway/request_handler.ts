/**
 * The request pipeline of the gateway: admission, authentication, decoding, submission to the
 * processor.
 *
 * Owns: the order of the checks. Does not own: the checks themselves, the operations (src/api).
 *
 * - Where a route requires authentication, an unauthenticated caller learns nothing about routes,
 *   bodies or states.
 * - A verified signature consumes its nonce even when the gateway rejects the request
 *   (`consume_nonce_only`). Only a request over a rate limit does not: that rejection exists to
 *   spare the processor.
 * - A command counts as in flight from its submission until it settles, whether or not its client
 *   is still connected.
 * - Overload and the per-source rate are checked before the body is read and before authentication.
 * - Signed requests are queued before their signature is verified; the processor's time budget is
 *   what then remains. Requests with an unknown key id are rejected immediately instead of queued,
 *   so they cannot fill the queue. Token requests are not queued.
 */
import type { Command } from '../protos/types/causeway/internal/v1/Command.js'
import type { Clock, Instant } from '../src/base/clock.js'
import { refused, type Refusal, type Violation } from '../src/base/errors.js'
import type { Environment } from '../src/base/ids.js'
import type { Authenticator } from './authentication/authenticate.js'
import type { Caller } from './http/caller.js'
import type { RequestScheduler } from './admission/request_scheduler.js'
import type { StaticFile } from './http/static_file.js'
import { echoKey } from './decode/idempotency_key.js'
import type { Directory } from './authentication/partners.js'
import type { AnswerHeaders, BrandHeaders } from './http/headers.js'
import type { RequestContext, RequestTrace } from './http/request_context.js'
import type { RequestTraces } from './request_traces.js'
import type { Hosts } from './routing/hosts.js'
import type { TrafficClass, TrafficClassifier } from './admission/traffic_class.js'
import type { Exceeded, InFlight, Limits } from './admission/limits.js'
import { registeredCode } from './http/error_response.js'
import type { ProcessorClient } from './upstream/processor_client.js'
import type { PendingCommand } from './upstream/pending_command.js'
import type { RejectionThrottle } from './admission/rejection_throttle.js'
import {
  NO_ROUTE,
  type RouteMatch,
  type Router,
  type Handler,
  type Route,
  type LocalHandler,
} from './routing/route.js'

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
  /** The OpenAPI document. */
  readonly openApi: StaticFile
  readonly find: Router
  /** Undefined means that nothing is traced. */
  readonly traces?: RequestTraces | undefined
}

/** Overload and per-source limits, before authentication. True if it is rejected. */
export function rejectEarly(
  { limits, classify, scheduler, rejectionThrottle }: RequestHandlerOptions,
  request: RequestContext,
  { kind }: RouteMatch,
): boolean {
  const trafficClassOf = (): TrafficClass => classify(request)
  const admission = kind === 'local' ? 'passes' : limits.overload(request.startedAt, trafficClassOf)
  if (admission !== 'passes') {
    const rejected = admission === 'flood' ? [...scheduler.drop(), request] : [request]
    for (const one of rejected) {
      limits.shed()
      rejectionThrottle.add(() => one.refuse('configuration_error'))
    }
    return true
  }
  const exceeded = limits.source(request)
  if (exceeded !== null) rejectRateLimited(rejectionThrottle, request, exceeded)
  return exceeded !== null
}

export function handleRequest(
  options: RequestHandlerOptions,
  request: RequestContext,
  routed: RouteMatch,
): void {
  const { authenticator, scheduler, classify } = options
  const host = request.header('host')
  const environment = options.hosts(typeof host === 'string' ? host : '')
  if (environment === undefined) return request.refuse('not_found')
  request.environment = environment
  if (routed.kind === 'local') {
    return answerLocally(options, request, environment, routed.handler)
  }
  if (routed.kind === 'file' && environment === 'sandbox') {
    return answerWithFile(request, routed.file)
  }
  // In production a path of the documentation is an unknown path.
  const match = routed.kind === 'file' ? NO_ROUTE : routed
  if (match.kind === 'no_route' && !authenticator.isSigned(request)) {
    return request.refuse(match.code, match.headers)
  }
  const trafficClass = classify(request)
  const serve = (): void => handle(options, request, match, environment, trafficClass)
  if (trafficClass.of === 'key' && scheduler.mustHold())
    scheduler.hold(request, trafficClass, serve)
  else serve()
}

function handle(
  options: RequestHandlerOptions,
  request: RequestContext,
  match: Exclude<RouteMatch, { kind: 'local' | 'file' }>,
  environment: Environment,
  trafficClass: TrafficClass,
): void {
  const { limits, scheduler, rejectionThrottle, authenticator, processor } = options
  const auth = match.kind === 'no_route' ? 'hmac' : match.route.auth
  const caller = authenticator.authenticate(request, auth, environment, match.id)
  if (!caller.ok) return request.refuse(caller.code)
  request.caller = caller.value
  const keyMaxLength = match.kind === 'operation' ? match.route.operation.key?.maxLength : undefined
  if (keyMaxLength !== undefined) echoKey(request, keyMaxLength)
  const exceeded = limits.caller(caller.value)
  if (exceeded !== null) return rejectRateLimited(rejectionThrottle, request, exceeded)

  const call: AdmittedRequest = {
    request,
    caller: caller.value,
    inFlight: limits.inFlight(caller.value.tenant),
    trafficClass,
    scheduler,
  }
  if (match.kind === 'no_route') {
    return consumeNonceAndReject(processor, call, refused(match.code), match.headers)
  }
  options.traces?.begin(request, match.id)
  const { handler } = match.route
  const { sessionJti, receiptSubject } = caller.value
  const decoded = handler.decode({ request, id: match.id, sessionJti, receiptSubject })
  if (!decoded.ok) {
    if (auth === 'session') return checkSessionAndReject(processor, call, match.id, decoded)
    return consumeNonceAndReject(processor, call, decoded, [])
  }
  const command = commandOf(call, decoded.value)
  processor.submit(command, new PendingOperation(call, match.route), request.body.length)
}

const rejectRateLimited = (
  throttle: RejectionThrottle,
  request: RequestContext,
  exceeded: Exceeded,
): void => throttle.add(() => request.refuse('rate_limited', rateLimitHeaders(exceeded)))

/** The names of the IETF draft (draft-ietf-httpapi-ratelimit-headers-03). */
const rateLimitHeaders = ({ limit, retryAfter }: Exceeded): AnswerHeaders => [
  ['Retry-After', String(retryAfter)],
  ['RateLimit-Limit', String(limit)],
  ['RateLimit-Remaining', '0'],
  ['RateLimit-Reset', String(retryAfter)],
]

function answerLocally(
  { directory, brandHeaders, clock, openApi, find }: RequestHandlerOptions,
  request: RequestContext,
  environment: Environment,
  handler: LocalHandler,
): void {
  const partners = directory.partners()
  if (partners === undefined) return request.refuse('configuration_error')
  const now = clock.now()
  const input = { request, environment, brandHeaders, partners, now, openApi, find }
  const body = handler.answer(input)
  if (!body.ok) request.refuse(body.code, [], body.violation)
  else if (typeof body.value === 'string') request.answer(200, body.value)
  else request.answerFile(body.value)
}

function answerWithFile(request: RequestContext, file: StaticFile): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead) request.answerFile(file)
  else request.refuse('method_not_allowed', [['Allow', 'GET, HEAD']])
}

/** An authenticated request. */
interface AdmittedRequest {
  readonly request: RequestContext
  readonly caller: Caller
  readonly inFlight: InFlight
  readonly trafficClass: TrafficClass
  readonly scheduler: RequestScheduler
}

/** Rejects an authenticated request after consuming its nonce, if it has one. */
function consumeNonceAndReject(
  processor: ProcessorClient,
  call: AdmittedRequest,
  refusal: Refusal,
  headers: AnswerHeaders,
): void {
  if (call.caller.signedBy === null) {
    return call.request.refuse(refusal.code, headers, refusal.violation)
  }
  processor.submit(
    commandOf(call, { consume_nonce_only: true }),
    new PendingRejection(call, refusal, headers),
  )
}

/** Rejects a session request. A consumed token takes precedence over the other fault. */
function checkSessionAndReject(
  processor: ProcessorClient,
  call: AdmittedRequest,
  intentId: string,
  refusal: Refusal,
): void {
  const { sessionJti } = call.caller
  const command = { check_session: { intent_id: intentId, session_jti: sessionJti } }
  processor.submit(commandOf(call, command), new PendingRejection(call, refusal, []))
}

/** Fills in the operation object instead of copying it: a copy costs a microsecond. */
function commandOf({ request, caller }: AdmittedRequest, command: Command): Command {
  command.ticket = 0
  command.request_id = request.requestId
  command.budget_ms = request.timeLeft()
  command.tenant = caller.tenant
  command.signed_by = caller.signedBy
  if (request.trace !== undefined) command.traceparent = request.trace.self
  return command
}

/** A command that counts as in flight until it settles. */
abstract class CommandInFlight implements PendingCommand {
  readonly startedAt: Instant
  protected readonly request: RequestContext
  private readonly inFlight: InFlight
  private readonly trafficClass: TrafficClass
  /** Null means that it is at no processor, or is answered outside of the command cycle. */
  private scheduler: RequestScheduler | null

  constructor(
    { request, inFlight, trafficClass }: AdmittedRequest,
    scheduler: RequestScheduler | null,
  ) {
    this.startedAt = request.startedAt
    this.request = request
    this.inFlight = inFlight
    this.trafficClass = trafficClass
    this.scheduler = scheduler
    inFlight.count += 1
    if (scheduler !== null) scheduler.sent(trafficClass)
  }

  settle(
    code: string,
    body: string,
    replayed: boolean,
    violation: Violation | null = null,
    trace: RequestTrace | undefined = undefined,
  ): void {
    if (trace !== undefined) this.request.trace = trace
    this.inFlight.count -= 1
    if (this.scheduler !== null) this.scheduler.answered(this.trafficClass, this.startedAt)
    if (code === '') this.accepted(body, replayed)
    else this.request.refuse(registeredCode(code), [], violation ?? undefined)
  }

  suspended(): void {
    if (this.scheduler === null) return
    this.scheduler.answered(this.trafficClass, this.startedAt)
    this.scheduler = null
  }

  protected abstract accepted(body: string, replayed: boolean): void
}

/** Answers the request with the outcome of its operation. */
class PendingOperation extends CommandInFlight {
  private readonly handler: Handler

  constructor(call: AdmittedRequest, { handler, operation }: Route) {
    super(call, operation.runsOutsideCycle === true ? null : call.scheduler)
    this.handler = handler
  }

  protected accepted(body: string, replayed: boolean): void {
    const { status, headers } = this.handler.success(replayed)
    this.request.replayed = replayed
    this.request.answer(status, body, headers)
  }
}

/**
 * Rejects the request once its nonce is consumed or its token checked; a repeated nonce or a
 * consumed token takes precedence.
 */
class PendingRejection extends CommandInFlight {
  private readonly refusal: Refusal
  private readonly headers: AnswerHeaders

  constructor(call: AdmittedRequest, refusal: Refusal, headers: AnswerHeaders) {
    super(call, call.scheduler)
    this.refusal = refusal
    this.headers = headers
  }

  protected accepted(): void {
    this.request.refuse(this.refusal.code, this.headers, this.refusal.violation)
  }
}
