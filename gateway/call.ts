/**
 * A call: a request on its way to the processor and back.
 *
 * Owns: the order of checks at the door. Does not own: each check, the operations (routes/).
 *
 * J1. Nobody learns about routes, bodies or states before he proved who he is, wherever a proof is
 *     asked for.
 * J2. A signature that verified burns its nonce, also when the call is refused here: `burn_only`.
 *     Only a call over its rate does not, as sparing the processor is the point of refusing it.
 */
import type { Command } from '../protos/types/causeway/v1/Command.js'
import { ANSWER_WITHIN_MS } from '../src/base/bounds.js'
import type { Instant } from '../src/base/clock.js'
import type { ErrorCode } from '../src/base/errors.js'
import type { Authenticator, Caller } from './authenticate.js'
import type { AnswerHeaders, Exchange } from './exchange.js'
import type { Hosts } from './hosts.js'
import { knownCode } from './problem.js'
import type { ProcessorClient, Waiting } from './processor_client.js'
import type { RateLimit } from './rate_limit.js'
import type { Destination, Handler } from './route.js'

export interface CallOptions {
  readonly hosts: Hosts
  readonly authenticator: Authenticator
  readonly rateLimit: RateLimit
  readonly defaultRatePerSecond: number
  readonly processor: ProcessorClient
}

export function serveCall(
  options: CallOptions,
  exchange: Exchange,
  destination: Destination,
): void {
  const { authenticator, processor } = options
  const { route, id, refusalHeaders } = destination
  const host = exchange.header('host')
  const environment = options.hosts(typeof host === 'string' ? host : '')
  if (environment === undefined) return exchange.refuse('not_found')
  if (!route.ok && !authenticator.isSigned(exchange)) {
    return exchange.refuse(route.code, refusalHeaders)
  }
  const auth = route.ok ? route.value.auth : 'hmac'
  const caller = authenticator.authenticate(exchange, auth, environment, id)
  if (!caller.ok) return exchange.refuse(caller.code)
  const waitSeconds = rateLimited(options, caller.value)
  if (waitSeconds > 0) {
    return exchange.refuse('rate_limited', [['Retry-After', String(waitSeconds)]])
  }
  if (!route.ok) return turnAway(processor, exchange, caller.value, route.code, refusalHeaders)
  const { handler } = route.value
  const { sessionJti, receiptSubject } = caller.value
  const operation = handler.decode({ exchange, id, sessionJti, receiptSubject })
  if (!operation.ok) return turnAway(processor, exchange, caller.value, operation.code, [])
  const command = commandOf(exchange, caller.value, operation.value)
  processor.submit(command, new Answering(exchange, handler))
}

/** Refuses a caller who is known: after its nonce is burnt, if it has one. */
function turnAway(
  processor: ProcessorClient,
  exchange: Exchange,
  caller: Caller,
  code: ErrorCode,
  headers: AnswerHeaders,
): void {
  if (caller.signedBy === null) return exchange.refuse(code, headers)
  const command = commandOf(exchange, caller, { burn_only: true })
  processor.submit(command, new Burning(exchange, code, headers))
}

function rateLimited(options: CallOptions, { rateKey, ratePerSecond }: Caller): number {
  const perSecond = ratePerSecond === 0 ? options.defaultRatePerSecond : ratePerSecond
  return options.rateLimit(rateKey, perSecond)
}

/**
 * The operation is a fresh object of ours and becomes the command: a copy of it would cost a
 * microsecond.
 */
function commandOf(
  { requestId }: Exchange,
  { tenant, signedBy }: Caller,
  command: Command,
): Command {
  command.ticket = 0
  command.request_id = requestId
  command.budget_ms = ANSWER_WITHIN_MS
  command.tenant = tenant
  command.signed_by = signedBy
  return command
}

/** Waits for the outcome of an operation. */
class Answering implements Waiting {
  readonly startedAt: Instant
  private readonly exchange: Exchange
  private readonly handler: Handler

  constructor(exchange: Exchange, handler: Handler) {
    this.startedAt = exchange.startedAt
    this.exchange = exchange
    this.handler = handler
  }

  settle(code: string, body: string, replayed: boolean): void {
    if (code !== '') return this.exchange.refuse(knownCode(code))
    const { status, headers } = this.handler.success(replayed)
    this.exchange.answer(status, body, headers)
  }
}

/** Waits for a nonce to be burnt, then refuses. A nonce that was seen before goes first. */
class Burning implements Waiting {
  readonly startedAt: Instant
  private readonly exchange: Exchange
  private readonly code: ErrorCode
  private readonly headers: AnswerHeaders

  constructor(exchange: Exchange, code: ErrorCode, headers: AnswerHeaders) {
    this.startedAt = exchange.startedAt
    this.exchange = exchange
    this.code = code
    this.headers = headers
  }

  settle(code: string): void {
    if (code === '') this.exchange.refuse(this.code, this.headers)
    else this.exchange.refuse(knownCode(code))
  }
}
