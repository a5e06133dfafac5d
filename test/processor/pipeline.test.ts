/** Guarantees of the commit cycle: the order of commit and release, and behavior on faults. */
import t, { type Test } from 'tap'
import { createNonceTable } from '../../src/auth/nonces.js'
import {
  COMMIT_BATCH_CHANGES_MAX,
  DECIDE_CHUNK_MAX,
  NONCE_WINDOW_MS,
  QUEUE_MAX,
} from '../../src/base/constants.js'
import { DAY, MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import { tenantOf, type KeyId, type PartnerId, type TenantId } from '../../src/base/ids.js'
import type { Command, SignedBy, Work } from '../../src/processor/cycle/command.js'
import { getBalances } from '../../src/processor/commands/funds/balances_get.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { revokeKey } from '../../src/processor/commands/partners/key_revoke.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import { createPipeline } from '../../src/processor/cycle/pipeline.js'
import { NOTHING_WANTED } from '../store/commit_rows.js'
import { collected } from '../support/collected.js'
import { iterations } from '../support/event_loop.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import { systemRandom } from '../../src/base/random.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import { Deposed, type Store, type StoredEvent } from '../../src/store/store.js'
import { anIntent, aPayout } from '../support/requests.js'
import { SILENT_LOG } from '../support/logs.js'
import { BY_TEST, codeOf, createWorld, DEMO, RULES, viewOf, type World } from '../support/world.js'

interface Given {
  /** Replaces functions of the store. */
  readonly store?: Partial<Store>
  readonly memory?: Memory
  readonly diskIsLow?: () => boolean
}

/** A pipeline over a world's memory. */
function benchOf(world: World, given: Given = {}) {
  const stops: string[] = []
  const sent: RailInstruction[] = []
  const published: StoredEvent[] = []
  let commits = 0
  const store = { ...world.store, ...given.store }
  const pipeline = createPipeline({
    clock: world.clock,
    random: systemRandom(),
    store: {
      ...store,
      commit: (batch) => {
        commits += 1
        return store.commit(batch)
      },
    },
    memory: given.memory ?? world.memory(),
    vault: world.vault,
    rules: RULES,
    log: SILENT_LOG,
    yieldToEventLoop: iterations,
    rail: { up: () => true, downForMs: () => 0, send: (given) => void sent.push(...given) },
    publish: (given) => void published.push(...given),
    directoryChanged: () => undefined,
    diskIsLow: given.diskIsLow ?? (() => false),
    stop: (reason) => void stops.push(reason),
  })
  const submit = (command: Command, over: Partial<Work> = {}): Promise<Answer> =>
    new Promise((reply) => {
      const work = { queueKey: DEMO, command, origin: BY_TEST, deadline: null, signedBy: null }
      pipeline.submit({ ...work, reply, ...over })
    })
  return { pipeline, stops, sent, published, commits: () => commits, submit }
}

/** A new world and a pipeline over its memory. */
async function opened(t: Test, given?: Given) {
  const world = await createWorld(t)
  return { world, ...benchOf(world, given) }
}

/** A pipeline whose commits wait until they are allowed. */
async function openedWithHeldCommits(t: Test) {
  let allowCommits = (): void => undefined
  const gate = new Promise<void>((resolve) => (allowCommits = resolve))
  const world = await createWorld(t)
  const commit: Store['commit'] = (batch) => gate.then(() => world.store.commit(batch))
  return { world, ...benchOf(world, { store: { commit } }), allowCommits }
}

t.test('nothing is answered before its batch is on disk', async (t) => {
  const { world, allowCommits, ...bench } = await openedWithHeldCommits(t)
  const answers: string[] = []
  const created = bench.submit(createIntent(DEMO, anIntent({ idempotency_key: 'k' })))
  void created.then(() => answers.push('created'))
  await iterations(10)
  void bench
    .submit(createIntent(DEMO, anIntent({ idempotency_key: 'k' })))
    .then(() => answers.push('replayed'))
  void bench.submit(getIntent(DEMO, 'pi_none')).then(() => answers.push('read'))
  await iterations(50)
  t.same(answers, [], 'neither the write, nor its replay, nor a read decided after it')
  allowCommits()
  const { intent_id: id } = viewOf<{ intent_id: string }>(await created)
  await bench.pipeline.idle()
  t.same(answers.sort(), ['created', 'read', 'replayed'])
  const found = await world.store.load({ ...NOTHING_WANTED, intents: [id] })
  t.equal(found.intents.length, 1)
})

t.test('a held pipeline decides and commits nothing until it goes on', async (t) => {
  const { pipeline, submit, commits } = await opened(t)
  const before = submit(createIntent(DEMO, anIntent()))
  const release = await pipeline.hold()
  t.equal((await before).ok, true, 'what was submitted before is answered')
  const committed = commits()
  const answers: string[] = []
  const later = [
    submit(createIntent(DEMO, anIntent())),
    submit(depositSandboxFunds(DEMO, { currency: 'VND', amount: '5' }), {
      ...{ queueKey: 'internal', origin: { cause: 'operator', requestId: null } },
    }),
  ]
  void later[0]!.then(() => answers.push('created'))
  const idle = pipeline.idle().then(() => answers.push('idle'))
  await iterations(50)
  t.same([commits(), answers], [committed, []])
  release(true)
  const [created, operator] = await Promise.all(later)
  t.equal(created!.ok, true)
  t.match(operator, { ok: false, code: 'configuration_error' }, 'it was checked before')
  await idle
  t.same(answers, ['created', 'idle'])
})

t.test('calls of a tenant that has left the books change nothing', async (t) => {
  const { world, submit } = await opened(t)
  world.memory().departed.add(DEMO)
  const refused = await submit(createIntent(DEMO, anIntent()))
  t.match(refused, { ok: false, code: 'configuration_error' })
  world.memory().departed.delete(DEMO)
  t.equal((await submit(createIntent(DEMO, anIntent()))).ok, true)
})

t.test('instructions and events leave once, after their batch is on disk', async (t) => {
  const { world, allowCommits, ...bench } = await openedWithHeldCommits(t)
  const { pipeline, sent, published, submit } = bench
  await world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: '1000000000' }))
  const created = submit(createPayout(DEMO, aPayout()))
  await iterations(50)
  t.same([sent, published], [[], []])
  allowCommits()
  const { id } = viewOf<{ id: string }>(await created)
  await pipeline.idle()
  t.match(sent, [{ kind: 'instruct', instruction: { id } }])
  t.equal(sent.length, 1)
  const types = published.map(({ type }) => type)
  t.same(types, ['payout.created', 'payout.processing'])
})

