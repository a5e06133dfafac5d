/**
 * A client that public generators make from `/openapi.json` of a running stack: its types compile
 * (openapi-typescript) and its call creates an intent (openapi-fetch).
 */
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const run = promisify(execFile)
const tool = (name: string): string => join(projectRoot(), 'node_modules/.bin', name)

const PROGRAM = `
import { readFileSync } from 'node:fs'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import createClient from 'openapi-fetch'
import type { paths } from './api.js'

const sandbox = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Record<string, string>
const client = createClient<paths>({ baseUrl: sandbox['base_url'] ?? '' })
client.use({
  async onRequest({ request }) {
    const body = await request.clone().text()
    const timestamp = new Date().toISOString()
    const nonce = randomBytes(32).toString('hex')
    const hash = body === '' ? '' : createHash('sha256').update(body).digest('hex')
    const path = new URL(request.url).pathname
    const text = [request.method, path, timestamp, nonce, hash, ''].join('\\n')
    const mac = createHmac('sha256', sandbox['signing_secret'] ?? '').update(text)
    request.headers.set('X-Service-Key-Id', sandbox['key_id'] ?? '')
    request.headers.set('X-Service-Timestamp', timestamp)
    request.headers.set('X-Service-Nonce', nonce)
    request.headers.set('X-Service-Signature', mac.digest('base64'))
    return request
  },
})
const at = '2026-01-05T09:30:00Z'
const { data, error } = await client.POST('/v1/payment_intents', {
  body: {
    partner_user_id: 'user-1',
    amount_usd_cents: 1250,
    corridor: 'th_promptpay',
    kyc_attestation: { verified: true, method: 'passport', verified_at: at },
    sanctions_attestation: { clean: true, screened_at: at },
  },
})
if (data === undefined) throw new Error(error.error.code)
const intent = { params: { path: { intent_id: data.intent_id } } }
const fetched = await client.GET('/v1/payment_intents/{intent_id}', intent)
console.log(data.status, fetched.data?.amount_usd_cents)
const missing = { params: { path: { payout_id: 'pout_none' } } }
const refused = await client.GET('/v1/payouts/{payout_id}', missing)
console.log(refused.error?.error.code)
`

t.setTimeout(0)

t.test('it makes real calls', async (t) => {
  const stack = await startStack({ t })
  const folder = tempFolder(t)
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(projectRoot(), 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'client.ts'), PROGRAM)
  const served = await fetch(`${stack.baseUrl}/openapi.json`)
  writeFileSync(join(folder, 'openapi.json'), await served.text())
  const flags = ['--module', 'nodenext', '--target', 'es2022', '--strict', '--skipLibCheck']
  await run(tool('openapi-typescript'), ['openapi.json', '-o', 'api.ts'], { cwd: folder })
  await run(tool('tsc'), [...flags, '--types', 'node', 'client.ts'], { cwd: folder })
  const { stdout } = await run(process.execPath, [
    join(folder, 'client.js'),
    join(stack.dataDir, 'sandbox.json'),
  ])
  t.equal(stdout, 'created 1250\npayout_not_found\n')
})
