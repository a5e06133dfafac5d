/**
 * Operators' lists with each cell of one row damaged, one at a time: they answer, the other rows
 * come, and the pages go on past a row that is only named. What they list from memory is read at
 * the start, which goes on too, or stops with a sentence.
 */
import t from 'tap'
import { DAY, plus } from '../../src/base/clock.js'
import { newId, type KeyId, type PayoutId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { stageApprovalRequest } from '../../src/processor/changes/approval_requests.js'
import { listApprovalRequests } from '../../src/processor/commands/approvals/approval_request_decide.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { listCallers } from '../../src/processor/commands/callers/caller_revoke.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { listRates } from '../../src/processor/commands/operators/rates_list.js'
import { setRouteRail } from '../../src/processor/commands/operators/route_rail_set.js'
import { listRoutes } from '../../src/processor/commands/operators/route_set.js'
import {
  listSubmissionPauses,
  pauseSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { listKeys, revokeKey } from '../../src/processor/commands/partners/key_revoke.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { answer } from '../../src/processor/cycle/answer.js'
import type { Command } from '../../src/processor/cycle/command.js'
import {
  changePartner,
  listPartners,
} from '../../src/processor/commands/partners/partner_change.js'
import { eraseUser } from '../../src/processor/commands/partners/user_erase.js'
import { listActions } from '../../src/processor/queries/action_list.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import { listOrphans } from '../../src/processor/queries/orphan_list.js'
import type { PageRequest } from '../../src/processor/queries/page.js'
import type { Query } from '../../src/processor/queries/query.js'
import { listUserErasures } from '../../src/processor/queries/user_erasure_list.js'
import { TABLES } from '../../src/store/tables.js'
import { rawBooks } from '../support/books.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { callersIn } from './approval_cases.js'
import { captured, intentAt } from './intent_lifecycle.js'
import { execution, restored } from './recovery/orphans.js'
import { executed, OPERATOR, read, readAll } from './scenarios.js'

type Table =
  | 'operatorLog'
  | 'discrepancies'
  | 'orphans'
  | 'userErasures'
  | 'partners'
  | 'signingKeys'
  | 'callers'
  | 'approvalRequests'
  | 'rates'
  | 'sandboxRates'
  | 'submissionPauses'
  | 'railRoutes'
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
  await fillMemory(world)
  for (let i = 0; i < ROWS; i++) {
    const { id } = await intentAt(world, captured, { user: `user ${i}` })
    viewOf(await world.run(eraseUser(OPERATOR, DEMO, id)))
    world.clock.pass(1)
    const unknown = newId('payout', world.clock.now(), systemRandom())
    await world.railReports(executed(unknown as PayoutId))
  }
  const lost = Array.from({ length: ROWS }, (_, i) =>
    execution({ instruction_id: `lost ${i}`, executed_at: String(world.clock.now() - i) }),
  )
  viewOf(await restored(world, ...lost))
}

/** Rows that are kept in memory. */
async function fillMemory(world: World): Promise<void> {
  for (const [name, currency, subject, route] of [
    ['one', 'THB', 'rail sandbox', 'sandbox/th_promptpay'],
    ['two', 'VND', 'corridor th_promptpay', 'sandbox/vn_vietqr'],
    ['six', 'EUR', 'corridor vn_vietqr', 'sandbox/VN/USD'],
  ] as const) {
    world.clock.pass(1)
    const caller = { kind: 'service', name, roles: [], partners: [], certificate: name } as const
    for (const command of [
      createPartner(OPERATOR, name, { corridors: [], withFunds: false }),
      createCaller(OPERATOR, callersIn(world), caller),
      setRate(OPERATOR, currency, '7.5', { force: true }),
      pauseSubmissions(OPERATOR, subject),
      setRouteRail(OPERATOR, route, 'sandbox'),
      requested(subject),
    ]) {
      viewOf(await world.run(command))
    }
    const issued = viewOf<{ key_id: KeyId }>(await world.run(issueKey(OPERATOR, DEMO)))
    viewOf(await world.run(revokeKey(OPERATOR, issued.key_id)))
  }
}

/** Stores a request for the approval of a resume. */
const requested = (subject: string): Command => ({
  name: 'request',
  needs: () => undefined,
  decide: (ctx) => {
    stageApprovalRequest(ctx, {
      id: newId('approvalRequest', ctx.now, ctx.random),
      ...{ operation: 'resume_submissions', arguments: JSON.stringify({ subject }), subject },
      ...{ currency: 'USD', amount: 1n, requested_by: 'ann', reason: 'a test' },
      ...{ requested_at: ctx.now, expires_at: plus(ctx.now, 2 * DAY), status: 'pending' },
      ...{ decided_by: null, decision_reason: null, decided_at: null },
    })
    return answer({})
  },
})

const dataOf =
  (...commands: readonly ((world: World) => Command)[]) =>
  async (world: World): Promise<Row[]> => {
    const answers = await Promise.all(commands.map((command) => world.run(command(world))))
    return answers.flatMap((each) => viewOf<{ data: Row[] }>(each).data)
  }

const bothOf =
  (list: (request: PageRequest & { readonly resolved: boolean }) => Query) =>
  async (world: World): Promise<Row[]> => [
    ...(await readAll<Row>(world, (page) => list({ resolved: false, limit: 1, ...page }))),
    ...(await readAll<Row>(world, (page) => list({ resolved: true, limit: 1, ...page }))),
  ]

const LISTS: Readonly<
  Record<
    Table,
    {
      readonly names: RegExp
      readonly read: (world: World) => Promise<Row[]>
      readonly isInMemory?: true
    }
  >
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
  partners: { names: /^partner \w+$/, read: dataOf(listPartners), isInMemory: true },
  signingKeys: {
    names: /^signing key demo_sandbox_\w+$/,
    read: dataOf(() => listKeys(DEMO)),
    isInMemory: true,
  },
  callers: {
    names: /^caller \w+$/,
    read: dataOf((world) => listCallers(callersIn(world))),
    isInMemory: true,
  },
  approvalRequests: {
    names: /^approval request apr_\w+$/,
    read: dataOf(
      () => listApprovalRequests(false),
      () => listApprovalRequests(true),
    ),
    isInMemory: true,
  },
  rates: { names: /^rate production [A-Z]{3}$/, read: dataOf(listRates), isInMemory: true },
  sandboxRates: { names: /^rate sandbox [A-Z]{3}$/, read: dataOf(listRates), isInMemory: true },
  submissionPauses: {
    names: /^pause of (rail|corridor) \w+$/,
    read: dataOf(listSubmissionPauses),
    isInMemory: true,
  },
  railRoutes: {
    names: /^rail of sandbox\/\S+$/,
    read: async (world) => viewOf<{ rails: Row[] }>(await world.run(listRoutes())).rails,
    isInMemory: true,
  },
}

