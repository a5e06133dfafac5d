/** GET /openapi.json: public, the same on every host, with the brand of the installation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DOCUMENT_FILE, servedDocument } from '../../gateway/openapi/served.js'
import { projectRoot } from '../../src/base/project_root.js'
import { bytesOf, roundTrip, statusOf } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const COMMITTED = readFileSync(join(projectRoot(), DOCUMENT_FILE), 'utf8')

t.test('both environments serve the committed document without authentication', async (t) => {
  const { port } = await startGateway(t, {
    environment: { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: 'api.example' },
  })
  const request = { method: 'GET', path: '/openapi.json', unsigned: true }
  for (const host of ['sandbox.example', 'api.example']) {
    const { text } = await roundTrip(port, bytesOf(request, host))
    t.equal(statusOf(text), 200)
    const [, body = ''] = Buffer.from(text, 'latin1').toString().split('\r\n\r\n')
    t.same(JSON.parse(body), JSON.parse(COMMITTED), host)
  }
  const unknown = await roundTrip(port, bytesOf(request, 'other.example'))
  t.equal(statusOf(unknown.text), 404)
})

t.test(
  'the document is compressed for clients that accept it, and checked by its tag',
  async (t) => {
    const { port } = await startGateway(t)
    const url = `http://127.0.0.1:${port}/openapi.json`
    const first = await fetch(url)
    t.equal(first.headers.get('content-encoding'), 'gzip')
    t.equal(first.headers.get('cache-control'), 'no-cache')
    t.same(await first.json(), JSON.parse(COMMITTED))
    const again = await fetch(url, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '', 'x-request-id': 'mine' },
    })
    t.equal(again.status, 304)
    t.equal(again.headers.get('x-client-request-id'), 'mine')
  },
)

t.test('header names and the fee of the platform carry the brand', async (t) => {
  const served = servedDocument('Acme')
  t.match(served, '"X-Acme-Signature"')
  t.notMatch(served, 'X-Service-')
  t.match(JSON.parse(served), { openapi: '3.1.0', info: { version: '1.1.0' } })
})