t.test('a full queue refuses callers at once, not the work of the service itself', async (t) => {
  const { pipeline, submit } = await opened(t)
  const read = (name = 'demo'): Promise<Answer> =>
    submit(getBalances(DEMO), { queueKey: `${name}_sandbox` as TenantId })
  const queued = Array.from({ length: QUEUE_MAX / 2 }, () => read())
  t.equal(codeOf(await read()), 'configuration_error', 'a tenant cannot fill it for others')
  queued.push(...Array.from({ length: QUEUE_MAX / 2 }, (_, i) => read(`other-${i}`)))
  t.equal(pipeline.metrics.waiting(), QUEUE_MAX)
  t.equal(codeOf(await read('last')), 'configuration_error')
  t.equal(pipeline.metrics.refusedFull, 2)
  const internal = submit(getBalances(DEMO), { queueKey: 'internal' })
  t.ok((await Promise.all([...queued, internal])).every(({ ok }) => ok))
  t.ok((await read()).ok, 'an emptied queue takes commands again')
})

t.test('answers without rows wait until the store proves its ownership', async (t) => {
  let prove = (): void => undefined
  let refute = (_error: Error): void => undefined
  const barrier = (): Promise<void> =>
    new Promise((resolve, reject) => {
      prove = resolve
      refute = reject
    })
  const { submit, stops } = await opened(t, { store: { barrier } })
  const answers: Answer[] = []
  void submit(getBalances(DEMO)).then((given) => answers.push(given))
  await iterations(10)
  t.same(answers, [], 'no answer before the barrier')
  prove()
  await iterations(10)
  t.equal(answers.length, 1)
  void submit(getBalances(DEMO)).then((given) => answers.push(given))
  await iterations(10)
  refute(new Deposed('another processor owns the books'))
  await iterations(10)
  t.equal(answers.length, 1, 'a former owner answers nothing')
  t.equal(stops.length, 1, 'the former owner stops')
})

