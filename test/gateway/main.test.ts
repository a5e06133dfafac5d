/** The gateway as a process: flags, readiness messages, exit. */
import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/protos.js'
import { freePort } from '../../src/supervisor/ports.js'
import { bytesOf, call, createRequest, roundTrip, snapshot, statusOf } from './signing_partner.js'
import { certificateFiles } from './certificate.js'
import { eventually } from '../support/eventually.js'
import { accept, refuseWith, startProcessorStub, type Script } from './processor_stub.js'

const MAIN = join(projectRoot(), '.build', 'gateway', 'main.js')

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

void t.test('it reports its port, serves, reports health and exits 0 on SIGTERM', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const opsPort = await freePort('127.0.0.1')
  const ops = `127.0.0.1:${opsPort}`
  const child = start(t, ['--processor', processorStub.address, '--ops', ops], environment(t))
  const { ready, port } = await readyOf(child)
  t.equal(ready, true)
  t.equal((await call(port, createRequest())).status, 201)

  t.equal((await fetch(`http://${ops}/healthz`)).status, 200)
  const readyz = await fetch(`http://${ops}/readyz`)
  t.equal(readyz.status, 200)
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
  const env = environment(t, { HTTP_PORT: String(port), GATEWAYS: '2' })
  const opsPorts = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const children = opsPorts.map((ops) =>
    start(t, ['--processor', processorStub.address, '--ops', `127.0.0.1:${ops}`], env),
  )
  const told = await Promise.all(children.map(readyOf))
  t.same(
    told.map((each) => each.port),
    [port, port],
  )

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
  const flags = ['--processor', processorStub.address]
  const env = environment(t, { HTTP_PORT: String(await freePort('127.0.0.1')) })
  const first = start(t, flags, env)
  const { port } = await readyOf(first)
  t.equal((await call(port, createRequest())).status, 201, 'a connection is kept open')
  first.kill('SIGKILL')
  await once(first, 'exit')
  t.same(await readyOf(start(t, flags, env)), { ready: true, port })
})

void t.test('with a certificate it may listen beyond loopback', async (t) => {
  const processorStub = await startProcessorStub({ snapshot: [snapshot()] })
  t.teardown(() => processorStub.stop())
  const plain = environment(t, { HTTP_HOST: '0.0.0.0' })
  const env = { ...plain, ...certificateFiles(plain['DATA_DIR'] ?? '') }
  const { ready } = await readyOf(start(t, ['--processor', processorStub.address], env))
  t.equal(ready, true)
})

void t.test('an invalid start fails with one sentence', (t) => {
  const refusal = (flags: string[], more: Record<string, string>, exitCode = 1): string => {
    const env = environment(t, more)
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...flags], { env })
    t.equal(status, exitCode)
    return stderr.toString()
  }
  const flags = ['--processor', '127.0.0.1:1']
  t.match(refusal(flags, { HTTP_HOST: '0.0.0.0' }), /^HTTP_HOST=0\.0\.0\.0 .*TLS_CERT_FILE.*\n$/)
  t.match(refusal(flags, { HTTP_HOST: '::' }), 'TLS_KEY_FILE')
  t.match(refusal([], {}, 2), '--processor')
  t.match(refusal(flags, { HTTP_PORT: 'eighty' }), 'HTTP_PORT=eighty')
  t.end()
})
