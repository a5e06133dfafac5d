/**
 * Every cell of the books damaged, one at a time: the start stops with a sentence that names the
 * damage, or the processor serves what does not need the row. No commit fails, as that would stop
 * the processor at each start.
 */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { listIntents } from '../../src/processor/queries/intent_list.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { setRouteRail } from '../../src/processor/commands/operators/route_rail_set.js'
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { pauseSubmissions } from '../../src/processor/commands/operators/submissions_pause.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { eraseUser } from '../../src/processor/commands/partners/user_erase.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { FILES } from '../../src/base/subjects.js'
import { clockAfter, copyBooks, writeSmallBooks } from '../audit/small_books.js'
import { inBooks } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, viewOf } from '../support/world.js'
import { callersIn } from './approval_cases.js'
import { execution, restored } from './recovery/orphans.js'
import { aRoute, OPERATOR, payout, read } from './scenarios.js'

/** What a start says of the damage, if it stops. */
const SERVED_OR_SENTENCE = /^served$|damaged: restore it$|restore its line|bad (opening )?rate/
/** A value of each type that no writer of the books stores. */
const DAMAGES: Readonly<Record<string, string>> = {
  TEXT: "'damaged'",
  BLOB: "X'00'",
  INTEGER: '9007199254740993',
}

const small = await writeSmallBooks(t)
const source = join(small.folder, 'more')
mkdirSync(source)
copyBooks(small, source)
const startedAt = clockAfter(small).now()
await fillOtherTables()

/** Where no change needs a second operator. */
async function fillOtherTables(): Promise<void> {
  const ends: (() => unknown)[] = []
  const home = { testdir: () => source, teardown: (end: () => unknown) => void ends.push(end) }
  const world = await createWorld(home, { startedAt })
  viewOf(await restored(world, execution()))
  const caller = { kind: 'service', name: 'ledger', roles: [], partners: [], certificate: 'ledger' }
  for (const command of [
    setRate(OPERATOR, 'THB', '36.10'),
    setRoute(OPERATOR, DEMO, aRoute()),
    setRouteRail(OPERATOR, 'sandbox/VN/USD', 'sandbox'),
    pauseSubmissions(OPERATOR, 'rail sandbox'),
    createCaller(OPERATOR, callersIn(world), caller),
    eraseUser(OPERATOR, DEMO, small.intents.captured),
  ])
    viewOf(await world.run(command))
  for (const end of ends) await end()
}

interface Cell {
  readonly column: string
  readonly type: string
}

const rowsOf = <Row>(sql: string): Promise<Row[]> => inBooks(source, ({ all }) => all<Row>(sql))

/** The newest row of a table, as a condition; undefined if there is none. */
async function newestRow(table: string): Promise<string | undefined> {
  const keys = await rowsOf<{ name: string }>(
    `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`,
  )
  const names = keys.length === 0 ? ['rowid'] : keys.map(({ name }) => `"${name}"`)
  const condition = names.map((name) => `'${name} = ' || quote(${name})`).join(" || ' AND ' || ")
  const newestFirst = names.map((name) => `${name} DESC`).join(', ')
  const [row] = await rowsOf<{ condition: string }>(
    `SELECT ${condition} AS condition FROM ${table} ORDER BY ${newestFirst} LIMIT 1`,
  )
  return row?.condition
}

const cellsOf = (table: string): Promise<Cell[]> =>
  rowsOf(`SELECT name AS column, type FROM pragma_table_info('${table}')`)

/** False means that the schema does not allow the value, or the cell has it. */
async function damage(folder: string, table: string, set: string, row: string): Promise<boolean> {
  cpSync(join(source, FILES.processorDatabase), join(folder, FILES.processorDatabase))
  return inBooks(folder, ({ run }) => run(`UPDATE ${table} SET ${set} WHERE ${row}`))
    .then(() => true)
    .catch(() => false)
}

/** Pays, lists, and fires the timers of all open payments. @throws Error when a commit failed */
async function use(t: Test, folder: string): Promise<Answer[]> {
  let stopped = (_error: Error): void => undefined
  const stop = new Promise<never>((_resolve, reject) => (stopped = reject))
  stop.catch(() => undefined)
  const home = { testdir: () => folder, teardown: t.teardown.bind(t) }
  const world = await createWorld(home, {
    startedAt,
    onStop: (reason, cause) => stopped(new Error(reason, { cause })),
  })
  const used = async (): Promise<Answer[]> => {
    const answers = [
      await world.run(createIntent(DEMO, anIntent())),
      await world.run(createPayout(DEMO, payout({ idempotency_key: 'new' }))),
      await read(world, listIntents(DEMO, { limit: 100 })),
    ]
    await world.fireTimers()
    return answers
  }
  return Promise.race([used(), stop])
}

const TABLES = await rowsOf<{ name: string }>(
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
)

t.test('books without damage', async (t) => {
  const folder = t.testdir()
  cpSync(join(source, FILES.processorDatabase), join(folder, FILES.processorDatabase))
  t.same((await use(t, folder)).map(codeOf), ['ok', 'ok', 'ok'])
})

for (const { name: table } of TABLES) {
  const row = await newestRow(table)
  if (row === undefined) continue
  t.test(table, async (t) => {
    for (const { column, type } of await cellsOf(table)) {
      const set = `"${column}" = ${DAMAGES[type]}`
      await t.test(set, async (t) => {
        const folder = t.testdir()
        if (!(await damage(folder, table, set, row))) return
        const said = await use(t, folder).then(
          () => 'served',
          ({ message, cause }: Error) => `${message}${cause instanceof Error ? cause.message : ''}`,
        )
        t.match(said, SERVED_OR_SENTENCE)
      })
    }
  })
}
