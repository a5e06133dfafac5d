/**
 * Test scenarios about payouts and funds: each runs with warm actors and with actors rebuilt from
 * SQLite before every command, and ends with a balanced ledger.
 */
import t, { type Test } from 'tap'
import type { PayoutId } from '../../src/base/ids.js'
import type { RailReport } from '../../src/rails/rail.js'
import { getBalances } from '../../src/processor/commands/funds/balances_get.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { getPayout } from '../../src/processor/commands/payouts/payout_get.js'
import { approvePayout, rejectPayout } from '../../src/processor/commands/payouts/payout_review.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import {
  createQueryRunner,
  type Query,
  type QueryRunner,
} from '../../src/processor/queries/query.js'
import { objectOf } from '../../src/processor/queries/raw_json.js'
import type { Statement } from '../../src/store/database.js'
import { SQLITE } from '../../src/store/dialect.js'
import type { CreatePayout__Output as CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'
import type { Route__Output as WireRoute } from '../../protos/types/causeway/operator/v1/Route.js'
import { inBooks } from '../support/books.js'
import { aPayout } from '../support/requests.js'
import { SILENT_LOG } from '../support/logs.js'
import { createWorld, DEMO, RULES, viewOf, type World } from '../support/world.js'

export type Scenario = (t: Test, world: World) => Promise<void>

/** @param check runs after each scenario */
export function runOnBothStores(
  scenarios: Readonly<Record<string, Scenario>>,
  check?: Scenario,
): void {
  for (const [name, run] of Object.entries(scenarios)) {
    for (const rebuilt of [false, true]) {
      t.test(`${name}, ${rebuilt ? 'rebuilt' : 'warm'}`, async (t) => {
        const world = await createWorld(t, { rebuilt })
        await run(t, world)
        t.ok((await world.trialBalance()).balanced, 'the books balance')
        await check?.(t, world)
      })
    }
  }
}

export const OPERATOR = { name: 'ann', reason: 'a test' }

export interface PayoutView {
  readonly id: PayoutId
  readonly status: string
  readonly reference: string
  readonly fee: string
  readonly total: string
  readonly failure: { readonly code: string } | null
  readonly beneficiary: { readonly id: string }
  readonly rail: { readonly transaction_id: string | null }
}

let keys = 0

/** Has an idempotency key of its own by default. */
export function payout(given: Partial<CreatePayout> = {}): CreatePayout {
  keys += 1
  return aPayout({ idempotency_key: `key-${keys}`, ...given })
}

/** To a stored beneficiary. */
export function payoutTo(beneficiaryId: string, given: Partial<CreatePayout> = {}): CreatePayout {
  const request = payout({ beneficiary_id: beneficiaryId, ...given })
  delete request.beneficiary
  return request
}

/** The answer of a request for a payout. */
export const tryPay = (
  world: World,
  given: Partial<CreatePayout> = {},
  tenant = DEMO,
): Promise<Answer> => world.run(createPayout(tenant, payout(given)))

export const pay = async (
  world: World,
  given: Partial<CreatePayout> = {},
  tenant = DEMO,
): Promise<PayoutView> => viewOf<PayoutView>(await tryPay(world, given, tenant))

/** @param orphans that the reviewer names */
export const approve = (
  world: World,
  id: string,
  orphans: readonly string[] = [],
): Promise<Answer> => world.run(approvePayout(OPERATOR, id, orphans))

export const reject = (world: World, id: string): Promise<Answer> =>
  world.run(rejectPayout(OPERATOR, id))

export const see = async (world: World, id: string): Promise<PayoutView> =>
  viewOf<PayoutView>(await world.run(getPayout(DEMO, id)))

export async function balanceOf(
  world: World,
  currency = 'VND',
): Promise<{ available: string; reserved: string }> {
  const { data } = viewOf<{ data: { currency: string; available: string; reserved: string }[] }>(
    await world.run(getBalances(DEMO)),
  )
  const { available, reserved } = data.find((balance) => balance.currency === currency)!
  return { available, reserved }
}

/** The balance of any account; 0 without postings. */
export async function accountOf(world: World, name: string, currency = 'VND'): Promise<string> {
  const { lines } = await world.trialBalance()
  const line = (lines as readonly Record<string, string>[]).find(
    (each) => each['account'] === name && each['currency'] === currency,
  )
  return line?.['balance'] ?? '0'
}

/** An execution report that matches `aPayout`. */
export const executed = (id: PayoutId, over: object = {}): RailReport => ({
  status: 'executed',
  id,
  reportId: `rep-${id}`,
  transactionId: 'TX1',
  amount: 12_500_000n,
  currency: 'VND',
  destinationAccount: '0123456789',
  ...over,
})

export interface PageView<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

/** What work in the background takes from its processor. */
export const dependenciesOf = (world: World) => ({
  ...{ clock: world.clock, store: world.store, lists: world.store.lists },
  ...{ memory: world.memory(), pipeline: world, log: SILENT_LOG },
})

export const queriesOf = ({ store, vault }: World): QueryRunner =>
  createQueryRunner({ lists: store.lists, vault, brand: RULES.brand }, SILENT_LOG)

/** The answer as transports get it: the view can be RawJson. */
export const readRawJson = (world: World, query: Query): Promise<Answer> =>
  queriesOf(world).run(query)

export const read = async (world: World, query: Query): Promise<Answer> => {
  const raw = await readRawJson(world, query)
  return raw.ok ? answer(objectOf(raw.view)) : raw
}

/** All rows of a list, page by page. */
export async function readAll<Item>(
  world: World,
  queryAfter: (cursor: { cursor?: string }) => Query,
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: { cursor?: string } = {}; ;) {
    const page = viewOf<PageView<Item>>(await read(world, queryAfter(cursor)))
    items.push(...page.data)
    if (page.next_cursor === null) return items
    cursor = { cursor: page.next_cursor }
  }
}

