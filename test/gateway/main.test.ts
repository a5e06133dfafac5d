/** The gateway as a process: settings, readiness, health, exit. */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/protos.js'
import { freePort } from '../../src/supervisor/ports.js'
import { bytesOf, call, createRequest, roundTrip, snapshot, statusOf } from './signing_partner.js'
import { certificateFiles } from './certificate.js'
import { eventually } from '../support/eventually.js'
import {
  accept,
  refuseWith,
  startProcessorStub,
  type ProcessorStub,
  type Script,
} from './processor_stub.js'

const MAIN = join(projectRoot(), '.build', 'gateway', 'main.js')

/** A processor for the gateway to call. */
const at = ({ address }: ProcessorStub) => ({ PROCESSOR_ADDRESS: address })

function environment(t: Test, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    ...{ PATH: process.env['PATH'], DOT_ENV: '', HTTP_PORT: '0', LOG_LEVEL: 'warn' },
    ...{ PROCESSOR_TOKEN: 'it_test', ...more },
  }
}

/** Under a supervisor. */
function start(t: Test, env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(MAIN, { env, execArgv: [], silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** Without a supervisor, on its own ports. Resolves when it is ready. */
async function startAlone(t: Test, env: NodeJS.ProcessEnv, ops: number): Promise<ChildProcess> {
  const own = { ...env, OPS_PORT: String(ops) }
  const child = spawn(process.execPath, [MAIN], { env: own, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  await eventually('it is ready', async () => {
    const answer = await fetch(`http://127.0.0.1:${ops}/readyz`).catch(() => undefined)
    return answer?.ok
  })
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

void t.test('it reports its port and exits 0 on SIGTERM', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const child = start(t, environment(t, at(processorStub)))
  const { ready, port } = await readyOf(child)
  t.equal(ready, true)
  t.equal((await call(port, createRequest())).status, 201)
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  t.equal(code, 0)
})

void t.test('alone it serves its own health and metrics', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const [port, opsPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const ops = `127.0.0.1:${opsPort}`
  const env = environment(t, { ...at(processorStub), HTTP_PORT: String(port) })
  const child = await startAlone(t, env, opsPort)
  t.equal((await call(port, createRequest())).status, 201)

  t.equal((await fetch(`http://${ops}/healthz`)).status, 200)
  t.equal((await fetch(`http://${ops}/readyz?role=gateway`)).status, 200)
  t.equal((await fetch(`http://${ops}/readyz?role=processor`)).status, 404)
  const metrics = await (await fetch(`http://${ops}/metrics`)).text()
  t.match(metrics, 'gateway_requests_total{route="POST /v1/payment_intents",status="201"} 1')
  t.equal((await fetch(`http://${ops}/elsewhere`)).status, 404)

  processorStub.crash()
  await eventually('readyz is 503 without a processor', async () => {
    const { status } = await fetch(`http://${ops}/readyz`)
    return status === 503
  })
  t.equal((await fetch(`http://${ops}/healthz`)).status, 200, 'it is alive all the same')

  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  t.equal(code, 0)
})

void t.test('several gateways share a port, nonces and revocations', async (t) => {
  const processorStub = await startProcessorStub({
    snapshot: [snapshot()],
    script: eachNonceOnce(),
  })
  t.teardown(() => processorStub.stop())
  const port = await freePort('127.0.0.1')
  const env = environment(t, { ...at(processorStub), HTTP_PORT: String(port) })
  const opsPorts = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const children = await Promise.all(opsPorts.map((ops) => startAlone(t, env, ops)))

  const send = async (bytes: string): Promise<number> =>
    statusOf((await roundTrip(port, bytes, 5_000)).text)
  const twins = await Promise.all(
    Array.from({ length: 20 }, () => {
      const bytes = bytesOf(createRequest())
      return Promise.all([send(bytes), send(bytes)])
    }),
  )
  for (const pair of twins) t.same(pair.sort(), [201, 401], 'a nonce works once over both')
  for (const ops of opsPorts) {
    const metrics = await (await fetch(`http://127.0.0.1:${ops}/metrics`)).text()
    t.match(metrics, /gateway_requests_total\{[^}]+\} [1-9]/, 'the kernel chose each of them')
  }

  processorStub.publish(snapshot({ keys: [] }))
  await eventually('both have dropped the key', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => send(bytesOf(createRequest()))),
    )
    return statuses.every((status) => status === 401)
  })
  processorStub.publish(snapshot())
  children[0]?.kill('SIGTERM')
  await once(children[0]!, 'exit')
  await eventually('the other one goes on', async () => {
    return (await send(bytesOf(createRequest()))) === 201
  })
})

/** Rejects repeated nonces, as the processor does. */
function eachNonceOnce(): Script {
  const seen = new Set<string>()
  return (command) => {
    const nonce = command.signed_by?.nonce.toString('hex') ?? ''
    if (seen.has(nonce)) return refuseWith('authentication_failed')(command)
    seen.add(nonce)
    return accept(command)
  }
}

void t.test('a gateway rebinds its port after a kill', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const port = String(await freePort('127.0.0.1'))
  const env = environment(t, { ...at(processorStub), HTTP_PORT: port })
  const first = start(t, env)
  const told = await readyOf(first)
  t.equal((await call(told.port, createRequest())).status, 201, 'a connection is kept open')
  first.kill('SIGKILL')
  await once(first, 'exit')
  t.same(await readyOf(start(t, env)), told)
})

void t.test('with a certificate it may listen beyond loopback', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const plain = environment(t, { ...at(processorStub), HTTP_HOST: '0.0.0.0' })
  const env = { ...plain, ...certificateFiles(t.testdir({})) }
  const { ready } = await readyOf(start(t, env))
  t.equal(ready, true)
})

void t.test('an invalid start fails with one sentence', (t) => {
  const refusal = (more: Record<string, string>): string => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { env: environment(t, more) })
    t.equal(status, 1)
    return stderr.toString()
  }
  t.match(refusal({ HTTP_HOST: '0.0.0.0' }), /^HTTP_HOST=0\.0\.0\.0 .*TLS_CERT_FILE.*\n$/)
  t.match(refusal({ HTTP_HOST: '::' }), 'TLS_KEY_FILE')
  t.match(refusal({ HTTP_PORT: 'eighty' }), 'HTTP_PORT=eighty')
  const beyond = { PROCESSOR_ADDRESS: 'processor.internal:50051' }
  t.match(refusal(beyond), /^PROCESSOR_ADDRESS=processor\.internal:50051 .*GRPC_TLS_CERT_FILE.*\n$/)
  t.end()
})
