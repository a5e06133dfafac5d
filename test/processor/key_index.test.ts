/** The index of idempotency keys: its newest keys in memory, the older ones in the store. */
import { hash } from 'node:crypto'
import t, { type Test } from 'tap'
import fc from 'fast-check'
import { openBooks } from '../../src/audit/books.js'
import { olderKeysAreIndexed } from '../../src/audit/checks/idempotency.js'
import { createKeyIndexMoves } from '../../src/processor/background/key_index_moves.js'
import { asInteger, fingerprintOf } from '../../src/processor/cache/idempotency_index.js'
import { createKeyFilter } from '../../src/processor/cache/key_filter.js'
import { createKeyIndex, SEGMENTS } from '../../src/processor/cache/key_index.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { find } from '../../src/processor/queries/find.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { anIntent } from '../support/requests.js'
import { rawBooks, sqliteOnly } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'

const rowKey = (n: number): string => hash('sha256', String(n), 'base64url').slice(0, 22)

t.test('a fingerprint as an integer keeps all of its 64 bits, and its sign', async (t) => {
  t.equal(asInteger({ high: 0, low: 0 }), 0n)
  t.equal(asInteger({ high: 0x7fff_ffff, low: 0xffff_ffff }), 2n ** 63n - 1n)
  t.equal(asInteger({ high: 0x8000_0000, low: 0 }), -(2n ** 63n))
  t.equal(asInteger({ high: 0xffff_ffff, low: 0xffff_fffe }), -2n)
})

t.test('the filter has every added key, and about as few others as it states', async (t) => {
  const filter = createKeyFilter(2 ** 18)
  const keys = 30_000 // As 30 million in the filter of 2 ** 28 bits.
  for (let i = 0; i < keys; i++) filter.add(fingerprintOf(rowKey(i)))
  let others = 0
  for (let i = 0; i < keys; i++) {
    if (!filter.mayHave(fingerprintOf(rowKey(i)))) t.fail(`key ${i} is missing`)
    if (filter.mayHave(fingerprintOf(rowKey(keys + i)))) others += 1
  }
  t.ok(others > 0 && others < 0.04 * keys, `${others} of ${keys}`)
})

t.test('a key is found at each moment of a move', async () => {
  const step = fc.oneof(
    fc.record({ add: fc.nat({ max: 200 }) }),
    fc.record({ move: fc.nat({ max: 3 }), keep: fc.nat({ max: 5 }) }),
    fc.record({ settle: fc.constant(true) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const index = createKeyIndex(() => createKeyFilter(2 ** 14))
      const added: { high: number; low: number }[] = []
      const stored = new Set<bigint>()
      let pending = false
      for (const one of steps) {
        if ('add' in one) {
          // All in four segments.
          const fingerprint = { high: ((one.add & 3) << 22) >>> 0, low: one.add }
          added.push(fingerprint)
          index.add(fingerprint, added.length)
        } else if ('settle' in one) {
          index.settle()
          pending = false
        } else if (!pending) {
          const through = added.length - one.keep
          for (const entry of index.entriesIn(one.move, through)) stored.add(asInteger(entry))
          index.indexed(one.move, through)
          pending = true
        }
      }
      return added.every(
        (fingerprint, at) =>
          index.candidates(fingerprint).includes(at + 1) ||
          (index.mayBeIndexed(fingerprint) && stored.has(asInteger(fingerprint))),
      )
    }),
  )
})

const KEYS = 60
const NEWEST = 20

const create = (world: World, n: number, cents = 5_000): Promise<Answer> =>
  world.run(createIntent(DEMO, anIntent({ idempotency_key: `key-${n}`, amount_usd_cents: cents })))

const idOf = (answer: Answer): string => viewOf<{ intent_id: string }>(answer).intent_id

async function createdIds(world: World): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < KEYS; n++) ids.push(idOf(await create(world, n)))
  return ids
}

/** Moves until `isEnough`, then stops as a crash would: between two commits. */
async function move(world: World, isEnough: () => boolean | Promise<boolean>): Promise<void> {
  const moves = createKeyIndexMoves({
    memory: world.memory(),
    pipeline: { submit: (work) => world.submit(work) },
    newest: NEWEST,
    pauseMs: 0,
  })
  moves.start()
  await eventually('the move', isEnough)
  moves.stop()
}