export interface DiscrepancyView {
  readonly id: string
  readonly tenant: string | null
  readonly entity: string
  readonly reason: string
  /** JSON. */
  readonly report: string
  readonly plan: string | null
  readonly amount: string | null
}

/** The open ones. */
export const discrepanciesOf = (world: World): Promise<DiscrepancyView[]> =>
  readAll<DiscrepancyView>(world, (page) => listDiscrepancies({ resolved: false, ...page }))

export interface LoggedAction {
  readonly actor: string
  readonly reason: string
  readonly action: string
  readonly subject: string
  readonly evidence: string | null
}

/** The stored operator log about a subject, in order. */
export const operatorLog = (t: Test): Promise<LoggedAction[]> =>
  inBooks(t.testdirName, (books) =>
    books.all('SELECT actor, reason, action, subject, evidence FROM operator_log ORDER BY id'),
  )

/** How SQLite runs a statement, step by step. */
export const planIn = ({ folder }: World, { sql, values }: Statement): Promise<string[]> =>
  inBooks(folder, async (books) => {
    const plan = await books.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql(SQLITE)}`, values)
    return plan.map(({ detail }) => detail)
  })

export const operatorLogOf = async (t: Test, subject: string): Promise<LoggedAction[]> =>
  (await operatorLog(t)).filter((row) => row.subject === subject)

/** The default route to Vietnam, with changes. */
export const aRoute = (given: Partial<WireRoute> = {}): WireRoute => ({
  country: 'VN',
  currency: 'VND',
  enabled: true,
  platform_fixed: '5000',
  platform_bps: 20,
  rail_fixed: '3300',
  handling: 'on_top',
  refund_fees_on_reversal: true,
  ...given,
})

/** What was sent to rails. */
export const sentKinds = (world: World): string[] => world.railInstructions.map(({ kind }) => kind)

export const idsOf = (items: readonly { readonly id: string }[]): string[] =>
  items.map(({ id }) => id)

export const types = (world: World): string[] => world.events.map(({ type }) => type)
