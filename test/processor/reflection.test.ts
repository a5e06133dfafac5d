/** Reflection, as `buf curl` uses it: listing, describing and calling; and its bounds. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { GRPC_REFLECTION_MAX_BYTES } from '../../src/base/constants.js'
import { NO_LOG, openGrpcTls } from '../../src/grpc/tls.js'
import { projectRoot } from '../../src/base/project_root.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { anIntent } from '../support/requests.js'
import { openPartnerServices, SERVICES, TENANT, TOKEN } from './partner_services.js'

const run = promisify(execFile)
const BUF = join(projectRoot(), 'node_modules/.bin/buf')

interface Ran {
  readonly stdout: string
  readonly stderr: string
}

/** A failed call has its output too. */
const bufCurl = async (address: string, path: string, ...options: string[]): Promise<Ran> => {
  const all = ['curl', '--http2-prior-knowledge', '--protocol', 'grpc', ...options]
  return run(BUF, [...all, `http://${address}${path}`], {
    env: { ...process.env, HOME: t.testdirName },
  }).catch((fault: unknown) => fault as Ran)
}

t.test('buf curl lists, describes and calls', async (t) => {
  const { address } = await openPartnerServices(t)
  const listed = await bufCurl(address, '', '--list-services')
  const services = [...SERVICES.map((name) => `causeway.v1.${name}`), 'grpc.health.v1.Health']
  t.same(listed.stdout.trim().split('\n').sort(), services.sort(), 'only the public services')

  const health = await bufCurl(address, '/grpc.health.v1.Health/Check', '-d', '{}')
  t.match(JSON.parse(health.stdout), { status: /SERVING/ }, 'called by what it describes')

  const methods = await bufCurl(address, '', '--list-methods')
  t.match(methods.stdout, 'causeway.v1.Events/Watch')
  t.notMatch(methods.stdout, 'Operator')

  const data = JSON.stringify({ tenant: TENANT, intent: anIntent() })
  const token = ['-H', `authorization: Bearer ${TOKEN}`]
  const create = '/causeway.v1.PaymentIntents/Create'
  const created = await bufCurl(address, create, ...token, '-d', data)
  t.match(JSON.parse(created.stdout), {
    intentId: /^pi_/,
    status: 'created',
    amountUsdCents: 5_000,
  })

  const wrong = JSON.stringify({ tenant: TENANT, intent: anIntent({ partner_user_id: '' }) })
  const refused = await bufCurl(address, create, ...token, '-d', wrong)
  t.match(refused.stderr, 'invalid_request')
  const anonymous = await bufCurl(address, create, '-d', data)
  t.match(anonymous.stderr, 'authentication_failed')
})

t.test('buf curl works over mutual TLS', async (t) => {
  const authority = createAuthority()
  const folder = mkdtempSync(join(tmpdir(), 'reflection-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = writeTlsFiles(folder, 'both', authority.issue('both'), authority)
  const { address } = await openPartnerServices(t, {}, openGrpcTls(files, NO_LOG))
  const tls = [
    ...['--cert', files.GRPC_TLS_CERT_FILE, '--key', files.GRPC_TLS_KEY_FILE],
    ...['--cacert', files.GRPC_TLS_CA_FILE, '--protocol', 'grpc'],
  ]
  const url = `https://${address}`
  const buf = (...args: string[]): Promise<Ran> =>
    run(BUF, ['curl', ...tls, ...args]).catch((fault: unknown) => fault as Ran)
  t.match((await buf('--list-services', url)).stdout, 'causeway.v1.Accounts')
  const get = `${url}/causeway.v1.Accounts/Get`
  t.match((await buf('--list-methods', url)).stdout, 'causeway.v1.Accounts/Get')
  const token = ['-H', `authorization: Bearer ${TOKEN}`]
  const answer = await buf(...token, '-d', JSON.stringify({ tenant: TENANT }), get)
  t.match(JSON.parse(answer.stdout), { partnerId: 'demo', status: 'active' })
})

t.test('a reflection call without a credential is bounded', async (t) => {
  const { address } = await openPartnerServices(t)
  const session = connect(`http://${address}`)
  t.teardown(() => session.destroy())
  session.on('error', () => undefined)
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => undefined)
  const answered = new Promise<number>((resolve) => {
    stream.on('response', (headers) => resolve(Number(headers['grpc-status'])))
    stream.on('trailers', (headers: Record<string, unknown>) =>
      resolve(Number(headers['grpc-status'])),
    )
  })
  const message = Buffer.alloc(5 + GRPC_REFLECTION_MAX_BYTES)
  message.writeUInt32BE(GRPC_REFLECTION_MAX_BYTES, 1)
  stream.write(message)
  stream.resume()
  t.equal(await answered, status.RESOURCE_EXHAUSTED)
})
