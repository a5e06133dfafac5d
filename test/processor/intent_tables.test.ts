/**
 * Every answer of every intent command, as tables: what came before, what is asked, the code, and
 * the state afterwards.
 *
 * Owns: how a row is checked. Does not own: the tables, one file for each command.
 *
 * T1. A refusal changes nothing that can be seen: not the intent, the books, the events or the
 *     orders to the rail.
 * T2. Rows named `… before …` break two rules at once and fix which one is told.
 */
import t, { type Test } from 'tap'
import { problemStatus } from '../../gateway/problem.js'
import { codeOf, createWorld, type World } from '../support/world.js'
import { beginLife, type Life } from './intent_life.js'
import { cancel } from './intent_tables/cancel.js'
import { confirm } from './intent_tables/confirm.js'
import { testCreate } from './intent_tables/create.js'
import { anothersReceipt, get, receipt, receiptToken } from './intent_tables/reads.js'
import { refund } from './intent_tables/refund.js'
import { remint } from './intent_tables/remint.js'
import type { Row, Table } from './intent_tables/row.js'
import { scan } from './intent_tables/scan.js'

const TABLES: Readonly<Record<string, Table>> = {
  're-mint': remint,
  scan,
  confirm,
  cancel,
  refund,
  get,
  receipt,
  'receipt token': receiptToken,
  "another user's receipt": anothersReceipt,
}

void t.test('create', testCreate)

for (const [endpoint, table] of Object.entries(TABLES)) {
  void t.test(endpoint, async (t) => {
    const world = await createWorld(t)
    for (const row of await table(world)) {
      await t.test(row.name, (t) => check(t, world, endpoint, row))
    }
  })
}

async function check(t: Test, world: World, endpoint: string, row: Row): Promise<void> {
  const life = await beginLife(world, row.options)
  await row.given?.(life)
  const before = await visible(life)
  const answer = await row.ask(life)
  t.equal(codeOf(answer), row.code)
  if (row.code === 'ok') return void t.equal((await life.see()).status, row.then)
  t.equal(problemStatus(row.code, endpoint === 'confirm'), row.status)
  t.same(await visible(life), before, 'nothing has changed')
}

/** What a caller, a partner or the rail could notice. */
const visible = async ({ world, see }: Life): Promise<object> => ({
  intent: await see(),
  events: world.events.length,
  orders: world.orders.length,
  balances: [...world.memory().balances],
})
