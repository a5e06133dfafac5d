/** What the pages say while a shard does not answer, and of what waits. */
import t from 'tap'
import { createCallers } from '../../src/auth/callers.js'
import { html } from '../../src/console/html/html.js'
import { listCard } from '../../src/console/pages/list_card.js'
import type { PageContext } from '../../src/console/session/console_page.js'
import { freePort } from '../../src/supervisor/ports.js'
import { serveShard } from '../support/served_shard.js'
import { tempFolder } from '../support/temp_folder.js'
import type { World } from '../support/world.js'
import { fillBooks } from './filled_books.js'
import { operator, serveConsole, tokenOf } from './served_console.js'
import { readPage, signIn } from './stack.js'

const OPERATORS = [operator('ann'), operator('ben')]
const callersOf = (world: World) => createCallers(OPERATORS, world.clock, world.memory().callers)

t.test('one of two shards', async (t) => {
  const folder = tempFolder(t)
  const home = { testdir: () => folder, teardown: t.teardown.bind(t) }
  const { world, held, equal } = await fillBooks(t, home, callersOf, ['ann', 'ben'])
  const shards = ['books_1', 'books_2']
  const served = { world, shard: 'books_1', shards, callers: callersOf(world) }
  const { address } = await serveShard(t, served)
  const silent = `127.0.0.1:${await freePort('127.0.0.1')}`
  const url = await serveConsole(t, { processors: [address, silent], clock: world.clock })
  const cookie = await signIn({ url, token: tokenOf('ann') })
  const read = (path: string) => readPage(url + path, cookie)

  for (const path of ['/partners/umbrella', '/statements/umbrella']) {
    const { status, text } = await read(path)
    t.equal(status, 404)
    t.match(text, 'umbrella is in none of the books that answered.', path)
    t.match(text, /Incomplete[^]*books_2/)
  }
  const [, count] = /Held for review<\/span>\s*<strong>(\d+)</.exec((await read('/')).text) ?? []
  t.equal(Number(count), held.length + 1 + equal.intents.length, 'payouts and intents')
  t.match((await read('/partners/demo')).text, 'Former keys end after 14 days.')
})

t.test('a list of one page says that there is more', async (t) => {
  const of = (more: object): Promise<string> =>
    listCard({} as PageContext, {
      ...{ title: 'A', caption: 'A', columns: ['a'], empty: 'None', command: 'a list' },
      call: Promise.resolve({ data: ['one'], ...more }),
      row: (entry: string) => [entry],
    }).then((card) => String(html`${card}`))
  t.notMatch(await of({}), 'There are more')
  t.match(await of({ next_cursor: 'c' }), 'There are more')
})
