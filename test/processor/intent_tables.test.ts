/**
 * Every answer of every intent command as tables: previous stage, call, expected code and state
 * afterwards.
 *
 * Owns: checking a row. Does not own: the tables, one file for each command.
 *
 * - A refusal changes nothing visible: not the intent, the books, the events or the instructions to
 *   the rail.
 * - Rows named `… before …` violate two rules at once and fix which one is reported.
 */
import t, { type Test } from 'tap'
import { errorStatus } from '../../gateway/http/error_response.js'
import { codeOf, createWorld, type World } from '../support/world.js'
import { beginLifecycle, type Lifecycle } from './intent_lifecycle.js'
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

t.test('create', testCreate)

for (const [endpoint, table] of Object.entries(TABLES)) {
  t.test(endpoint, async (t) => {
    const world = await createWorld(t)
    for (const row of await table(world)) {
      await t.test(row[0], (t) => check(t, world, endpoint, row))
    }
  })
}

async function check(t: Test, world: World, endpoint: string, row: Row): Promise<void> {
  const [, given, request, says, options] = row
  const lifecycle = await beginLifecycle(world, options)
  await given(lifecycle)
  const before = await visible(lifecycle)
  const answer = await request(lifecycle)
  t.equal(codeOf(answer), says.code)
  if (says.code === 'ok') return void t.equal((await lifecycle.see()).status, says.then)
  t.equal(errorStatus(says.code, endpoint === 'confirm'), says.status)
  t.same(await visible(lifecycle), before, 'a refusal changes nothing')
}

/** All state visible to callers, partners and the rail. */
const visible = async ({ world, see }: Lifecycle): Promise<object> => ({
  intent: await see(),
  events: world.events.length,
  instructions: world.railInstructions.length,
  balances: [...world.memory().balances],
})
