/**
 * The request log: one line for an authenticated request, counts for everything else.
 *
 * - The number of lines a second is bounded: for served requests, for refusals of one caller and
 *   for refusals of all callers. One more line counts the others.
 * - Unauthenticated requests are only counted, by code.
 * - With LOG_LEVEL=debug every authenticated request has its line.
 * - No line has free text of a caller: a path is a route, an id has the form of an id, a violation
 *   names no value.
 */
import { SECOND } from '../src/base/clock.js'
import type { ErrorCode, Violation } from '../src/base/errors.js'
import { isId, partsOfTenant, type RequestId } from '../src/base/ids.js'
import type { Logger } from '../src/base/log.js'
import type { Settings } from '../src/settings/settings.js'
import type { Caller } from './http/caller.js'

/** The facts of an answered request. */
export interface AnsweredRequest {
  readonly requestId: RequestId
  readonly method: string
  /** Undefined means that it is not authenticated. */
  readonly caller: Caller | undefined
  /** Undefined means that it was served. */
  readonly code: ErrorCode | undefined
  readonly violation: Violation | undefined
  readonly replayed: boolean
}

export interface RequestLog {
  /** `body` is that of the answer. */
  answered(
    request: AnsweredRequest,
    route: { readonly name: string; readonly id: string },
    status: number,
    elapsedMs: number,
    body: string,
  ): void
  connectionRefused(code: ErrorCode): void
  stop(): void
}

/** Lines a second, for all callers together. */
export const REFUSAL_LINES_MAX = 200
/** Counted callers that are named in one line. */
const CALLERS_NAMED_MAX = 20

export interface RequestLogOptions {
  readonly log: Logger
  readonly settings: Pick<Settings, 'LOG_REQUESTS_PER_SECOND' | 'LOG_REFUSALS_PER_SECOND'>
}

export function createRequestLog({ log, settings }: RequestLogOptions): RequestLog {
  const isBounded = !log.isLevelEnabled('debug')
  const servedMax = isBounded ? settings.LOG_REQUESTS_PER_SECOND : Number.POSITIVE_INFINITY
  let served = 0
  let refusalLines = 0
  const unauthenticated = new Map<string, number>()
  /** Refusals of this second, by caller. */
  const refusals = new Map<string, Refusals>()

  /** Whether a refusal gets a line; without one it is counted. */
  const getsLine = (request: AnsweredRequest, rateKey: string): boolean => {
    let ofCaller = refusals.get(rateKey)
    if (ofCaller === undefined) refusals.set(rateKey, (ofCaller = { lines: 0, counts: new Map() }))
    const isWithinLimits =
      ofCaller.lines < settings.LOG_REFUSALS_PER_SECOND && refusalLines < REFUSAL_LINES_MAX
    if (isWithinLimits || !isBounded) {
      ofCaller.lines += 1
      refusalLines += 1
      return true
    }
    count(ofCaller.counts, request.code ?? OTHER)
    return false
  }

  /** The counts of the second that ends. */
  const endSecond = (): void => {
    const refusedMore = [...refusals].flatMap(([caller, { counts }]) =>
      countsOf(counts).map((counted) => ({ caller, ...counted })),
    )
    const servedMore = Math.max(0, served - servedMax)
    const unauthenticatedMore = countsOf(unauthenticated)
    served = 0
    refusalLines = 0
    refusals.clear()
    unauthenticated.clear()
    if (servedMore + refusedMore.length + unauthenticatedMore.length === 0) return
    refusedMore.sort((one, other) => other.count - one.count)
    const named = refusedMore.slice(0, CALLERS_NAMED_MAX)
    log.info(
      {
        served: servedMore,
        refused: named,
        unauthenticated: unauthenticatedMore,
      },
      'requests counted',
    )
  }

  const timer = setInterval(endSecond, SECOND)
  timer.unref()
  return {
    answered: (request, route, status, elapsedMs, body) => {
      const { caller } = request
      if (caller === undefined) return count(unauthenticated, request.code ?? OTHER)
      if (status < 400) {
        served += 1
        if (served > servedMax) return
      } else if (!getsLine(request, caller.rateKey)) return
      const line = lineOf(request, caller, route, status, elapsedMs, body)
      if (status < 400) log.info(line, 'request served')
      else if (status < 500) log.info(line, 'request refused')
      else log.warn(line, 'request failed')
    },
    connectionRefused: (code) => count(unauthenticated, code),
    stop: () => {
      clearInterval(timer)
      endSecond()
    },
  }
}

interface Refusals {
  lines: number
  /** Without a line, by code. */
  readonly counts: Map<string, number>
}

/** A request that was served without authentication. */
const OTHER = 'served'

function count(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1)
}

const countsOf = (
  counts: ReadonlyMap<string, number>,
): { readonly code: string; readonly count: number }[] =>
  [...counts].map(([code, many]) => ({ code, count: many }))

function lineOf(
  { requestId, method, code, violation, replayed }: AnsweredRequest,
  { tenant, signedBy }: Caller,
  route: { readonly name: string; readonly id: string },
  status: number,
  elapsedMs: number,
  body: string,
): object {
  const { partner, environment } = partsOfTenant(tenant)
  const entityId = isId(route.id) ? route.id : ENTITY.exec(body)?.[1]
  return {
    request_id: requestId,
    partner,
    environment,
    ...(signedBy === null ? {} : { key_id: signedBy.key_id }),
    method: METHOD.test(method) ? method : 'other',
    route: route.name.split(' ').at(-1),
    status,
    ...(code === undefined ? { replayed } : { code }),
    ...violation,
    ...(entityId === undefined ? {} : { entity_id: entityId }),
    elapsed_ms: elapsedMs,
  }
}

const METHOD = /^[A-Z]{1,10}$/
/** A created or shown entity begins with its id. */
const ENTITY = /^\{"(?:intent_)?id":"([a-z]{2,5}_[0-9A-Z]{26})"/