t.test('a failed commit answers no request and stops the process', async (t) => {
  const commit = () => Promise.reject(new Error('SQLITE_IOERR'))
  const bench = await opened(t, { store: { commit } })
  let answered = false
  void bench.submit(createIntent(DEMO, anIntent())).then(() => (answered = true))
  await iterations(50)
  t.notOk(answered)
  t.match(bench.stops, [/commit failed/])
  void bench.submit(getIntent(DEMO, 'pi_x')).then(() => (answered = true))
  await iterations(50)
  t.notOk(answered, 'a stopped cycle accepts no commands')
})

t.test('an idempotency key is found after its row was evicted', async (t) => {
  const world = await createWorld(t)
  const create = (key: string) => createIntent(DEMO, anIntent({ idempotency_key: key }))
  const first = viewOf(await world.run(create('first')))
  const others = Array.from({ length: 4_200 }, (_, i) => create(`other ${i}`))
  await world.runAll(others)
  const again = await world.run(create('first'))
  t.ok(world.memory().idempotency.size < others.length, 'the row is evicted')
  t.ok(again.ok && again.replayed)
  t.same(viewOf(again), first)
})

for (const [what, rowsOfCommand] of [
  ['small commands', 2],
  ['large commands', 16],
] as const) {
  t.test(`a batch of ${what} is bounded by its row changes`, async (t) => {
    const sizes: number[] = []
    let allowCommits = (): void => undefined
    const gate = new Promise<void>((resolve) => (allowCommits = resolve))
    const commit: Store['commit'] = async ({ rows }) => {
      sizes.push([...(rows.usage ?? [])].length)
      await gate
    }
    const bench = await opened(t, { store: { commit } })
    let count = 0
    const command: Command = {
      name: 'change_rows',
      needs: () => undefined,
      decide: ({ batch }) => {
        for (let row = 0; row < rowsOfCommand; row++) {
          const key = `row-${(count += 1)}`
          batch.stage('usage', key, { key, used: 0n })
        }
        return answer({})
      },
    }
    const changes = 3 * COMMIT_BATCH_CHANGES_MAX
    const answers = Array.from({ length: changes / rowsOfCommand }, () => bench.submit(command))
    await iterations(changes / DECIDE_CHUNK_MAX)
    t.ok(bench.pipeline.metrics.commands < answers.length, 'the others wait')
    allowCommits()
    await Promise.all(answers)
    const written = sizes.reduce((sum, size) => sum + size, 0)
    t.equal(written, changes)
    const largest = Math.max(...sizes)
    t.ok(largest >= COMMIT_BATCH_CHANGES_MAX, 'a batch is filled')
    t.ok(largest < COMMIT_BATCH_CHANGES_MAX + DECIDE_CHUNK_MAX * rowsOfCommand, `${largest} rows`)
    t.same(bench.stops, [])
  })
}

