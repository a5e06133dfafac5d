/**
 * Routes: what one is, and which one a request is for.
 *
 * Owns: matching method and path. Does not own: the table itself (app), what the routes do
 * (routes/).
 *
 * - Paths are matched as sent. Nothing is decoded or normalized: `//`, `%2e` and a trailing slash
 *   are other paths.
 * - A path holds at most one parameter, which is one whole segment and never empty.
 */
import type { Command } from '../../protos/types/causeway/v1/Command.js'
import { BODY_MAX_BYTES } from '../../src/base/constants.js'
import type { Instant } from '../../src/base/clock.js'
import type { ErrorCode, Outcome } from '../../src/base/errors.js'
import type { Environment } from '../../src/base/ids.js'
import type { BrandHeaders } from '../http/headers.js'
import type { AnswerHeaders, RequestContext, Target } from '../http/request_context.js'
import type { Partners } from '../authentication/partners.js'

/** How a caller proves who it is. `hmac_or_session`: a bearer decides when there is one. */
export type Auth = 'hmac' | 'session' | 'hmac_or_session' | 'receipt'

/** The `operation` of a command, one member of it set. */
export type Operation = Pick<Command, NonNullable<Command['operation']>>

export interface RouteInput {
  readonly request: RequestContext
  /** The path's parameter; empty when the path has none. */
  readonly id: string
  /** The token's own id on session calls, else empty. */
  readonly sessionJti: string
  /** Whose receipts the token opens on receipt calls, else empty. */
  readonly receiptSubject: string
}

export interface Success {
  readonly status: number
  readonly headers: AnswerHeaders
}

export const OK: Success = { status: 200, headers: [] }
export const CREATED: Success = { status: 201, headers: [] }
export const ACCEPTED: Success = { status: 202, headers: [] }

export interface Handler {
  /** The request as a command, or why not. */
  decode(input: RouteInput): Outcome<Operation>
  /** How an accepted command is answered. */
  success(replayed: boolean): Success
  /** Left out: false. See problem. */
  readonly refusesAsConflict?: boolean
  /** Left out: false. Its answer is waited for beside the processor's cycle, as lists are. */
  readonly waitsBesideCycle?: boolean
  /** It reads the Idempotency-Key: the longest one that it takes. Left out: it reads none. */
  readonly keyMaxLength?: number
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With the parameter as `{name}`. */
  readonly path: string
  readonly auth: Auth
  readonly bodyMaxBytes: number
  readonly handler: Handler
}

/** What a route knows that the gateway answers by itself, to anybody. */
export interface LocalInput {
  readonly request: RequestContext
  readonly environment: Environment
  readonly brandHeaders: BrandHeaders
  readonly partners: Partners
  readonly now: Instant
}

export interface LocalHandler {
  /** The body of a 200, or the refusal. */
  answer(input: LocalInput): Outcome<string>
}

export interface LocalRoute {
  readonly method: 'POST'
  readonly path: string
  readonly auth: 'none'
  readonly bodyMaxBytes: number
  readonly handler: LocalHandler
}

export type AnyRoute = Route | LocalRoute

const routeOf =
  (method: Route['method']) =>
  (path: string, auth: Auth, handler: Handler, bodyMaxBytes = BODY_MAX_BYTES): Route => ({
    method,
    path,
    auth,
    bodyMaxBytes,
    handler,
  })

export const get = routeOf('GET')
export const post = routeOf('POST')
export const patch = routeOf('PATCH')
export const remove = routeOf('DELETE')
export const local = (path: string, handler: LocalHandler): LocalRoute => ({
  method: 'POST',
  path,
  auth: 'none',
  bodyMaxBytes: BODY_MAX_BYTES,
  handler,
})

/** Where a request goes. */
export type RouteMatch = Target & {
  /** For metrics: the route's pattern, never the path sent. */
  readonly name: string
  /** The path's parameter; empty when there is none. */
  readonly id: string
} & (
    | { readonly kind: 'operation'; readonly route: Route }
    | { readonly kind: 'local'; readonly handler: LocalHandler }
    | { readonly kind: 'nowhere'; readonly code: ErrorCode; readonly headers: AnswerHeaders }
  )

export type Router = (method: string, path: string) => RouteMatch

export function createRouter(routes: readonly AnyRoute[]): Router {
  const exact = new Map<string, Place>()
  const patterns = new Map<string, Place>()
  for (const entry of routes) {
    const places = entry.path.includes('{') ? patterns : exact
    let place = places.get(entry.path)
    if (place === undefined) places.set(entry.path, (place = placeOf(entry.path)))
    place.routes.set(entry.method, destinationOf(entry))
  }
  return (method, path) => {
    const place = exact.get(path)
    if (place !== undefined) return arrive(place, method, '')
    for (const pattern of patterns.values()) {
      const id = parameterOf(pattern, path)
      if (id !== undefined) return arrive(pattern, method, id)
    }
    return NOWHERE
  }
}

/** One path with its methods. */
interface Place {
  readonly prefix: string
  readonly suffix: string
  /** By method; without the parameter. */
  readonly routes: Map<string, RouteMatch>
}

function placeOf(path: string): Place {
  const [prefix = '', suffix = ''] = path.split(/\{[a-z_]+\}/)
  return { prefix, suffix, routes: new Map() }
}

function parameterOf({ prefix, suffix }: Place, path: string): string | undefined {
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined
  const id = path.slice(prefix.length, path.length - suffix.length)
  return id === '' || id.includes('/') ? undefined : id
}

function arrive({ routes }: Place, method: string, id: string): RouteMatch {
  const found = routes.get(method)
  if (found === undefined) return wrongMethod([...routes.keys()].join(', '))
  return id === '' ? found : { ...found, id }
}

function destinationOf(entry: AnyRoute): RouteMatch {
  const { bodyMaxBytes } = entry
  const name = `${entry.method} ${entry.path}`
  if (entry.auth === 'none') {
    const { handler } = entry
    return { kind: 'local', name, id: '', bodyMaxBytes, refusesAsConflict: false, handler }
  }
  const refusesAsConflict = entry.handler.refusesAsConflict ?? false
  return { kind: 'operation', name, id: '', bodyMaxBytes, refusesAsConflict, route: entry }
}

const NOWHERE = {
  kind: 'nowhere',
  name: 'unknown',
  id: '',
  bodyMaxBytes: BODY_MAX_BYTES,
  refusesAsConflict: false,
  code: 'not_found',
  headers: [],
} as const satisfies RouteMatch

const wrongMethod = (allowed: string): RouteMatch => ({
  ...NOWHERE,
  name: 'wrong_method',
  code: 'method_not_allowed',
  headers: [['Allow', allowed]],
})
