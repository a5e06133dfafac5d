/**
 * The gateway as a process: its flags, its messages, its end.
 */
import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/protos.js'
import { call, createRequest, snapshot } from './partner.js'
import { eventually } from '../support/eventually.js'
import { startStandIn } from './stand_in_processor.js'

const MAIN = join(projectRoot(), '.build', 'gateway', 'main.js')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function environment(t: Test, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const folder = t.testdir({})
  writeFileSync(join(folder, 'internal.token'), 'it_test\n')
  return { PATH: process.env['PATH'], DATA_DIR: folder, HTTP_PORT: '0', LOG_LEVEL: 'warn', ...more }
}

function start(t: Test, flags: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(MAIN, flags, { env, execArgv: [], silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

interface Ready {
  readonly ready: boolean
  readonly port: number
}

async function readyOf(child: ChildProcess): Promise<Ready> {
  const [message] = (await once(child, 'message')) as [Ready]
  return message
}

void t.test(
  'it says where it serves, serves, tells its health, and ends with 0 when told',
  async (t) => {
    const standIn = await startStandIn({ snapshot: [snapshot()] })
    t.teardown(() => standIn.stop())
    const opsPort = await freePort()
    const ops = `127.0.0.1:${opsPort}`
    const child = start(t, ['--processor', standIn.address, '--ops', ops], environment(t))
    const { ready, port } = await readyOf(child)
    t.equal(ready, true)
    t.equal((await call(port, createRequest())).status, 201)

    t.equal((await fetch(`http://${ops}/healthz`)).status, 200)
    const readyz = await fetch(`http://${ops}/readyz`)
    t.equal(readyz.status, 200)
    const metrics = await (await fetch(`http://${ops}/metrics`)).text()
    t.match(metrics, 'gateway_requests_total{route="POST /v1/payment_intents",status="201"} 1')
    t.equal((await fetch(`http://${ops}/elsewhere`)).status, 404)

    standIn.crash()
    await eventually('readyz is 503 without a processor', async () => {
      const { status } = await fetch(`http://${ops}/readyz`)
      return status === 503
    })
    t.equal((await fetch(`http://${ops}/healthz`)).status, 200, 'it is alive all the same')

    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    t.equal(code, 0)
  },
)

void t.test('several gateways share a port', async (t) => {
  const standIn = await startStandIn({ snapshot: [snapshot()] })
  t.teardown(() => standIn.stop())
  const port = String(await freePort())
  const flags = ['--processor', standIn.address]
  const env = environment(t, { HTTP_PORT: port })
  const children = [start(t, flags, env), start(t, flags, env)]
  const told = await Promise.all(children.map(readyOf))
  t.same(
    told.map((each) => each.port),
    [Number(port), Number(port)],
  )
  children[0]?.kill('SIGTERM')
  await once(children[0]!, 'exit')
  t.equal((await call(Number(port), createRequest())).status, 201, 'the other one goes on')
})

void t.test('it refuses to start, in one sentence, where it must not', (t) => {
  const refusal = (flags: string[], more: Record<string, string>): string => {
    const env = environment(t, more)
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...flags], { env })
    t.equal(status, 1)
    return stderr.toString()
  }
  const flags = ['--processor', '127.0.0.1:1']
  t.match(
    refusal(flags, { HTTP_HOST: '0.0.0.0' }),
    /^gateway: HTTP_HOST=0\.0\.0\.0 .*TLS_CERT_FILE.*\n$/,
  )
  t.match(refusal(flags, { HTTP_HOST: '::' }), 'TLS_KEY_FILE')
  t.match(refusal([], {}), '--processor')
  t.match(refusal(flags, { HTTP_PORT: 'eighty' }), 'HTTP_PORT=eighty')
  t.end()
})
