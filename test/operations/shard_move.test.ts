/** A move of a shard whose end the command cannot see. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withEveryRole } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { serveShard, testCluster } from '../support/served_shard.js'
import { createWorld } from '../support/world.js'
import { all, BECAUSE, cliOf, TOKEN } from './shard_clis.js'

t.setTimeout(0)

t.test('a move is not reported as done while its end is not known', async (t) => {
  const folder = join(all, 'books')
  mkdirSync(folder, { recursive: true })
  const home = { testdir: () => folder, teardown: t.teardown.bind(t) }
  const cluster = testCluster()
  const owner = await serveShard(t, {
    ...{ world: await createWorld(home), shard: 'books_1', shards: ['books_1'], cluster },
    callers: withEveryRole(TOKEN, 'ann'),
  })
  const moving = cliOf(t, [owner.address])('shard move books_1 --to p9', ...BECAUSE)
  await eventually('the owner is asked', () => cluster.moves.get('books_1') === 'p9')
  await owner.close()
  const { exitCode, out } = await moving
  t.match(out, 'books_1 moves to p9.\nNo processor that answers knows yet: see /readyz of p9')
  t.equal(exitCode, 1)
})
