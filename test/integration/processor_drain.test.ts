/**
 * SIGTERM to the processor under load, under the supervisor and alone: every received
 * command is answered, none is lost and none is carried out twice.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { freePort } from '../../src/supervisor/ports.js'
import { assertCleanAudit } from '../support/audit.js'
import { storeSettings } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { type HttpAnswer, type Partner } from '../support/partner.js'
import { demoPartnerAt } from '../support/operators.js'
import { requestPayout, retryUntilFinal } from '../support/payments.js'
import { startProcess } from '../support/single_process.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const CLIENTS = 16
const SETUP = 'token-of-the-setup-of-these-tests-only'
const CREATED = 202
const REPLAYED = 200

interface Load {
  /** Answers so far. */
  answered(): number
  /** The status of each request, by idempotency key. */
  stop(): Promise<ReadonlyMap<string, number>>
}

const create = (partner: Partner, key: string): Promise<HttpAnswer> =>
  requestPayout(partner, key, { amount: '20000', reference: key })

/** Clients that create payouts one after another, each with a key of its own, until a 503. */
function startLoad(partner: Partner): Load {
  const statuses = new Map<string, number>()
  let isStopped = false
  const client = async (name: number): Promise<void> => {
    for (let i = 0; !isStopped; i++) {
      const { status } = await create(partner, `${name}/${i}`)
      statuses.set(`${name}/${i}`, status)
      if (status === 503) return
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, name) => client(name))
  return {
    answered: () => statuses.size,
    stop: async () => {
      isStopped = true
      await Promise.all(clients)
      return statuses
    },
  }
}

/** Sends every request again: a 202 exists, a 503 was not carried out. */
async function checkEach(t: Test, partner: Partner, statuses: ReadonlyMap<string, number>) {
  const found = [...new Set(statuses.values())].sort()
  t.ok(
    found.every((status) => status === CREATED || status === 503),
    `answered ${found.join(', ')}`,
  )
  for (const [key, status] of statuses) {
    if (status !== CREATED && status !== 503) continue
    const again = await retryUntilFinal(() => create(partner, key))
    const expected = status === CREATED ? REPLAYED : CREATED
    if (again.status !== expected) t.fail(`${key}: ${status}, then ${again.status}`)
  }
}

t.test('under the supervisor', async (t) => {
  const dataDir = tempFolder(t)
  const stack = await startStack({ t, dataDir, settings: { RATE_LIMIT: 'off' } })
  const { partner } = stack
  const load = startLoad(partner)
  await eventually('clients receive answers', () => load.answered() > 2 * CLIENTS)
  const pid = stack.pidOf('processor')
  stack.kill('processor', 'SIGTERM')
  await eventually('a new processor runs', () => stack.pidOf('processor') !== pid)
  await stack.untilServing()
  const statuses = await load.stop()
  await eventually('the gateway has seen the drain', () => {
    return stack.logOf('gateway').includes('processor stream drained')
  })
  t.notMatch(stack.logOf('gateway'), 'processor stream broke')
  await checkEach(t, partner, statuses)
  await stack.stop()
  await assertCleanAudit(t, dataDir)
})

t.test('alone', async (t) => {
  const dataDir = tempFolder(t)
  const [httpPort, grpcPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const address = `127.0.0.1:${grpcPort}`
  const NATS_URL = `nats://127.0.0.1:${await freePort('127.0.0.1')}`
  const rail = `unix:${join(dataDir, 'rail.sock')}`
  await startProcess(t, 'src/rails/sandbox/main.js', {
    DATA_DIR: dataDir,
    RAIL_LISTEN: rail,
    CALLERS: callerEntry('processor', 'processor', 'token-of-the-processor-of-these-tests-only'),
  })
  const startProcessor = () =>
    startProcess(t, 'src/processor/main.js', {
      ...storeSettings(dataDir),
      DATA_DIR: dataDir,
      NATS_URL,
      GRPC_PORT: String(grpcPort),
      RAIL_ADDRESS: rail,
      RAIL_TOKEN: 'token-of-the-processor-of-these-tests-only',
      CALLERS: [
        callerEntry('gateway', 'edge', 'token-of-the-gateway-of-these-tests-only'),
        callerEntry('supervisor', 'setup', SETUP),
      ].join(),
    })
  const processor = await startProcessor()
  const gateway = await startProcess(t, 'gateway/main.js', {
    DATA_DIR: dataDir,
    HTTP_PORT: String(httpPort),
    PROCESSOR_ADDRESS: address,
    PROCESSOR_TOKEN: 'token-of-the-gateway-of-these-tests-only',
    RATE_LIMIT: 'off',
  })
  await Promise.all([processor.untilReady(), gateway.untilReady()])
  const partner = await demoPartnerAt(address, SETUP, httpPort)
  const load = startLoad(partner)
  await eventually('clients receive answers', () => load.answered() > 2 * CLIENTS)
  t.equal(await processor.end(), 0)
  await eventually('the gateway has seen the drain', () => {
    return gateway.output().includes('processor stream drained')
  })
  const next = await startProcessor()
  await Promise.all([next.untilReady(), gateway.untilReady()])
  const statuses = await load.stop()
  t.notMatch(gateway.output(), 'processor stream broke')
  await checkEach(t, partner, statuses)
  t.equal(await next.end(), 0)
  await assertCleanAudit(t, dataDir)
})
