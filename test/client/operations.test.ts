/**
 * Both clients have every operation of the route table, with its authentication and its key, and
 * send the same requests.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ROUTES } from '../../gateway/app.js'
import type { AnyRoute } from '../../gateway/routing/route.js'
import { projectRoot } from '../../src/base/project_root.js'
import { createClient, ERROR_CODES } from '../../src/client/index.js'
import { listen } from '../support/listen.js'
import { everyOperation } from './every_operation.js'
import { runPython, skipsPython } from './python_suite.js'

interface Sent {
  readonly method: string
  readonly url: string
  readonly body: string
  readonly auth: 'hmac' | 'token' | 'none'
  readonly key: unknown
  readonly requestId: unknown
}

/** Without the document that describes them. */
const OPERATIONS = ROUTES.filter(({ path }) => path.startsWith('/v1/'))
const EMPTY_PAGE = { data: [], next_cursor: null, next_after: 0, has_more: false }

/** A server that keeps every request and answers an empty page. */
async function recorder(t: Test): Promise<{ baseUrl: string; sent: Sent[] }> {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const auth = headers['x-service-signature']
        ? 'hmac'
        : headers.authorization === 'Bearer token'
          ? 'token'
          : 'none'
      const { 'idempotency-key': key, 'x-request-id': requestId } = headers
      sent.push({ method, url, body, auth, key, requestId })
      response.end(JSON.stringify(EMPTY_PAGE))
    })
  })
  return { baseUrl: `http://127.0.0.1:${await listen(t, server)}`, sent }
}

const nameOf = ({ method, path }: AnyRoute): string =>
  `${method} ${path.replace(/\{[^}]+\}/, 'id_1')}`
const requestName = ({ method, url }: Sent): string => `${method} ${url.split('?')[0]}`

const AUTHENTICATIONS: Readonly<Record<AnyRoute['auth'], readonly Sent['auth'][]>> = {
  hmac: ['hmac'],
  session: ['token'],
  receipt: ['token'],
  hmac_or_session: ['hmac', 'token'],
  none: ['none'],
}

const takesKey = (route: AnyRoute): boolean =>
  route.auth !== 'none' && route.operation.key !== undefined

t.test('the TypeScript client has every operation', async (t) => {
  const { baseUrl, sent } = await recorder(t)
  await everyOperation(baseUrl)
  const wanted = OPERATIONS.flatMap((route) =>
    AUTHENTICATIONS[route.auth].map((auth) => `${nameOf(route)} ${auth}`),
  )
  t.same(sent.map((one) => `${requestName(one)} ${one.auth}`).sort(), wanted.sort())
  t.ok(sent.every(({ requestId }) => requestId === 'trace-1'))
  const keyed = sent.filter(({ key }) => key === 'key').map(requestName)
  t.same(keyed.sort(), OPERATIONS.filter(takesKey).map(nameOf).sort())
})

t.test('the Python client sends the same requests', { skip: skipsPython }, async (t) => {
  const inTypeScript = await recorder(t)
  await everyOperation(inTypeScript.baseUrl)
  const { baseUrl, sent } = await recorder(t)
  const { stdout } = await runPython('every_operation.py', { BASE_URL: baseUrl })
  t.same(sent, inTypeScript.sent)
  // The name would hide a built-in class of Python.
  const renamed: Readonly<Record<string, string>> = {
    PermissionError: 'RequestNotPermittedError',
  }
  const classes = [...ERROR_CODES].map(([code, { name }]) => [code, renamed[name] ?? name])
  t.same(JSON.parse(stdout), Object.fromEntries(classes))
})

/** The rows of a page's table of calls: an object with the names of its calls. */
function callsIn(page: string): readonly (readonly [string, readonly string[]])[] {
  const text = readFileSync(join(projectRoot(), page), 'utf8')
  return [...text.matchAll(/^\| `(client[^`]*)` \| (.*) \|$/gm)].map(
    ([, of = '', calls = '']) => [of, calls.split(', ').map((call) => call.slice(1, -1))] as const,
  )
}

t.test('the pages of both clients name every call', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1', keyId: 'a', secret: 'sk' })
  const objects: Record<string, object> = {
    client,
    'client.session(token)': client.session('token'),
    'client.receipts(token)': client.receipts('token'),
  }
  const own: string[] = []
  for (const [name, value] of Object.entries(client)) {
    if (typeof value === 'function') own.push(name)
    else objects[`client.${name}`] = value
  }
  const expected = Object.entries(objects).map(
    ([of, object]) => [of, of === 'client' ? own : Object.keys(object)] as const,
  )
  const sorted = (rows: ReturnType<typeof callsIn>) =>
    rows.map(([of, calls]) => `${of}: ${[...calls].sort().join(' ')}`).sort()
  const calls = callsIn('src/client/README.md')
  t.same(sorted(calls), sorted(expected))
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  t.same(
    callsIn('src/client/python/README.md'),
    calls.map(([of, names]) => [snake(of), names.map(snake)]),
  )
})