t.test('a command names its rows until none is missing', async (t) => {
  const bench = await opened(t)
  let [asked, askedWithout] = [0, 0]
  const follows: Command = {
    name: 'follows',
    needs: (needs, memory) => {
      asked += 1
      needs.intent('pi_none')
      if (memory.intents.get('pi_none') === null) needs.payout('pout_none')
    },
    decide: ({ memory }) => answer({ isLoaded: memory.payouts.get('pout_none') === null }),
  }
  const needsNothing: Command = {
    name: 'needs nothing',
    needs: () => {
      askedWithout += 1
    },
    decide: () => answer({}),
  }
  const commands = [needsNothing, follows, follows]
  const [, ...answers] = await Promise.all(commands.map((command) => bench.submit(command)))
  t.same(answers.map(viewOf), [{ isLoaded: true }, { isLoaded: true }], 'both name the same rows')
  t.equal(asked, 2 * 3)
  t.equal(askedWithout, 1)
})

t.test('many commands share one commit', async (t) => {
  const bench = await opened(t)
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => bench.submit(createIntent(DEMO, anIntent()))),
  )
  t.ok(answers.every(({ ok }) => ok))
  t.equal(bench.pipeline.metrics.commits, 1)
})

t.test('a command that throws is answered 500; after a change it stops the process', async (t) => {
  const bench = await opened(t)
  const fails = (name: string, before: boolean): Command => ({
    name,
    needs: () => undefined,
    decide: (ctx) => {
      const row = {
        ...{ currency: 'X', rate: '1', set_at: 1, opening_rate: '1' },
        ...{ opened_at: 1, actor: 'ann', before_rate: null, removed_at: null },
      }
      if (!before) ctx.batch.stage('rates', 'X', row)
      throw new Error('a bug')
    },
  })
  t.equal(codeOf(await bench.submit(fails('early', true))), 'internal_error')
  t.same(bench.stops, [], 'nothing was changed, so the process continues')
  void bench.submit(fails('late', false))
  await iterations(20)
  t.match(bench.stops, [/half-way/])
})

t.test('a command whose deadline has passed is never decided', async (t) => {
  const { world, ...bench } = await opened(t)
  let decided = 0
  const counts: Command = {
    name: 'counts',
    needs: () => undefined,
    decide: () => {
      decided += 1
      return answer({})
    },
  }
  const now = world.clock.now()
  const late = await bench.submit(counts, { deadline: plus(now, -1) })
  t.equal(codeOf(late), 'timeout')
  await bench.submit(counts, { deadline: now })
  t.equal(decided, 1)
  t.equal(bench.pipeline.metrics.dropped, 1)
})

t.test('a nonce is valid for one call, whatever its outcome, also across a restart', async (t) => {
  const world = await createWorld(t)
  const signedBy = signedWith(5)
  const bench = benchOf(world)
  t.equal(world.memory().lastSignedAt, null)
  const [one, twin] = await Promise.all([
    bench.submit(getIntent(DEMO, 'pi_none'), { signedBy }),
    bench.submit(createIntent(DEMO, anIntent()), { signedBy }),
  ])
  t.same([one, twin].map(codeOf), ['payment_intent_not_found', 'authentication_failed'])
  t.equal(world.memory().lastSignedAt, world.clock.now())
  await world.rebuild()
  const later = benchOf(world)
  const replayed = await later.submit(getIntent(DEMO, 'pi_none'), { signedBy })
  t.equal(codeOf(replayed), 'authentication_failed')
})

