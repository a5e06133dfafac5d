/**
 * Route types and the router, which matches method and path.
 *
 * Does not own: the route table (app.ts), the operations (routes/).
 *
 * - Paths match as sent, without decoding or normalization: `//`, `%2e` and a trailing slash make
 *   other paths.
 * - A path has at most one parameter, which is one whole, non-empty segment.
 */
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { BODY_MAX_BYTES } from '../../src/base/constants.js'
import type { Instant } from '../../src/base/clock.js'
import type { ErrorCode, Outcome } from '../../src/base/errors.js'
import type { Environment } from '../../src/base/ids.js'
import type { StaticFile, StaticFiles } from '../docs/static_file.js'
import type { BrandHeaders } from '../http/headers.js'
import type { AnswerHeaders, RequestContext, Target } from '../http/request_context.js'
import type { Partners } from '../authentication/partners.js'

/** How a route authenticates its caller. `hmac_or_session`: a bearer token decides if present. */
export type Auth = 'hmac' | 'session' | 'hmac_or_session' | 'receipt'

/** The `operation` oneof of a command, with one member set. */
export type Operation = Pick<Command, NonNullable<Command['operation']>>

export interface RouteInput {
  readonly request: RequestContext
  /** The path's parameter; empty when the path has none. */
  readonly id: string
  /** The token's `jti` on session routes, else empty. */
  readonly sessionJti: string
  /** The subject of the receipt token on receipt routes, else empty. */
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
  /** The command, or the code to reject with. */
  decode(input: RouteInput): Outcome<Operation>
  /** Status and headers of the answer to an accepted command. */
  success(replayed: boolean): Success
  /** Default: false. See errorStatus in http/error_response.ts. */
  readonly refusesAsConflict?: boolean
  /** Default: false. The processor answers it outside of its command cycle, as it does lists. */
  readonly runsOutsideCycle?: boolean
  /** Maximum length of the Idempotency-Key. Default: the route does not read one. */
  readonly keyMaxLength?: number
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The parameter is written `{name}`. */
  readonly path: string
  readonly auth: Auth
  readonly bodyMaxBytes: number
  readonly handler: Handler
}

/** Input of a route that the gateway answers without the processor and without authentication. */
export interface LocalInput {
  readonly request: RequestContext
  readonly environment: Environment
  readonly brandHeaders: BrandHeaders
  readonly partners: Partners
  readonly now: Instant
  /** The OpenAPI document. */
  readonly openApi: StaticFile
  readonly find: Router
}

export interface LocalHandler {
  /** The body of a 200, or the code to reject with. */
  answer(input: LocalInput): Outcome<string | StaticFile>
}

export interface LocalRoute {
  readonly method: 'GET' | 'POST'
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

const localRouteOf =
  (method: LocalRoute['method']) =>
  (path: string, handler: LocalHandler): LocalRoute => ({
    method,
    path,
    auth: 'none',
    bodyMaxBytes: BODY_MAX_BYTES,
    handler,
  })

export const local = localRouteOf('POST')
export const localGet = localRouteOf('GET')

/** The result of routing a request. */
export type RouteMatch = Target & {
  /** The route's pattern, for metrics; never the path as sent. */
  readonly name: string
  /** The path's parameter; empty when there is none. */
  readonly id: string
} & (
    | { readonly kind: 'operation'; readonly route: Route }
    | { readonly kind: 'local'; readonly handler: LocalHandler }
    | { readonly kind: 'file'; readonly file: StaticFile }
    | { readonly kind: 'no_route'; readonly code: ErrorCode; readonly headers: AnswerHeaders }
  )

export type Router = (method: string, path: string) => RouteMatch

/** Files are looked up last: routes cost the same with and without them. */
export function createRouter(routes: readonly AnyRoute[], files: StaticFiles = new Map()): Router {
  const exact = new Map<string, PathEntry>()
  const patterns = new Map<string, PathEntry>()
  for (const entry of routes) {
    const entries = entry.path.includes('{') ? patterns : exact
    let pathEntry = entries.get(entry.path)
    if (pathEntry === undefined) entries.set(entry.path, (pathEntry = pathEntryOf(entry.path)))
    pathEntry.routes.set(entry.method, matchOf(entry))
  }
  return (method, path) => {
    const entry = exact.get(path)
    if (entry !== undefined) return matchMethod(entry, method, '')
    for (const pattern of patterns.values()) {
      const id = parameterOf(pattern, path)
      if (id !== undefined) return matchMethod(pattern, method, id)
    }
    const file = files.get(path)
    return file === undefined ? NO_ROUTE : { ...NO_ROUTE, kind: 'file', name: 'docs', file }
  }
}

/** A path pattern and its methods. */
interface PathEntry {
  readonly prefix: string
  readonly suffix: string
  /** By method; `id` is still empty. */
  readonly routes: Map<string, RouteMatch>
}

function pathEntryOf(path: string): PathEntry {
  const [prefix = '', suffix = ''] = path.split(/\{[a-z_]+\}/)
  return { prefix, suffix, routes: new Map() }
}

function parameterOf({ prefix, suffix }: PathEntry, path: string): string | undefined {
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined
  const id = path.slice(prefix.length, path.length - suffix.length)
  return id === '' || id.includes('/') ? undefined : id
}

function matchMethod({ routes }: PathEntry, method: string, id: string): RouteMatch {
  const found = routes.get(method)
  if (found === undefined) return wrongMethod([...routes.keys()].join(', '))
  return id === '' ? found : { ...found, id }
}

function matchOf(entry: AnyRoute): RouteMatch {
  const { bodyMaxBytes } = entry
  const name = `${entry.method} ${entry.path}`
  if (entry.auth === 'none') {
    const { handler } = entry
    return { kind: 'local', name, id: '', bodyMaxBytes, refusesAsConflict: false, handler }
  }
  const refusesAsConflict = entry.handler.refusesAsConflict ?? false
  return { kind: 'operation', name, id: '', bodyMaxBytes, refusesAsConflict, route: entry }
}

export const NO_ROUTE = {
  kind: 'no_route',
  name: 'unknown',
  id: '',
  bodyMaxBytes: BODY_MAX_BYTES,
  refusesAsConflict: false,
  code: 'not_found',
  headers: [],
} as const satisfies RouteMatch

const wrongMethod = (allowed: string): RouteMatch => ({
  ...NO_ROUTE,
  name: 'wrong_method',
  code: 'method_not_allowed',
  headers: [['Allow', allowed]],
})
