/** An HTTP server that echoes its requests, and raw HTTP from broken, slow or hostile clients. */
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import type { Target } from '../../gateway/http/request_context.js'
import { staticFile } from '../../gateway/http/static_file.js'
import { FORWARDED_FOR } from '../../gateway/http/head.js'
import { createHttpServer, type HttpServer, type Service } from '../../gateway/http/server.js'
import { BodyMemory } from '../../gateway/http/body.js'
import { SILENT_LOG } from '../support/logs.js'

export const BODY_MAX = 1_000
export const LARGE = 1_000_000

interface Echo extends Target {
  readonly path: string
}

/** More than the kernel buffers, with characters of several bytes. */
export const VAST = JSON.stringify('สมชาย '.repeat(1_500_000))
const VAST_FILE = staticFile(Buffer.from(VAST), [['Content-Type', 'application/json']])

/** Held responses; the test calls them. */
export const later: (() => void)[] = []

/**
 * Echoes the request. `/throw` throws, `/never` never answers. A test releases `/later`, which
 * answers, `/away_later`, which rejects, and `/too_late`, which answers with the remaining body.
 * `/away` rejects at once. `/large` takes a megabyte. `/vast` answers with VAST, and `/file` with
 * a file of it.
 */
const echo: Service<Echo> = {
  find: (_method, path) => ({
    path,
    bodyMaxBytes: path === '/large' ? LARGE : BODY_MAX,
    refusesAsConflict: false,
  }),
  rejectEarly: (request, { path }) => {
    if (path === '/away') request.refuse('rate_limited')
    else if (path === '/away_later') later.push(() => request.refuse('rate_limited'))
    else return false
    return true
  },
  serve: (request, { path }) => {
    if (path === '/throw') throw new Error('a bug')
    if (path === '/never') return
    if (path === '/vast') return request.answer(200, VAST)
    if (path === '/file') return request.answerFile(VAST_FILE)
    if (path === '/too_late') {
      later.push(() => request.answer(200, JSON.stringify({ body: request.body.toString() })))
      return
    }
    const { method, query } = request
    const host = request.header('host')
    const kept = request.header('x-kept')
    const forwarded = request.header(FORWARDED_FOR)
    const answer = {
      method,
      path,
      query,
      host,
      kept: typeof kept === 'symbol' ? 'repeated' : kept,
      forwarded: typeof forwarded === 'symbol' ? 'repeated' : forwarded,
      body: request.body.toString(),
      peer: request.peer(),
    }
    const respond = (): void => request.answer(200, JSON.stringify(answer))
    if (path === '/later') later.push(respond)
    else respond()
  },
}

export interface EchoOptions {
  /** For a body and for an answer. Default: 5 seconds. */
  readonly withinMs?: number
  readonly bodies?: BodyMemory
  readonly answered?: (status: number) => void
  readonly onUnread?: () => void
  readonly clock?: Clock
}

export const createEchoServer = ({
  withinMs = 5_000,
  bodies = new BodyMemory(),
  answered = () => undefined,
  onUnread = () => undefined,
  clock = systemClock,
}: EchoOptions = {}): HttpServer =>
  createHttpServer({
    ...{ service: echo, keptHeaders: new Set(['x-kept', FORWARDED_FOR]), tls: undefined },
    sourceOf: (request) => {
      const forwarded = request.header(FORWARDED_FOR)
      return typeof forwarded === 'string' ? forwarded : request.peer()
    },
    ...{ clock, random: systemRandom(), log: SILENT_LOG },
    observe: (_request, _target, status) => answered(status),
    ...{ onUnread, bodies, bodyWithinMs: withinMs, answerWithinMs: withinMs },
  })

/** Returns the port. */
export async function startEcho(t: Test, options?: EchoOptions): Promise<number> {
  later.length = 0
  const server = createEchoServer(options)
  const port = await server.listen('127.0.0.1', 0)
  t.teardown(() => server.close(0))
  return port
}

export const head = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: api.localhost', ...headers, '', ''].join('\r\n')

export const chunked = (text: string): string =>
  `${text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`}0\r\n\r\n`

export const statusesIn = (text: string): string[] =>
  [...text.matchAll(/^HTTP\/1\.1 ([0-9]{3})/gm)].map(([, status]) => status ?? '')

export const bodyIn = (text: string): unknown =>
  JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