/** What a start says of the damage, if it stops. */
const SENTENCE = /bad (opening )?rate/

/** Null means that the start stops. */
async function listed(
  world: World,
  { read: list, isInMemory }: (typeof LISTS)[Table],
): Promise<Row[] | null> {
  try {
    if (isInMemory) await world.rebuild()
    return await list(world)
  } catch (error) {
    if (isInMemory && error instanceof Error && SENTENCE.test(error.message)) return null
    throw error
  }
}

t.test('each cell of one row', async (t) => {
  const world = await createWorld(t)
  await fill(world)
  const books = await rawBooks(world.folder)
  t.teardown(() => books.close())

  for (const [table, list] of Object.entries(LISTS)) {
    const { names } = list
    await t.test(table, async (t) => {
      const stored: StoredTable = TABLES[table as Table]
      const { name, columns, key = ['id'] } = stored
      const before = (await listed(world, list))!
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
          const after = await listed(world, list)
          if (after !== null) {
            const others = before.filter((row) => after.some((each) => isSame(each, row)))
            t.ok(others.length >= before.length - 1, `${column} = ${value}: the other rows come`)
            t.ok(after.length <= before.length, `${column} = ${value}: no row comes twice`)
            for (const { corrupt } of after.filter((row) => 'corrupt' in row)) {
              t.match(corrupt, names)
              named += 1
            }
          }
          const integer = type === 'integer' || type === 'int64' ? 'BIGINT' : 'TEXT'
          const old = kept!['value'] ?? null
          const restored =
            old === null ? 'NULL' : `CAST('${String(old).replaceAll("'", "''")}' AS ${integer})`
          await books.run(`UPDATE ${name} SET ${column} = ${restored} WHERE ${where}`, chosen)
        }
      }
      t.ok(named > 0, `${named} times the row was named`)
      t.same(inOrder((await listed(world, list))!), inOrder(before), 'restored')
    })
  }
})

/** An update can change the order of a table, in which rows are read at the start. */
const inOrder = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other)
