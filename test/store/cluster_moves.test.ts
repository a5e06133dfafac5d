/** The move of a shard to another processor, and what its owner may still write. */
import t from 'tap'
import { Deposed } from '../../src/store/store.js'
import { createMember } from '../../src/processor/cluster/member.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { anIntent, batchOf } from './commit_rows.js'
import {
  pause,
  processor,
  severalLooks,
  epochOf,
  endSession,
  ownedShard,
  recordOf,
  epochOfShard,
} from './cluster_processors.js'
import { connected, newShard } from './postgres_books.js'

t.test('a move to a processor that does not wait any more is cancelled', async (t) => {
  const { one, spare, shard } = await ownedShard(t)
  let isMoved = false
  const elapsed = (): number => 0
  const member = await createMember({ cluster: one.cluster, shard, epoch: 1, elapsed, pause, log })
  member.onMove(() => (isMoved = true))
  await one.cluster.announce(shard, 0, 'one:1', true)
  t.ok(await one.cluster.requestMove(shard, 1, 'p_dead'))
  t.notOk(await one.cluster.cancelMove(shard, 2, 'p_dead'), 'of another epoch')
  const sql = await connected(t, 'cluster')
  await sql.run('UPDATE shards SET epoch = 0 WHERE shard = ?', [shard])
  await member.serve('one:1', false, () => 0)
  await sql.run(`UPDATE shards SET move_to = 'p_dead', move_requested_at = 1 WHERE shard = ?`, [
    shard,
  ])
  await eventually('the owner cancels it', async () => (await one.cluster.moveOf(shard)) === null)
  t.notOk(isMoved)
  const other = newShard()
  await one.cluster.addShard(other)
  t.ok(await one.cluster.requestMove(other, 0, spare.name))
  t.notOk(await one.cluster.requestMove(shard, 1, spare.name), 'one shard moves to a processor')
  await sql.run('UPDATE shards SET move_to = NULL, move_requested_at = NULL WHERE shard = ?', [
    other,
  ])
  t.ok(await one.cluster.requestMove(shard, 1, spare.name))
  await eventually('the owner leaves', () => isMoved)
})

t.test('an owner paused during a take-over commits nothing', async (t) => {
  const [one, spare] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  const { books } = await one.waits(shard)
  const sql = await connected(t, shard)
  const owned = spare.waits(shard)
  await severalLooks(spare)
  // A paused owner: its session is open, its heartbeats stop.
  await sql.run('UPDATE owner SET holder = ?', [''])
  await (await owned).books.commit(batchOf({ intents: [anIntent('pi_2')] }))
  await t.rejects(books.commit(batchOf({ intents: [anIntent('pi_1')] })), Deposed)
  await t.rejects(books.barrier(), Deposed)
})

t.test('a shard moves to the named processor, and the move ends when it serves', async (t) => {
  const { one, spare, shard, books, taken } = await ownedShard(t)
  t.ok(await one.cluster.requestMove(shard, 1, spare.name))
  t.equal(await one.cluster.moveOf(shard), spare.name)
  await severalLooks(spare)
  t.equal(await epochOfShard(t, shard), 1, 'not before the release')
  await books.close()
  t.equal(await epochOf((await taken).books), 2)
  t.equal(await one.cluster.moveOf(shard), spare.name, 'the move is open until it serves')
  t.ok(await spare.cluster.announce(shard, 2, 'spare:1'))
  t.match(await recordOf(one, shard), { holder: spare.name, moveTo: null, moves: 1, epoch: 2 })
})

t.test('the second of two concurrent moves of a shard is rejected', async (t) => {
  const { one, spare, shard } = await ownedShard(t)
  const accepted = await Promise.all([
    one.cluster.requestMove(shard, 1, 'p_left'),
    spare.cluster.requestMove(shard, 1, 'p_right'),
  ])
  t.same(accepted.filter(Boolean).length, 1)
  const to = await one.cluster.moveOf(shard)
  t.equal(to, accepted[0] ? 'p_left' : 'p_right')
  const sql = await connected(t, 'cluster')
  await sql.run('UPDATE shards SET move_requested_at = move_requested_at - 31000 WHERE shard = ?', [
    shard,
  ])
  t.ok(await one.cluster.requestMove(shard, 1, spare.name), 'an expired move is replaced')
})

t.test('a move requested for an earlier epoch is rejected', async (t) => {
  const { one, spare, shard, books, taken } = await ownedShard(t)
  await books.close()
  await taken
  await spare.cluster.announce(shard, 2, 'spare:1')
  t.notOk(await one.cluster.requestMove(shard, 1, 'p_third'))
  t.equal(await one.cluster.moveOf(shard), null)
})

t.test('an owner that ends before the release keeps the shard by its restart', async (t) => {
  const { one, spare, shard } = await ownedShard(t)
  t.ok(await one.cluster.requestMove(shard, 1, spare.name))
  await endSession(t, shard)
  const again = await one.waits(shard)
  t.equal(await epochOf(again.books), 2)
  t.ok(await one.cluster.announce(shard, 2, 'one:1'))
  t.match(await recordOf(one, shard), { holder: one.name, moveTo: null, moves: 0 })
  t.notOk(await one.cluster.requestMove(shard, 1, spare.name), 'a move for the former epoch')
})

t.test(
  'a named processor that ends before it serves completes the move by its restart',
  async (t) => {
    const { one, spare, shard, books, taken } = await ownedShard(t)
    t.ok(await one.cluster.requestMove(shard, 1, spare.name))
    await books.close()
    await taken
    await endSession(t, shard)
    t.match(await recordOf(one, shard), { moveTo: spare.name, address: 'one:1' })
    const again = await spare.waits(shard)
    t.equal(await epochOf(again.books), 3)
    t.ok(await spare.cluster.announce(shard, 3, 'spare:1'))
    t.match(await recordOf(one, shard), { moveTo: null, moves: 1, address: 'spare:1' })
  },
)