/** The first move as a crash leaves it: the segments of its second half never arrive. */
async function moveHalf(world: World): Promise<void> {
  let segments = 0
  const moves = createKeyIndexMoves({
    memory: world.memory(),
    pipeline: {
      submit: (work) => {
        if (segments++ < SEGMENTS / 2) world.submit(work)
      },
    },
    newest: NEWEST,
    pauseMs: 0,
  })
  moves.start()
  await eventually('half of the move', () => segments > SEGMENTS / 2)
  moves.stop()
}

const movedThrough = async (world: World): Promise<number> =>
  (await world.store.boot(world.clock.now())).indexedKeysThrough

const isMoved = async (world: World): Promise<boolean> =>
  (await movedThrough(world)) === KEYS - NEWEST

async function assertAllAreKnown(t: Test, world: World, ids: readonly string[]): Promise<void> {
  for (const [n, id] of ids.entries()) {
    if (idOf(await create(world, n)) !== id) t.fail(`key ${n} made another intent`)
    if (codeOf(await create(world, n, 5_001)) !== 'idempotency_conflict') t.fail(`key ${n}`)
  }
}

t.test('keys that have left memory still bind their first request', async (t) => {
  const world = await createWorld(t)
  const ids = await createdIds(world)
  await move(world, () => isMoved(world))
  t.equal(world.memory().keyIndex.size, NEWEST)
  await assertAllAreKnown(t, world, ids)
  t.not(idOf(await create(world, KEYS)), ids[0], 'a new key makes a new intent')

  await world.rebuild()
  t.equal(world.memory().keyIndex.size, NEWEST + 1, 'after a restart too')
  t.equal(world.memory().lastKeySequence, KEYS + 1)
  await assertAllAreKnown(t, world, ids)
})

t.test('retries during a move, and a restart in the middle, find their keys', async (t) => {
  const world = await createWorld(t)
  const ids = await createdIds(world)
  let isEnded = false
  const retries = (async () => {
    while (!isEnded) await assertAllAreKnown(t, world, ids)
  })()
  await moveHalf(world)
  isEnded = true
  await retries
  t.ok(world.memory().keyIndex.size < KEYS, 'keys have left memory')
  t.equal(await movedThrough(world), 0, 'the move has not ended')

  await world.rebuild()
  t.equal(world.memory().keyIndex.size, KEYS, 'memory has all keys again')
  await assertAllAreKnown(t, world, ids)
  await move(world, () => isMoved(world))
  await assertAllAreKnown(t, world, ids)
})

t.test('the audit follows the moved keys', { skip: sqliteOnly('its file') }, async (t) => {
  const world = await createWorld(t)
  await createdIds(world)
  await move(world, () => isMoved(world))
  const check = async (): Promise<string | null> => {
    const books = await openBooks(world.folder, world.clock, { page: 7 })
    const { rows, broken } = await olderKeysAreIndexed.run(books)
    await books.close()
    t.equal(rows >= KEYS - NEWEST - 1, true)
    return broken?.found ?? null
  }
  t.equal(await check(), null)
  const raw = await rawBooks(world.folder)
  await raw.exec('DELETE FROM idempotency_index WHERE sequence = 31')
  t.equal(await check(), 'no row with its fingerprint')
  await raw.exec('INSERT INTO idempotency_index VALUES (5, 31)')
  t.equal(await check(), 'no row with its fingerprint')
  await raw.close()
})

t.test('a support case finds the payment of an older key', async (t) => {
  const world = await createWorld(t)
  const ids = await createdIds(world)
  await move(world, () => isMoved(world))
  const pools = { requestAll: () => Promise.resolve({ ok: true, value: [] }), missingPools: [] }
  for (const n of [0, KEYS - 1]) {
    const found = await find(pools as never, world.memory(), `key-${n}`).run({
      lists: world.store.lists,
    } as never)
    const { data } = viewOf<{ data: { id: string; found_by: string }[] }>(found)
    t.match(data, [{ id: ids[n], found_by: 'idempotency_key' }])
  }
})

t.test('a refused step of a move is repeated', async (t) => {
  const world = await createWorld(t)
  await createdIds(world)
  let refusals = 0
  const moves = createKeyIndexMoves({
    memory: world.memory(),
    pipeline: {
      submit: (work) => {
        if (refusals++ > 0) return world.submit(work)
        work.reply({ ok: false, code: 'configuration_error' })
      },
    },
    newest: NEWEST,
    pauseMs: 0,
  })
  moves.start()
  await eventually('the move', () => isMoved(world))
  moves.stop()
  t.equal(refusals, 2 * SEGMENTS + 1, 'two moves, and one step twice')
})
