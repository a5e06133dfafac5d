/**
 * Operators' lists that read the books, with each cell of one row damaged, one at a time: they
 * answer, the other rows come, and the pages go on past a row that is only named.
 */
import t from 'tap'
import { newId, type PayoutId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { addOrphans } from '../../src/processor/commands/operators/orphan_add.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { releaseRecovery } from '../../src/processor/commands/operators/recovery_release.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { eraseUser } from '../../src/processor/commands/partners/user_erase.js'
import { listActions } from '../../src/processor/queries/action_list.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import { listOrphans } from '../../src/processor/queries/orphan_list.js'
import type { PageRequest } from '../../src/processor/queries/page.js'
import type { Query } from '../../src/processor/queries/query.js'
import { listUserErasures } from '../../src/processor/queries/user_erasure_list.js'
import { TABLES } from '../../src/store/tables.js'
import { rawBooks } from '../support/books.js'
import { NO_FINDINGS, RELEASE } from '../support/statements.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { captured, intentAt } from './intent_lifecycle.js'
import { executed, OPERATOR, read, readAll } from './scenarios.js'

type Table = 'operatorLog' | 'discrepancies' | 'orphans' | 'userErasures'
interface StoredTable {
  readonly name: string
  readonly key?: readonly string[]
  readonly columns: Readonly<Record<string, string>>
}
type Row = Readonly<Record<string, unknown>>

/** SQL of values that no writer of the books stores. */
const DAMAGES: Readonly<Record<string, readonly string[]>> = {
  text: ["'damaged'", 'NULL'],
  json: ["'{'", 'NULL'],
  integer: ['9007199254740993', '-9007199254740993', '9000000000000000', 'NULL'],
  int64: ['9223372036854775807', '-9223372036854775807', 'NULL'],
}

const ROWS = 3

async function fill(world: World): Promise<void> {
  for (let i = 0; i < ROWS; i++) {
    world.clock.pass(1)
    viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: i % 2 ? 'resume' : 'suspend' })))
  }
  viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'resume' })))
  for (let i = 0; i < ROWS; i++) {
    const { id } = await intentAt(world, captured, { user: `user ${i}` })
    viewOf(await world.run(eraseUser(OPERATOR, DEMO, id)))
    world.clock.pass(1)
    const unknown = newId('payout', world.clock.now(), systemRandom())
    await world.railReports(executed(unknown as PayoutId))
  }
  viewOf(await world.run(enterRecovery('a test')))
  const orphans = Array.from({ length: ROWS }, (_, i) => ({
    ...{ instruction_id: `lost ${i}`, amount: '7', currency: 'VND', transaction_id: `TX${i}` },
    ...{ executed_at: String(world.clock.now() - i), purpose: 'payout', state: '' },
  }))
  viewOf(await world.run(addOrphans(OPERATOR, orphans)))
  viewOf(await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS)))
}

const bothOf =
  (list: (request: PageRequest & { readonly resolved: boolean }) => Query) =>
  async (world: World): Promise<Row[]> => [
    ...(await readAll<Row>(world, (page) => list({ resolved: false, limit: 1, ...page }))),
    ...(await readAll<Row>(world, (page) => list({ resolved: true, limit: 1, ...page }))),
  ]

const LISTS: Readonly<
  Record<Table, { readonly names: RegExp; readonly read: (world: World) => Promise<Row[]> }>
> = {
  operatorLog: {
    names: /^action \d+$/,
    read: (world) => readAll(world, (page) => listActions({ limit: 1, ...page })),
  },
  discrepancies: { names: /^discrepancy \S+$/, read: bothOf(listDiscrepancies) },
  orphans: { names: /^orphan execution lost \d$/, read: bothOf(listOrphans) },
  userErasures: {
    names: /^erasure \S+$/,
    read: async (world) => viewOf<{ data: Row[] }>(await read(world, listUserErasures())).data,
  },
}

t.test('each cell of one row', async (t) => {
  const world = await createWorld(t)
  await fill(world)
  const books = await rawBooks(world.folder)
  t.teardown(() => books.close())

  for (const [table, { names, read: list }] of Object.entries(LISTS)) {
    await t.test(table, async (t) => {
      const stored: StoredTable = TABLES[table as Table]
      const { name, columns, key = ['id'] } = stored
      const before = await list(world)
      t.ok(before.length >= ROWS, `${before.length} rows`)
      const keys = await books.all<Record<string, string | number>>(
        `SELECT ${key.join()} FROM ${name} ORDER BY ${key.join()} LIMIT 2`,
      )
      const chosen = key.map((column) => keys[1]![column]!)
      const where = key.map((column) => `${column} = ?`).join(' AND ')
      let named = 0
      for (const [column, type] of Object.entries(columns)) {
        if (key.includes(column)) continue
        for (const value of DAMAGES[type]!) {
          const [kept] = await books.all<Record<string, string | number | null>>(
            `SELECT CAST(${column} AS TEXT) AS value FROM ${name} WHERE ${where}`,
            chosen,
          )
          const isDamaged = await books
            .run(`UPDATE ${name} SET ${column} = ${value} WHERE ${where}`, chosen)
            .then(() => true)
            .catch(() => false) // the schema does not allow it
          if (!isDamaged) continue
          const after = await list(world)
          const others = before.filter((row) => after.some((each) => isSame(each, row)))
          t.ok(others.length >= before.length - 1, `${column} = ${value}: the other rows come`)
          t.ok(after.length <= before.length, `${column} = ${value}: no row comes twice`)
          for (const { corrupt } of after.filter((row) => 'corrupt' in row)) {
            t.match(corrupt, names)
            named += 1
          }
          const integer = type === 'integer' || type === 'int64' ? 'BIGINT' : 'TEXT'
          const old = kept!['value'] ?? null
          const restored =
            old === null ? 'NULL' : `CAST('${String(old).replaceAll("'", "''")}' AS ${integer})`
          await books.run(`UPDATE ${name} SET ${column} = ${restored} WHERE ${where}`, chosen)
        }
      }
      t.ok(named > 0, `${named} times the row was named`)
      t.same(await list(world), before, 'restored')
    })
  }
})

const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other)
