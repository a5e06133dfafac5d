/**
 * The collection for Bruno and Postman: current, complete, with bodies that the API accepts and
 * scripts that sign as the service does.
 */
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { ROUTES } from '../../gateway/app.js'
import { projectRoot } from '../../src/base/project_root.js'
import { signRequest } from '../../src/client/index.js'
import { COLLECTION_FOLDER, collectionFiles, scriptsOf } from '../../src/client/collection/files.js'
import { requestsOf, type OpenApiDocument } from '../../src/client/collection/operations.js'

const root = projectRoot()
const text = readFileSync(join(root, 'gateway/openapi.json'), 'utf8')
const document = JSON.parse(text) as OpenApiDocument & Record<string, unknown>
const requests = requestsOf(document)

t.test('the committed files are current (else run make collection)', async (t) => {
  for (const { path, text } of collectionFiles(root)) {
    const file = join(root, COLLECTION_FOLDER, path)
    t.equal(existsSync(file) && readFileSync(file, 'utf8'), text, path)
  }
})

t.test('every route is a request', async (t) => {
  const inCollection = requests.map(({ method, url }) => `${method} ${url}`)
  const routes = ROUTES.map(({ method, path }) => {
    return `${method} {{base_url}}${path.replace('{', '{{').replace('}', '}}')}`
  })
  t.same(inCollection.sort(), routes.sort())
})

t.test('every body is valid', async (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'api')
  for (const { id, url, method, body } of requests) {
    if (body === '') continue
    const path = url.replace('{{base_url}}', '').replace('{{', '{').replace('}}', '}')
    const pointer = `${path.replaceAll('/', '~1')}/${method.toLowerCase()}/requestBody`
    const reference = `api#/paths/${pointer}/content/application~1json/schema`
    const sent: unknown = JSON.parse(
      body.replace('{{quote_version}}', '1').replace('{{local_amount}}', '1'),
    )
    t.ok(ajv.validate({ $ref: reference }, sent), `${id}: ${ajv.errorsText()}`)
  }
})

type Headers = Record<string, string>
interface Sample {
  readonly method: string
  readonly url: string
  readonly body: unknown
  readonly headers?: Headers
}
interface Sent {
  readonly headers: Headers
  readonly body: string
}

const VARIABLES: Readonly<Record<string, string>> = {
  base_url: 'https://api.example.com',
  key_id: 'demo_sandbox_2026q4',
  signing_secret: 'sk_secret',
  payout_id: 'pout_1',
}
const replaced = (text: string): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => VARIABLES[name] ?? whole)
const require = createRequire(import.meta.url)
const modules: Readonly<Record<string, unknown>> = {
  'crypto-js': require('crypto-js') as unknown,
  uuid: { v4: () => crypto.randomUUID() },
}
const load = (name: string): unknown => modules[name]

/** Runs the script of each tool, with the parts of the tool's interface that it uses. */
const TOOLS: Readonly<Record<'bruno' | 'postman', (script: string, sample: Sample) => Sent>> = {
  bruno: (script, { method, url, body, headers = {} }) => {
    let sent = body
    const req = {
      getMethod: () => method,
      getUrl: () => url,
      getBody: () => body,
      getHeader: (name: string) => headers[name],
      setHeader: (name: string, value: string) => void (headers[name] = value),
      setBody: (text: string) => void (sent = text),
    }
    runInNewContext(script, {
      req,
      bru: { interpolate: replaced, setVar: () => undefined },
      require: load,
    })
    return { headers, body: typeof sent === 'string' ? sent : '' }
  },
  postman: (script, { method, url, body, headers = {} }) => {
    const given = body === undefined ? undefined : JSON.stringify(body)
    let sent = given
    const pm = {
      request: {
        method,
        url: { toString: () => url },
        body: {
          raw: given,
          update: ({ raw }: { readonly raw: string }) => void (sent = raw),
        },
        headers: {
          has: (name: string) => name in headers,
          upsert: ({ key, value }: { readonly key: string; readonly value: string }) =>
            void (headers[key] = value),
        },
      },
      variables: {
        replaceIn: replaced,
        get: (name: string) => VARIABLES[name],
        set: () => undefined,
      },
    }
    // Postman has a global of this name, so a script cannot declare it.
    runInNewContext(`const CryptoJS = 0\n${script}`, { pm, require: load })
    return { headers, body: sent ?? '' }
  },
}

const SAMPLES: readonly Sample[] = [
  { method: 'GET', url: '{{base_url}}/v1/payouts?limit=2&cursor=a', body: undefined },
  { method: 'POST', url: '{{base_url}}/v1/payouts', body: { name: 'สมชาย', id: '{{payout_id}}' } },
  { method: 'POST', url: '{{base_url}}/v1/payouts/{{payout_id}}/cancel', body: undefined },
]

