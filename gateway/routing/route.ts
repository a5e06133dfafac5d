/**
 * Route types and the router, which matches method and path.
 *
 * Does not own: the operations (src/api), the table of routes (app.ts).
 *
 * - Paths match as sent, without decoding or normalization: `//`, `%2e` and a trailing slash make
 *   other paths.
 * - A path has at most one parameter, which is one whole, non-empty segment.
 */
import { BODY_MAX_BYTES } from '../../src/base/constants.js'
import type { Instant } from '../../src/base/clock.js'
import type { ErrorCode, Outcome } from '../../src/base/errors.js'
import type { Environment } from '../../src/base/ids.js'
import type { AnyOperation, Auth, LocalOperation, OperationName } from '../../src/api/operation.js'
import { decodeOperation, type Operation, type RouteInput } from '../decode/operation.js'
import type { StaticFile, StaticFiles } from '../http/static_file.js'
import type { AnswerHeaders, BrandHeaders } from '../http/headers.js'
import type { RequestContext, Target } from '../http/request_context.js'
import type { Partners } from '../authentication/partners.js'

export interface Success {
  readonly status: number
  readonly headers: AnswerHeaders
}

export interface Handler {
  /** The command, or the code to reject with. */
  decode(input: RouteInput): Outcome<Operation>
  /** Status and headers of the answer to an accepted command. */
  success(replayed: boolean): Success
}

export interface Route {
  readonly method: AnyOperation['method']
  /** The parameter is written `{name}`. */
  readonly path: string
  readonly auth: Auth
  readonly bodyMaxBytes: number
  readonly operation: AnyOperation
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
  readonly method: LocalOperation['method']
  readonly path: string
  readonly auth: 'none'
  readonly bodyMaxBytes: number
  readonly operation: LocalOperation
  readonly handler: LocalHandler
}

export type AnyRoute = Route | LocalRoute

export function routeOf(name: OperationName, operation: AnyOperation): Route {
  const { method, path, auth, bodyMaxBytes = BODY_MAX_BYTES } = operation
  const [first, replayed] = successesOf(operation)
  return {
    ...{ method, path, auth, bodyMaxBytes, operation },
    handler: {
      decode: (input) => decodeOperation(name, operation, input),
      success: (isReplay) => (isReplay ? replayed : first),
    },
  }
}

export const localRouteOf = (operation: LocalOperation, handler: LocalHandler): LocalRoute => {
  const { method, path } = operation
  return { method, path, auth: 'none', bodyMaxBytes: BODY_MAX_BYTES, operation, handler }
}

/** The answers to a new command and to the replay of an earlier one. */
function successesOf({ success, replayed }: AnyOperation): readonly [Success, Success] {
  if (replayed === undefined) {
    const alike = { status: success, headers: [] }
    return [alike, alike]
  }
  return [
    { status: success, headers: [['Idempotent-Replayed', 'false']] },
    { status: replayed, headers: [['Idempotent-Replayed', 'true']] },
  ]
}

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
  const refusesAsConflict = entry.operation.refusesAsConflict ?? false
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
