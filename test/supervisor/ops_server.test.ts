/** The ops port accepts only loopback and configured host names (DNS rebinding). */
import { get } from 'node:http'
import t from 'tap'
import { openOpsServer } from '../../src/supervisor/ops_server.js'

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

t.test('every path accepts only these hosts', async (t) => {
  const ops = await openOpsServer(0, ['ops.example.com'], {
    managedProcesses: [],
    isStarted: () => true,
    integrity: () => 'ok',
    disk: { isLow: () => false, freeBytes: () => 1 },
  })
  t.teardown(() => ops.close())
  const statusOf = (path: string, host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${ops.url}${path}`, { headers: { host }, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject)
    })
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    for (const host of ACCEPTED) t.equal(await statusOf(path, host), 200, `${path} ${host}`)
    for (const host of REJECTED) t.equal(await statusOf(path, host), 421, `${path} ${host}`)
  }
})