t.test('a nonce stays consumed when the clock is set, also across a restart', async (t) => {
  const world = await createWorld(t)
  const signedBy = signedWith(5)
  const send = (nonce: Work['signedBy'] = signedBy): Promise<Answer> =>
    benchOf(world).submit(getIntent(DEMO, 'pi_none'), { signedBy: nonce })
  const startedAt = world.clock.now()
  t.equal(codeOf(await send()), 'payment_intent_not_found')

  world.clock.pass(DAY)
  // The first commit of a pipeline is one that deletes old rows.
  t.equal(codeOf(await send(signedWith(6))), 'payment_intent_not_found')
  await world.rebuild()
  t.equal(codeOf(await send(signedWith(7))), 'payment_intent_not_found')
  world.clock.set(plus(startedAt, MINUTE))
  t.equal(codeOf(await send()), 'authentication_failed', 'after the clock is corrected')
  await world.rebuild()
  t.equal(codeOf(await send()), 'authentication_failed', 'after a restart')

  const kept = async (): Promise<Instant[]> =>
    (await collected((await world.store.boot(startedAt)).nonces)).map((row) => row.seen_at)
  const isAhead = (seenAt: Instant): boolean => seenAt > world.clock.now()
  t.ok((await kept()).some(isAhead))
  const calls = (2 * NONCE_WINDOW_MS) / (20 * SECOND)
  for (let nonce = 8; nonce < 8 + calls; nonce += 1) {
    world.clock.pass(20 * SECOND)
    t.equal(codeOf(await send(signedWith(nonce))), 'payment_intent_not_found')
  }
  t.notOk((await kept()).some(isAhead), 'rows with a future time are deleted too')
})

t.test('a revoked key is refused although its gateway accepted it', async (t) => {
  const { world, ...bench } = await opened(t)
  const send = async (nonce: number, over: Partial<Work> = {}): Promise<string> => {
    const signedBy = signedWith(nonce)
    return codeOf(await bench.submit(createIntent(DEMO, anIntent()), { signedBy, ...over }))
  }
  t.equal(await send(1), 'ok')
  t.equal(await send(2, { queueKey: tenantOf('other' as PartnerId, 'sandbox') }), REFUSED)
  t.equal(await send(2, { signedBy: { ...signedWith(2), keyId: 'unknown' as KeyId } }), REFUSED)
  t.equal(await send(2), 'ok', 'none of them consumed the nonce')

  const revoked = revokeKey({ name: 'ada', reason: 'ticket 7' }, signedWith(0).keyId)
  const [, late] = await Promise.all([bench.submit(revoked), send(3)])
  t.equal(late, REFUSED, 'after the revocation in the same batch')
  t.equal(await send(4), REFUSED)
  t.equal(world.memory().nonces.size, 2, 'a revoked key consumes no nonce')
})

t.test('a full nonce table answers configuration_error, not a replay error', async (t) => {
  const world = await createWorld(t)
  const nonces = createNonceTable({ salt: Buffer.alloc(32), maxEntries: 1 })
  const bench = benchOf(world, { memory: { ...world.memory(), nonces } })
  const codes = []
  for (const nonce of [1, 2]) {
    const signedBy = signedWith(nonce)
    codes.push(codeOf(await bench.submit(createIntent(DEMO, anIntent()), { signedBy })))
  }
  t.same(codes, ['ok', 'configuration_error'])
})

const REFUSED = 'authentication_failed'

const signedWith = (nonce: number): SignedBy => ({
  keyId: 'demo_sandbox_2026q4' as KeyId,
  ...{ nonce: Buffer.alloc(32, nonce), signedAt: null },
})

t.test('while the disk is almost full, reads work and open payments proceed', async (t) => {
  let low = true
  const bench = await opened(t, { diskIsLow: () => low })
  const create = (): Command => createIntent(DEMO, anIntent())
  t.equal(codeOf(await bench.submit(create())), 'configuration_error')
  t.equal(bench.commits(), 0, 'refused before it was decided')
  t.equal(bench.pipeline.metrics.refusedDiskLow, 1)
  t.equal(codeOf(await bench.submit(getBalances(DEMO))), 'ok')
  const internal = await bench.submit(create(), { queueKey: 'internal' })
  t.equal(codeOf(internal), 'ok', 'internal commands may use the disk reserve')
  low = false
  t.equal(codeOf(await bench.submit(create())), 'ok')
  t.equal(bench.pipeline.metrics.refusedDiskLow, 1)
})
