/** The ops port accepts only loopback and configured host names (DNS rebinding). */
import { get } from 'node:http'
import t, { type Test } from 'tap'
import { openOpsServer, type StackState } from '../../src/supervisor/ops_server.js'

const ACCEPTED = [
  '127.0.0.1',
  '127.0.0.1:9090',
  '127.1.2.3',
  'localhost',
  'LocalHost:9090',
  'causeway.localhost',
  '[::1]:9090',
  'ops.example.com',
  'OPS.example.com:443',
]
const REJECTED = [
  'evil.example',
  'evil.example:9090',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'xlocalhost',
  '127.0.0.1@evil.example',
  'ops.example.com.evil.example',
  '10.0.0.1',
]

/** The readiness of processes, by name. */
const stackOf = (processes: Readonly<Record<string, boolean>>): StackState => ({
  managedProcesses: Object.entries(processes).map(([name, isReady]) => ({
    name,
    isReady,
    pid: 1,
    mode: 'normal',
    modeReason: undefined,
    degraded: undefined,
    restarts: 0,
    server: undefined,
    start: () => Promise.resolve(),
    replace: () => Promise.resolve(),
    metrics: () => Promise.resolve(''),
    stop: () => Promise.resolve(),
  })),
  isStarted: () => true,
  integrity: () => 'ok',
  disk: { isLow: () => false, freeBytes: () => 1 },
})

/** An open server of this stack, beyond loopback if `host` is. */
async function opened(t: Test, stack: StackState, host = '127.0.0.1', hosts: string[] = []) {
  const ops = await openOpsServer({ host, port: 0, hosts }, stack)
  t.teardown(() => ops.close())
  return ops
}

/** The status of the answer to a request that names this host. */
const statusOf = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { host }, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })

t.test('every path accepts loopback and configured hosts only', async (t) => {
  const { url } = await opened(t, stackOf({}), '127.0.0.1', ['ops.example.com'])
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    for (const host of ACCEPTED) t.equal(await statusOf(url + path, host), 200, `${path} ${host}`)
    for (const host of REJECTED) t.equal(await statusOf(url + path, host), 421, `${path} ${host}`)
  }
})

t.test('beyond loopback any IP address is accepted as host, and no other name', async (t) => {
  const { url } = await opened(t, stackOf({}), '0.0.0.0')
  t.match(url, /^http:\/\/127\.0\.0\.1:/, 'the reported address can be connected to')
  for (const host of ['10.0.0.1', '10.0.0.1:9090', '[2001:db8::1]:9090', 'localhost']) {
    t.equal(await statusOf(`${url}/healthz`, host), 200, host)
  }
  for (const host of ['evil.example', '10.0.0.1.evil.example', 'ops.example.com', '[evil]']) {
    t.equal(await statusOf(`${url}/healthz`, host), 421, host)
  }
})

t.test('a process of which something does not work is named, and ready', async (t) => {
  const stack = stackOf({ processor: true, rail: true })
  const managedProcesses = stack.managedProcesses.map((each) =>
    each.name === 'processor' ? { ...each, degraded: 'a rail is not named' } : each,
  )
  const { url } = await opened(t, { ...stack, managedProcesses })
  const answer = await fetch(`${url}/readyz`)
  t.equal(answer.status, 200)
  t.match(await answer.json(), { degraded: { processor: 'a rail is not named' } })
})

t.test('readiness of a role depends on its own processes', async (t) => {
  const readyOf = async (processes: Readonly<Record<string, boolean>>) => {
    const { url } = await opened(t, stackOf(processes))
    const statusOf = async (query: string) => (await fetch(`${url}/readyz${query}`)).status
    const roles = ['gateway', 'processor', 'webhooks', 'rail']
    const statuses = await Promise.all(roles.map((role) => statusOf(`?role=${role}`)))
    const ready = roles.filter((_role, i) => statuses[i] === 200)
    t.equal(await statusOf('?role=nats'), 404)
    t.equal(await statusOf('?role='), 404)
    return [...ready, ...((await statusOf('')) === 200 ? ['all'] : [])]
  }
  const all = {
    ...{ nats: true, rail: true, processor: true },
    ...{ webhooks: true, 'gateway-1': true, 'gateway-2': true },
  }
  t.same(await readyOf(all), ['gateway', 'processor', 'webhooks', 'rail', 'all'])
  t.same(await readyOf({ ...all, nats: false }), ['gateway', 'processor', 'rail'])
  t.same(await readyOf({ ...all, rail: false }), ['gateway', 'processor', 'webhooks'])
  t.same(await readyOf({ ...all, processor: false }), ['rail'])
  t.same(await readyOf({ ...all, webhooks: false }), ['gateway', 'processor', 'rail'])
  t.same(await readyOf({ ...all, 'gateway-2': false }), ['processor', 'webhooks', 'rail'])
})
