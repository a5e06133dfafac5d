/** The application of the gateway: the routes of the operations (src/api), and their service. */
import { accepted } from '../src/base/errors.js'
import { TRACEPARENT } from '../src/base/traceparent.js'
import { LOCAL, OPERATIONS } from '../src/api/operations.js'
import type { LocalName, OperationName } from '../src/api/operation.js'
import { AUTHORIZATION } from './authentication/authenticate.js'
import type { StaticFiles } from './http/static_file.js'
import { namesOf } from './http/headers.js'
import { handleRequest, rejectEarly, type RequestHandlerOptions } from './request_handler.js'
import { IDEMPOTENCY_KEY } from './decode/idempotency_key.js'
import { ACCEPT_ENCODING, CLIENT_REQUEST_ID, FORWARDED_FOR, IF_NONE_MATCH } from './http/head.js'
import type { Service } from './http/server.js'
import { requestCheck } from './local/request_check.js'
import { signatureCheck } from './local/signature_check.js'
import {
  createRouter,
  localRouteOf,
  routeOf,
  type AnyRoute,
  type LocalHandler,
  type RouteMatch,
} from './routing/route.js'

const LOCAL_HANDLERS: Readonly<Record<LocalName, LocalHandler>> = {
  check_signature: signatureCheck,
  check_request: requestCheck,
  get_openapi_document: { answer: ({ openApi }) => accepted(openApi) },
}

export const ROUTES: readonly AnyRoute[] = [
  ...(Object.keys(OPERATIONS) as OperationName[]).map((name) => routeOf(name, OPERATIONS[name])),
  ...(Object.keys(LOCAL) as LocalName[]).map((name) =>
    localRouteOf(LOCAL[name], LOCAL_HANDLERS[name]),
  ),
]

export interface App {
  readonly service: Service<RouteMatch>
  /** Lower-case names of the headers that the service reads. */
  readonly headers: ReadonlySet<string>
}

export interface AppOptions extends Omit<RequestHandlerOptions, 'find'> {
  /** The documentation, for the sandbox. */
  readonly docs: StaticFiles
}

export function createApp({ docs, ...given }: AppOptions): App {
  const find = createRouter(ROUTES, docs)
  const options = { ...given, find }
  return {
    service: {
      find,
      rejectEarly: (request, match) => rejectEarly(options, request, match),
      serve: (request, match) => handleRequest(options, request, match),
    },
    headers: new Set([
      ...[IDEMPOTENCY_KEY, FORWARDED_FOR, AUTHORIZATION, CLIENT_REQUEST_ID],
      ...[ACCEPT_ENCODING, IF_NONE_MATCH],
      ...(options.traces === undefined ? [] : [TRACEPARENT]),
      ...namesOf(options.brandHeaders),
    ]),
  }
}
