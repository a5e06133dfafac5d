/** A compromised gateway: the secrets of its process give access to nothing but its own calls. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Client, credentials } from '@grpc/grpc-js'
import t from 'tap'
import { bearer } from '../../src/grpc/bearer.js'
import { fetchOps, sendOnce } from '../support/raw_requests.js'
import { authorizationOf, nameOf, PROCESSOR_RPCS, RAIL_RPCS } from '../support/rpcs.js'
import { startStack } from '../support/stack.js'

const stack = await startStack({ t })
const { dataDir } = stack

/** The variables of the gateway's process. */
const variables = Object.fromEntries(
  readFileSync(`/proc/${stack.pidOf('gateway')}/environ`, 'utf8')
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)
const token = variables['PROCESSOR_TOKEN'] ?? ''

t.test('the gateway process has one token and no other secret', async (t) => {
  t.match(token, /^gw_.{43}$/)
  const others = ['internal.token', 'operator.token', 'nats.password', 'master.key'].map((file) =>
    readFileSync(join(dataDir, file), 'utf8').trim(),
  )
  for (const secret of others) t.notMatch(Object.values(variables).join('\n'), secret)
  for (const name of ['DATA_DIR', 'NATS_URL', 'RAIL_TOKEN', 'CALLERS']) t.notOk(variables[name])
})

t.test(
  'its token is accepted for its two calls to the processor, and for none of the rail',
  async (t) => {
    const open = async (
      address: string,
      rpcs: typeof RAIL_RPCS,
    ): Promise<Record<string, string[]>> => {
      const client = new Client(address, credentials.createInsecure())
      t.teardown(() => client.close())
      const found: Record<string, string[]> = {}
      for (const rpc of rpcs) {
        const judgment = await authorizationOf(client, rpc, bearer(token))
        found[judgment] = [...(found[judgment] ?? []), nameOf(rpc)]
      }
      return found
    }
    for (const address of [stack.sandbox.grpc_address, variables['PROCESSOR_ADDRESS'] ?? '']) {
      const { granted, denied, unauthenticated } = await open(address, PROCESSOR_RPCS)
      t.same(granted?.sort(), ['CommandStream/Open', 'Directory/WatchPartners'])
      t.equal(denied?.length, PROCESSOR_RPCS.length - 2)
      t.equal(unauthenticated, undefined)
    }
    const rail = await open(`unix:${join(dataDir, 'run', 'rail.sock')}`, RAIL_RPCS)
    t.same(Object.keys(rail), ['unauthenticated'])
  },
)

t.test('the bus rejects its token', async (t) => {
  const configuration = readFileSync(join(dataDir, 'nats.conf'), 'utf8')
  t.match(configuration, 'authorization')
  const port = Number(/nats +on 127\.0\.0\.1:(\d+)/.exec(stack.output())?.[1])
  for (const given of [
    {},
    { auth_token: token },
    { user: 'causeway', pass: token },
    { user: 'gateway', pass: token },
  ]) {
    t.match(
      await busReply(port, given),
      'Authorization Violation',
      JSON.stringify(Object.keys(given)),
    )
  }
})

function busReply(port: number, given: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`CONNECT ${JSON.stringify({ verbose: true, ...given })}\r\nPING\r\n`)
    })
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (/-ERR|PONG/.test(text)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

t.test('the partner API and the ops port reject its token', async (t) => {
  const authorization = `Bearer ${token}`
  const balances = { method: 'GET', path: '/v1/balances' }
  const headers = [['Authorization', authorization]] as const
  t.equal((await sendOnce(stack.baseUrl, { ...balances, headers })).status, 401)
  for (const path of ['/', '/v1/balances', '/callers', '/admin']) {
    t.equal((await fetchOps(stack.sandbox.ops_url, path, { authorization })).status, 404, path)
  }
})
