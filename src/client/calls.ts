/** How the calls of api_calls.ts are sent: with the keys, repetitions and pages of each. */
import { randomUUID } from 'node:crypto'
import type { BearerConnection } from './connection.js'
import {
  cursorList,
  numberedList,
  onlyPage,
  type DataPage,
  type List,
  type NumberedPage,
  type Page,
} from './pagination.js'
import type { ApiRequest, CallOptions, Requester } from './request.js'
import { responseOf, withDetails } from './response_details.js'

export interface Keyed extends CallOptions {
  /** 1 to 255 printable ASCII characters; default: a new UUID. */
  readonly idempotencyKey?: string
}

type Send<Options> = <Answer>(
  method: string,
  path: string,
  body: object | undefined,
  options: Options | undefined,
) => Promise<Answer>

export interface Calls {
  /** Not sent again after an unknown outcome, unless it reads. */
  readonly once: Send<CallOptions>
  /** A repetition changes nothing more, or makes one more token or quote. */
  readonly repeatable: Send<CallOptions>
  readonly keyed: Send<Keyed>
  /** The items of an answer that has no pages. */
  items<Item>(path: string, options?: CallOptions): Promise<readonly Item[]>
  cursorList<Item>(path: string, filter: object, options?: CallOptions): List<Item, Page<Item>>
  numberedList<Item, P extends NumberedPage<Item>>(
    path: string,
    filter: object,
    options?: CallOptions,
  ): List<Item, P>
  onlyPage<Item>(path: string, options?: CallOptions): List<Item, DataPage<Item>>
}

export function createCalls(connection: BearerConnection, requester: Requester): Calls {
  const send = async <Answer>(request: ApiRequest): Promise<Answer> =>
    (await requester.send(connection, request)).body as Answer
  const getter =
    (options: CallOptions = {}) =>
    <Answer>(path: string): Promise<Answer> =>
      send({ ...options, method: 'GET', path })
  return {
    once: (method, path, body, options) => send({ ...options, method, path, body }),
    repeatable: (method, path, body, options) =>
      send({ ...options, method, path, body, isRepeatable: true }),
    keyed: (method, path, body, options) => {
      const idempotencyKey = options?.idempotencyKey ?? randomUUID()
      return send({ ...options, method, path, body, idempotencyKey })
    },
    items: async <Item>(path: string, options?: CallOptions) => {
      const page = await getter(options)<DataPage<Item>>(path)
      return withDetails(page.data, responseOf(page))
    },
    cursorList: (path, filter, options) => cursorList(getter(options), path, filter),
    numberedList: (path, filter, options) => numberedList(getter(options), path, filter),
    onlyPage: (path, options) => onlyPage(getter(options), path),
  }
}
