/**
 * The partners' guide is run and compared: its examples work, its tables are complete.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { FAILURE_TEXTS } from '../../actors/failure_texts.js'
import { PLANS } from '../../src/ledger/plans.js'
import { ERRORS } from '../../src/base/errors.js'
import { projectRoot } from '../../src/base/protos.js'
import { SETTINGS } from '../../src/base/settings.js'
import { ROUTES } from '../../gateway/app.js'
import { CONNECTIONS_MAX, TENANT_IN_FLIGHT_MAX } from '../../gateway/admission/limits.js'
import type { SignatureReport } from '../../src/auth/signature_check.js'
import { call, KEY_ID, SECRET } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const GUIDE = readFileSync(join(projectRoot(), 'gateway', 'README.md'), 'utf8')
const run = promisify(execFile)

function example(language: string): string {
  const [, code] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(GUIDE) ?? []
  if (code === undefined) throw new Error(`the guide has no example in ${language}`)
  return code
}

void t.test('the program of the quick start creates an intent', async (t) => {
  const { port, processorStub } = await startGateway(t)
  const folder = t.testdir({ 'create.mjs': example('js') })
  const sandbox = join(folder, 'sandbox.json')
  const base_url = `http://127.0.0.1:${port}`
  writeFileSync(sandbox, JSON.stringify({ base_url, key_id: KEY_ID, signing_secret: SECRET }))
  const { stdout } = await run(process.execPath, [join(folder, 'create.mjs')], {
    env: { SANDBOX: sandbox },
  })
  t.match(stdout, /^201 /)
  t.equal(processorStub.commands[0]?.operation, 'create_intent')
})

const missing = ['curl', 'openssl'].filter(
  (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
)

void t.test(
  'the shell lines do the same',
  { skip: missing.length > 0 && `not here: ${missing.join(', ')}` },
  async (t) => {
    const { port, processorStub } = await startGateway(t)
    const { stdout } = await run('sh', ['-c', example('sh')], {
      env: {
        PATH: process.env['PATH'],
        BASE_URL: `http://127.0.0.1:${port}`,
        KEY_ID,
        SIGNING_SECRET: SECRET,
      },
    })
    t.match(stdout, 'create_intent')
    t.equal(processorStub.commands.length, 1)
  },
)

void t.test('the table of errors has every code, with its status and whether to repeat', (t) => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` \| ([0-9]{3}) \| .+ \| (yes|no) \|$/gm)]
  const told = Object.fromEntries(
    rows.map(([, code = '', http = '', repeat = '']) => [code, `${http} ${repeat}`]),
  )
  const registry = Object.fromEntries(
    Object.entries(ERRORS).map(([code, { http, retryable }]) => [
      code,
      `${http} ${retryable ? 'yes' : 'no'}`,
    ]),
  )
  t.same(told, registry)
  t.end()
})

void t.test('the table of failures has every code, with its text', (t) => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` \| (true|false) \| (.+) \|$/gm)]
  t.same(
    rows.map(([, code, retryable, message]) => [code, retryable, message]),
    Object.entries(FAILURE_TEXTS).map(([code, { retryable, message }]) => [
      code,
      String(retryable),
      message,
    ]),
  )
  t.end()
})

void t.test('every movement of a balance is told', (t) => {
  const from = GUIDE.indexOf('| Type | What moved |')
  const table = GUIDE.slice(from, GUIDE.indexOf('\n\n', from))
  const told = [...table.matchAll(/`([a-z]+_?[a-z]+)`(?=[,` a-z_]* \|)/g)].map(([, plan]) => plan)
  const plans = Object.entries(PLANS)
    .filter(([, lines]) => lines.some(([kind]) => kind === 'prefund' || kind === 'reserved'))
    .map(([plan]) => plan)
  t.same(told.sort(), plans.sort())
  t.end()
})

void t.test('the table of operations is the route table', (t) => {
  const rows = [...GUIDE.matchAll(/^\| ([A-Z]+) \| `([^`]+)` \| ([a-z ]+) \|/gm)]
  const told = rows.map(([, method, path, proof]) => `${method} ${path}: ${proof}`)
  const proofs = {
    hmac: 'signature',
    session: 'session token',
    hmac_or_session: 'signature or session token',
    receipt: 'receipt token',
    none: 'none',
  }
  t.same(
    told,
    ROUTES.map(({ method, path, auth }) => `${method} ${path}: ${proofs[auth]}`),
  )
  t.end()
})

void t.test('the vectors are the published ones', (t) => {
  const golden = join(projectRoot(), 'test', 'golden', 'signatures.json')
  const { vectors } = JSON.parse(readFileSync(golden, 'utf8')) as { vectors: { name: string }[] }
  const shown = JSON.parse(example('json')) as { name: string }[]
  t.ok(shown.length > 1)
  for (const each of shown) {
    t.same(
      each,
      vectors.find(({ name }) => name === each.name),
      each.name,
    )
  }
  t.end()
})

void t.test('the limits are those of the code', (t) => {
  const table = GUIDE.slice(GUIDE.indexOf('## Limits'), GUIDE.indexOf('**Source addresses.**'))
  const figures = [...table.matchAll(/^\| ([0-9,]+) /gm)].map(([, figure]) => figure)
  const told = [
    SETTINGS.RATE_LIMIT_PER_SECOND.fallback,
    TENANT_IN_FLIGHT_MAX,
    SETTINGS.RATE_LIMIT_PER_ADDRESS.fallback,
    CONNECTIONS_MAX,
  ]
  t.same(
    figures,
    told.map((limit) => Number(limit).toLocaleString('en')),
  )
  t.end()
})

void t.test('the checks of a signature are all told, in their order', async (t) => {
  const { port } = await startGateway(t)
  const { json } = await call(port, { method: 'POST', path: '/v1/sandbox/signature/check' })
  const { checks } = json as SignatureReport
  const from = GUIDE.indexOf('| Check |')
  const table = GUIDE.slice(from, GUIDE.indexOf('\n\n', from))
  t.same(
    [...table.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, check]) => check),
    checks.map(({ check }) => check),
  )
})