for (const tool of ['bruno', 'postman'] as const) {
  const { beforeRequest, afterAnswer } = scriptsOf(root, tool)

  t.test(`the script for ${tool} signs as the client does`, async (t) => {
    const nonces = new Set<string>()
    for (const sample of SAMPLES) {
      const { headers, body } = TOOLS[tool](beforeRequest, { ...sample, headers: {} })
      const timestamp = headers['X-Service-Timestamp'] ?? ''
      const nonce = headers['X-Service-Nonce'] ?? ''
      t.match(nonce, /^[0-9a-f]{64}$/)
      nonces.add(nonce)
      t.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000)
      const key = { keyId: 'demo_sandbox_2026q4', secret: 'sk_secret' }
      const path = replaced(sample.url).replace('https://api.example.com', '')
      const input = { method: sample.method, path, timestamp, nonce, body }
      t.same(headers, signRequest(key, 'Service', input).headers)
      const wanted = sample.body === undefined ? '' : replaced(JSON.stringify(sample.body))
      t.equal(body, wanted, 'the signed bytes are sent')
    }
    t.equal(nonces.size, SAMPLES.length)
  })

  t.test(`the script for ${tool} leaves a token alone`, async (t) => {
    const headers = { Authorization: 'Bearer token' }
    const [sample] = SAMPLES
    t.same(TOOLS[tool](beforeRequest, { ...sample!, headers: { ...headers } }).headers, headers)
  })

  /** Runs the script after answers, as the tools do: in an async function. */
  const createRun = () => {
    const kept = new Map<string, unknown>()
    const next: string[] = []
    const set = (name: string, value: unknown): void => void kept.set(name, value)
    const get = (name: string): unknown => kept.get(name)
    const setNextRequest = (name: string): void => void next.push(name)
    const read = async (answer: unknown, method = 'GET'): Promise<void> => {
      await runInNewContext(`(async () => {\n${afterAnswer}\n})()`, {
        res: { getBody: () => answer },
        req: { getMethod: () => method, getName: () => 'Get it' },
        bru: { setVar: set, getVar: get, sleep: () => undefined, runner: { setNextRequest } },
        pm: {
          response: { json: () => answer },
          request: { method },
          info: { requestName: 'Get it' },
          collectionVariables: { set, get },
          execution: { setNextRequest },
        },
        setTimeout: (act: () => void) => act(),
      })
    }
    return { kept, next, read }
  }

  t.test(`the script for ${tool} keeps ids and tokens`, async (t) => {
    const keptFrom = async (answer: unknown): Promise<Record<string, unknown>> => {
      const { kept, read } = createRun()
      await read(answer)
      kept.delete('asked')
      return Object.fromEntries(kept)
    }
    const intent = { intent_id: 'pi_1', session_token: 'st_1' }
    t.same(await keptFrom({ ...intent, status: 'created' }), intent)
    const quote = { quote_id: 'qt_1', quote_version: 2 }
    t.same(await keptFrom({ intent_id: 'pi_1', quote }), { intent_id: 'pi_1', ...quote })
    t.same(await keptFrom({ id: 'pout_1' }), { payout_id: 'pout_1' })
    t.same(await keptFrom({ sequence: 1, event: { id: 'evt_1' } }), { event_id: 'evt_1' })
    t.same(await keptFrom({ error: { code: 'x' } }), {})
  })

  t.test(`the script for ${tool} asks again while the bank has not answered`, async (t) => {
    const { next, read } = createRun()
    await read({ intent_id: 'pi_1', status: 'authorized' }, 'POST')
    t.same(next, [], 'the answer of a confirm')
    await read({ intent_id: 'pi_1', status: 'authorized' })
    await read({ id: 'pout_1', status: 'processing' })
    t.same(next, ['Get it', 'Get it'])
    await read({ intent_id: 'pi_1', status: 'captured' })
    t.equal(next.length, 2)
    for (let times = 0; times < 100; times++) await read({ id: 'pout_1', status: 'processing' })
    t.ok(next.length < 70, 'but not forever')
  })
}

t.test('each tool asserts the status of every request', async (t) => {
  const bruno = collectionFiles(root).filter(({ text }) => text.includes('type: http'))
  t.equal(bruno.length, requests.length)
  for (const { path, text } of bruno) t.match(text, /\nassert \{\n {2}res\.status: in \[\d/, path)
  for (const { id, statuses } of requests) t.ok(statuses.length > 0, id)
})
