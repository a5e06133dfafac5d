/** The calls of an operator while the owners of shards change. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plus, SECOND, systemClock } from '../../src/base/clock.js'
import { actionNamed, outcomeOf } from '../../src/console/actions/actions.js'
import { identify, openUplink } from '../../src/console/session/uplink.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { withEveryRole } from '../support/callers.js'
import { serveShard, type ServedShard } from '../support/served_shard.js'
import { tempFolder } from '../support/temp_folder.js'
import { createWorld, type World } from '../support/world.js'

const TOKEN = 'op_of_these_tests_only_0123456789'
const SHARDS = ['books_1', 'books_2']

async function serveShards(t: Test) {
  const folder = tempFolder(t)
  const worlds = new Map<string, World>()
  const callers = withEveryRole(TOKEN, 'ann')
  const worldOf = async (shard: string): Promise<World> => {
    mkdirSync(join(folder, shard))
    return createWorld({ testdir: () => join(folder, shard), teardown: t.teardown.bind(t) })
  }
  const PROCESSORS: string[] = []
  /** Another processor has the shard now. */
  const serve = async (shard: string): Promise<ServedShard> => {
    const world = worlds.get(shard) ?? (await worldOf(shard))
    worlds.set(shard, world)
    const served = await serveShard(t, { world, shard, shards: SHARDS, callers })
    PROCESSORS.push(served.address)
    return served
  }
  const [first, second] = [await serve('books_1'), await serve('books_2')]
  let passed = 0
  const uplink = openUplink(
    { token: TOKEN },
    {
      settings: { PROCESSOR_ADDRESS: '', PROCESSORS },
      ...{ tls: CLEARTEXT, clock: { now: () => plus(systemClock.now(), passed) } },
    },
  )
  t.teardown(() => uplink.close())
  return { first, second, serve, uplink, wait: (ms: number) => void (passed += ms) }
}

t.test('a page that has begun makes its calls when the shards have changed', async (t) => {
  const { second, uplink, wait } = await serveShards(t)
  const page = await uplink.clients()
  t.same([...(page.access.shards?.reached.keys() ?? [])], SHARDS)
  await second.close()
  wait(2 * SECOND)
  const next = await uplink.clients()
  t.same(next.access.shards?.missing, ['books_2'])
  t.match(await page.callers.call('Identify', {}), { name: 'ann' }, 'of the former shards')
  t.match(await next.callers.call('Identify', {}), { name: 'ann' })
  uplink.close()
  for (const clients of [page, next]) await t.rejects(clients.callers.call('Identify', {}))
})

t.test('a page is shown right after the owner that was found has gone', async (t) => {
  const { first, uplink } = await serveShards(t)
  await identify(uplink)
  await first.close()
  const { clients, operator } = await identify(uplink)
  t.equal(operator.name, 'ann')
  t.same(clients.access.shards?.missing, ['books_1'])
})

t.test('a change right after the owner has gone is made at the next one', async (t) => {
  const { first, serve, uplink } = await serveShards(t)
  const suspend = () =>
    outcomeOf(actionNamed('suspend-partner')!, { name: 'ann', uplink }, (field) =>
      field === 'id' ? 'demo' : 'a test',
    )
  const before = await uplink.clients()
  t.match(await before.partners.call('ListActions', {}), { data: { length: 0 } })
  await first.close()
  await serve('books_1')
  t.match(await suspend(), { tone: 'good', text: /^demo is suspended/ })
  const { partners } = await uplink.clients()
  const { data } = await partners.call('ListActions', { subject: 'demo' })
  t.same(
    data.map(({ action }) => action),
    ['partner_suspend'],
    'once',
  )
})
