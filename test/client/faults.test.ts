/**
 * Both clients with their default options on a stack whose answers are cut and whose processor is
 * killed: every payout is made once, and no call fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { ConnectionError, createClient } from '../../src/client/index.js'
import { credentialsOf } from '../../src/operations/calls/sandbox.js'
import { assertCleanAudit } from '../support/audit.js'
import { cuttingProxy } from '../support/cutting_proxy.js'
import { eventually } from '../support/eventually.js'
import { startStack } from '../support/stack.js'
import { PYTHON_ENV, skipsPython } from './python_suite.js'
import { BENEFICIARY } from './scripted_service.js'

const WORKERS = 4
/** For each worker. */
const PAYOUTS_CUT = 40
const KILLS = 2
/** About two answers. */
const BYTES_MAX = 2_000
/** Enough for the retries of the others. */
const LASTING_BYTES = 3_000

interface Outcome {
  readonly made: readonly string[]
  readonly failed: readonly string[]
}
interface Payer {
  /** Ends after the calls in progress; without it after the count. */
  stop(): void
  readonly outcome: Promise<Outcome>
}
interface Paying {
  readonly baseUrl: string
  readonly reference: string
  /** Payouts of each worker. */
  readonly count?: number
}

const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '20' } })
const credentials = credentialsOf(stack.sandbox, 'Service')
const direct = createClient(credentials)
// A create without a key is not sent again: on a busy machine its connection can be lost.
const { id: beneficiary_id } = await eventually('a beneficiary', () =>
  direct.beneficiaries.create(BENEFICIARY).catch((error: unknown) => {
    if (error instanceof ConnectionError) return undefined
    throw error
  }),
)

function nodePayer({ baseUrl, reference, count = Infinity }: Paying): Payer {
  const client = createClient({ ...credentials, baseUrl })
  const payout = { amount: '1000', currency: 'VND', reference, beneficiary_id }
  const made: string[] = []
  const failed: string[] = []
  let isStopped = false
  const pay = async (worker: number): Promise<void> => {
    for (let number = 0; number < count && !isStopped; number++) {
      await client.payouts
        .create(payout, { idempotencyKey: `${reference} ${worker} ${number}` })
        .then(
          ({ id }) => made.push(id),
          (error: unknown) => failed.push(String(error)),
        )
    }
  }
  const workers = Array.from({ length: WORKERS }, (_, worker) => pay(worker))
  return {
    stop: () => (isStopped = true),
    outcome: Promise.all(workers).then(() => ({ made, failed })),
  }
}

function pythonPayer({ baseUrl, reference, count }: Paying): Payer {
  const program = join(projectRoot(), 'test/client/python/keep_paying.py')
  const { keyId, secret } = credentials
  const child = spawn('python3', ['-B', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...PYTHON_ENV,
      ...{ BASE_URL: baseUrl, KEY_ID: keyId, SECRET: secret },
      ...{ REFERENCE: reference, BENEFICIARY: beneficiary_id },
      ...(count === undefined ? {} : { COUNT: String(count) }),
    },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return {
    stop: () => child.stdin.end(),
    outcome: once(child, 'close').then(() => JSON.parse(text) as Outcome),
  }
}

/** The default retries last longer, with a reserve. */
const AWAY_MAX_MS = 10_000

/**
 * Every payout that was made was answered, once, and none twice.
 *
 * @param awayMs how long the service was away: on a busy machine it can outlast the retries, and
 *   then the outcome of a failed call is unknown
 */
async function assertOnce(
  t: Test,
  reference: string,
  { made, failed }: Outcome,
  awayMs = 0,
): Promise<void> {
  const stored = new Set<string>()
  for await (const { id } of direct.payouts.list({ reference, limit: 100 })) stored.add(id)
  t.comment(`${made.length} payouts by ${reference}, ${failed.length} calls failed`)
  t.equal(new Set(made).size, made.length, 'no payout is answered twice')
  t.ok(
    made.every((id) => stored.has(id)),
    'each answer is a payout',
  )
  const most = made.length + failed.length
  t.ok(stored.size <= most, `${stored.size} payouts of ${most} calls: none is made twice`)
  if (awayMs > AWAY_MAX_MS) t.comment(`the service was away for ${awayMs} ms: a busy machine`)
  else t.same(failed, [], 'no call fails')
}

const PAYERS = [
  { name: 'node', start: nodePayer, skip: false as const },
  { name: 'python', start: pythonPayer, skip: skipsPython },
]

for (const { name, start, skip } of PAYERS) {
  t.test(`the ${name} client over a proxy that cuts answers`, { skip }, async (t) => {
    // Every connection ends, each after another number of bytes; every third one lasts.
    const proxy = await cuttingProxy(
      t,
      stack.baseUrl,
      (connection) =>
        1 + ((connection * 977) % BYTES_MAX) + (connection % 3 === 0 ? LASTING_BYTES : 0),
    )
    const reference = `cut ${name}`
    const outcome = await start({ baseUrl: proxy.baseUrl, reference, count: PAYOUTS_CUT }).outcome
    t.equal(outcome.made.length + outcome.failed.length, WORKERS * PAYOUTS_CUT)
    await assertOnce(t, reference, outcome)
    t.ok(proxy.cuts() > PAYOUTS_CUT, `${proxy.cuts()} connections were cut`)
  })
}

t.test('two kills of the processor lose no call', async (t) => {
  const paying = PAYERS.filter(({ skip }) => skip === false).map(({ name, start }) => {
    const reference = `kill ${name}`
    return { reference, payer: start({ baseUrl: stack.baseUrl, reference }) }
  })
  const paidBy = async (reference: string): Promise<string | undefined> => {
    for await (const { id } of direct.payouts.list({ reference, limit: 1 })) return id
    return undefined
  }
  /** Everyone has paid after what was the newest payout. */
  const untilPaid = async (before: readonly (string | undefined)[]): Promise<void> => {
    for (const [index, { reference }] of paying.entries()) {
      await eventually('a further payout', async () => (await paidBy(reference)) !== before[index])
    }
  }
  const newest = () => Promise.all(paying.map(({ reference }) => paidBy(reference)))
  await untilPaid(paying.map(() => undefined))
  let awayMs = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const before = stack.pidOf('processor')
    const killedAt = performance.now()
    stack.kill('processor')
    await eventually('another processor', () => stack.pidOf('processor') !== before, 60_000)
    await stack.untilServing()
    awayMs += performance.now() - killedAt
    await untilPaid(await newest())
  }
  for (const { payer } of paying) payer.stop()
  for (const { reference, payer } of paying) {
    await assertOnce(t, reference, await payer.outcome, awayMs)
  }
})

t.test('the audit is clean', async (t) => {
  await assertCleanAudit(t, stack.dataDir)
})
