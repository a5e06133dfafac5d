/** The gateway as a process: settings, readiness, health, exit. */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import { projectRoot } from '../../src/base/project_root.js'
import { freePort } from '../../src/supervisor/ports.js'
import {
  bearer,
  bytesOf,
  byToken,
  call,
  createRequest,
  get,
  KEY_ID,
  OTHER_KEY_ID,
  roundTrip,
  snapshot,
  statusOf,
  twoPartners,
} from './signing_partner.js'
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

function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    ...{ PATH: process.env['PATH'], DOT_ENV: '', HTTP_PORT: '0', LOG_LEVEL: 'warn' },
    ...{ PROCESSOR_TOKEN: 'gw_of_these_tests_only_0123456789', ...more },
  }
}

/** Under a supervisor. */
function start(t: Test, env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(MAIN, { env, execArgv: [], silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** Without a supervisor. Resolves when it is ready. */
async function startAlone(t: Test, more: Record<string, string>, sharedPort?: number) {
  const port = sharedPort ?? (await freePort('127.0.0.1'))
  const opsPort = await freePort('127.0.0.1')
  const env = environment({ ...more, HTTP_PORT: String(port), OPS_PORT: String(opsPort) })
  const child = spawn(process.execPath, [MAIN], { env, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const ops = `http://127.0.0.1:${opsPort}`
  await eventually('the gateway is ready', async () => {
    const answer = await fetch(`${ops}/readyz`).catch(() => undefined)
    return answer?.ok
  })
  return { child, port, ops, metrics: async () => (await fetch(`${ops}/metrics`)).text() }
}

interface Ready {
  readonly ready: boolean
  readonly port: number
}

async function readyOf(child: ChildProcess): Promise<Ready> {
  const [message] = (await once(child, 'message')) as [Ready]
  return message
}

t.test('the gateway reports its port and exits with 0 on SIGTERM', async (t) => {
  const processorStub = await startProcessorStub(t)
  const child = start(t, environment(at(processorStub)))
  const { ready, port } = await readyOf(child)
  t.equal(ready, true)
  t.equal((await call(port, createRequest())).status, 201)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test('without a supervisor the gateway serves its own health and metrics', async (t) => {
  const processorStub = await startProcessorStub(t)
  const { child, port, ops, metrics } = await startAlone(t, at(processorStub))
  t.equal((await call(port, createRequest())).status, 201)

  t.equal((await fetch(`${ops}/healthz`)).status, 200)
  t.equal((await fetch(`${ops}/readyz?role=gateway`)).status, 200)
  t.equal((await fetch(`${ops}/readyz?role=processor`)).status, 404)
  const labels = 'route="/v1/payment_intents",method="POST",status="201",process="gateway"'
  t.match(await metrics(), `causeway_http_requests_total{${labels}} 1`)
  t.equal((await fetch(`${ops}/elsewhere`)).status, 404)

  processorStub.crash()
  await eventually('readyz is 503 without a processor', async () => {
    const { status } = await fetch(`${ops}/readyz`)
    return status === 503
  })
  t.equal((await fetch(`${ops}/healthz`)).status, 200, 'healthz does not depend on the processor')

  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test(
  'the gateway serves the partners of several processors, and is ready while one is up',
  async (t) => {
    const first = { ...snapshot(), shard: 'books_1', epoch: 4 }
    const others = { ...twoPartners(), shard: 'books_2', epoch: 2 }
    const second = { ...others, partners: others.partners?.slice(1) ?? [] }
    const one = await startProcessorStub(t, { snapshot: [first] })
    const two = await startProcessorStub(t, { snapshot: [second] })
    const PROCESSORS = `${one.address},${two.address}`
    const { port, ops, metrics } = await startAlone(t, { PROCESSORS })

    const statusWith = async (keyId: string): Promise<number> =>
      (await call(port, { ...createRequest(), keyId })).status
    const app = async (tenant: string): Promise<number> => {
      const token = bearer('pi_1', 300, tenant as TenantId)
      return (await call(port, byToken(get('/v1/payment_intents/pi_1'), token))).status
    }
    t.same([await statusWith(KEY_ID), await statusWith(OTHER_KEY_ID)], [201, 201])
    t.same([await app('acme_sandbox'), await app('umbrella_sandbox')], [200, 200])
    t.same([await statusWith('nobody'), await app('nobody_sandbox')], [401, 401])
    t.same(new Set(one.commands.map(({ tenant }) => tenant)), new Set(['acme_sandbox']))
    t.same(new Set(two.commands.map(({ tenant }) => tenant)), new Set(['umbrella_sandbox']))

    const readyz = async () => {
      const answer = await fetch(`${ops}/readyz`)
      const json = (await answer.json()) as { processors: unknown; shardsWithoutRoute: unknown }
      return { status: answer.status, ...json }
    }
    t.same((await readyz()).shardsWithoutRoute, [])
    two.crash()
    await eventually(
      'partners of the killed processor get 503',
      async () => (await statusWith(OTHER_KEY_ID)) === 503,
    )
    t.equal(await app('umbrella_sandbox'), 503, 'never 401')
    t.equal(await statusWith(KEY_ID), 201, 'other partners are served')
    t.equal(
      await statusWith('nobody'),
      401,
      'an unknown key is 401: the keys of the killed processor are kept',
    )
    const state = await readyz()
    t.equal(state.status, 200)
    t.same(state.shardsWithoutRoute, ['books_2'])
    t.same(state.processors, [
      { address: one.address, shard: 'books_1', epoch: 4, up: true, waiting: false },
      { address: two.address, shard: 'books_2', epoch: 2, up: false, waiting: false },
    ])
    const text = await metrics()
    const sample = (name: string, { address }: ProcessorStub, shard: string, value: number) => {
      const labels = `\\{processor="${address}",.*shard="${shard}",.*\\}`
      return new RegExp(`^causeway_gateway_processor_${name}${labels} ${value}$`, 'm')
    }
    t.match(text, sample('up', two, 'books_2', 0))
    t.match(text, sample('epoch', one, 'books_1', 4))
    one.crash()
    await eventually('not ready without a processor', async () => {
      return (await fetch(`${ops}/readyz`)).status === 503
    })
  },
)

t.test('an unknown key is 503 while a processor has sent no snapshot', async (t) => {
  const one = await startProcessorStub(t)
  const silent = `127.0.0.1:${await freePort('127.0.0.1')}`
  const port = await freePort('127.0.0.1')
  const PROCESSORS = `${one.address},${silent}`
  start(t, environment({ PROCESSORS, HTTP_PORT: String(port) }))
  await eventually('partners of the other processor are served', async () => {
    const answer = await call(port, createRequest()).catch(() => undefined)
    return answer?.status === 201
  })
  const unknown = { ...createRequest(), keyId: OTHER_KEY_ID }
  t.equal((await call(port, unknown)).status, 503, 'never 401')
  const forged = { ...createRequest(), secret: 'sk_wrong' }
  t.equal((await call(port, forged)).status, 401, 'a known key with another secret')

  await startProcessorStub(t, { snapshot: [twoPartners()], address: silent })
  await eventually('the late processor is connected', async () => {
    return (await call(port, unknown)).status === 201
  })
  t.equal((await call(port, { ...createRequest(), keyId: 'nobody' })).status, 401)
})

t.test('several gateways share a port, nonces and revocations', async (t) => {
  const processorStub = await startProcessorStub(t, { script: eachNonceOnce() })
  const port = await freePort('127.0.0.1')
  const gateways = [
    await startAlone(t, at(processorStub), port),
    await startAlone(t, at(processorStub), port),
  ] as const

  const send = async (bytes: string): Promise<number> =>
    statusOf((await roundTrip(port, bytes, 5_000)).text)
  const twins = await Promise.all(
    Array.from({ length: 20 }, () => {
      const bytes = bytesOf(createRequest())
      return Promise.all([send(bytes), send(bytes)])
    }),
  )
  for (const pair of twins) t.same(pair.sort(), [201, 401], 'a nonce works once over both')
  const some = /causeway_http_requests_total\{[^}]+\} [1-9]/
  for (const { metrics } of gateways)
    t.match(await metrics(), some, 'the kernel chose each of them')

  processorStub.publish(snapshot({ keys: [] }))
  await eventually('both gateways have dropped the key', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => send(bytesOf(createRequest()))),
    )
    return statuses.every((status) => status === 401)
  })
  processorStub.publish(snapshot())
  gateways[0].child.kill('SIGTERM')
  await once(gateways[0].child, 'exit')
  await eventually('the other gateway continues', async () => {
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

t.test('a gateway rebinds its port after a kill', async (t) => {
  const processorStub = await startProcessorStub(t)
  const port = String(await freePort('127.0.0.1'))
  const env = environment({ ...at(processorStub), HTTP_PORT: port })
  const first = start(t, env)
  const told = await readyOf(first)
  t.equal((await call(told.port, createRequest())).status, 201, 'a connection is kept open')
  first.kill('SIGKILL')
  await once(first, 'exit')
  t.same(await readyOf(start(t, env)), told)
})

t.test('with a certificate it may listen beyond loopback', async (t) => {
  const processorStub = await startProcessorStub(t)
  const plain = environment({ ...at(processorStub), HTTP_HOST: '0.0.0.0' })
  const env = { ...plain, ...certificateFiles(t.testdir({})) }
  const { ready } = await readyOf(start(t, env))
  t.equal(ready, true)
})

t.test('an invalid start fails with one sentence', async (t) => {
  const refusal = (more: Record<string, string>): string => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { env: environment(more) })
    t.equal(status, 1)
    return stderr.toString()
  }
  t.match(refusal({ HTTP_HOST: '0.0.0.0' }), /^HTTP_HOST=0\.0\.0\.0 .*TLS_CERT_FILE.*\n$/)
  t.match(refusal({ HTTP_HOST: '::' }), 'TLS_KEY_FILE')
  t.match(refusal({ HTTP_PORT: 'eighty' }), 'HTTP_PORT=eighty')
  const several = { PROCESSORS: '127.0.0.1:1,processor.internal:50051' }
  t.match(refusal(several), /^PROCESSORS=processor\.internal:50051 .*GRPC_TLS_CERT_FILE.*\n$/)
  const beyond = { PROCESSOR_ADDRESS: 'processor.internal:50051' }
  t.match(refusal(beyond), /^PROCESSOR_ADDRESS=processor\.internal:50051 .*GRPC_TLS_CERT_FILE.*\n$/)
})
