/** The ledger for accounting: periods have each entry once, and balances are those of their end. */
import { listBalanceTransactions } from '../../src/processor/queries/balance_transaction_list.js'
import {
  ledgerBalances,
  ledgerEntries,
  postingsDuring,
  type BalancesView,
  type EntriesView,
  type PeriodView,
} from '../../src/processor/queries/ledger.js'
import type { PostingRange } from '../../src/store/ledger.js'
import type { Row } from '../../src/store/tables.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import { executed, pay, read, readAll, runOnBothStores } from './scenarios.js'

const FOREVER = Number.MAX_SAFE_INTEGER

const periodOf = async (world: World, from: number, to: number): Promise<PeriodView> =>
  viewOf(await read(world, postingsDuring(from, to)))

async function entriesDuring(world: World, from: number, to: number, tenant = false) {
  const { during } = await periodOf(world, from, to)
  const [{ from: first, below }] = during as readonly [PostingRange]
  const query = ledgerEntries({ posting: first, line: -1 }, below, tenant ? DEMO : undefined)
  return viewOf<EntriesView>(await read(world, query)).entries
}

async function balancesAt(world: World, at: number, tenant = false) {
  const { sinceEnd } = await periodOf(world, at, at)
  const query = ledgerBalances(sinceEnd, () => Promise.resolve(true), tenant ? DEMO : undefined)
  const { balances } = viewOf<BalancesView>(await read(world, query))
  return new Map(balances.map((line) => [`${line.currency} ${line.account}`, line.balance]))
}

runOnBothStores({
  'balances are not read to the end when the caller has left': async (t, world) => {
    await pay(world)
    let rests = 0
    const stop = (): Promise<boolean> => {
      rests += 1
      return Promise.resolve(false)
    }
    t.equal(
      codeOf(await read(world, ledgerBalances([{ from: 0, below: FOREVER }], stop))),
      'timeout',
    )
    t.equal(rests, 1)
  },

  'consecutive periods and their balances': async (t, world) => {
    const moments = [world.clock.now() - 1]
    for (const end of ['completed', 'returned', 'open']) {
      world.clock.pass(10)
      const { id } = await pay(world)
      world.clock.pass(10)
      if (end !== 'open') await world.railReports(executed(id))
      world.clock.pass(10)
      const back = { status: 'returned', reportId: `back ${id}` } as const
      if (end === 'returned') await world.railReports(executed(id, back))
      world.clock.pass(10)
      moments.push(world.clock.now())
    }
    const all = await entriesDuring(world, 0, FOREVER)
    const periods = []
    for (const [i, from] of moments.entries()) {
      periods.push(await entriesDuring(world, from, moments[i + 1] ?? FOREVER))
    }
    t.same([...(await entriesDuring(world, 0, moments[0]!)), ...periods.flat()], all)
    t.ok(periods.slice(0, 3).every((entries) => entries.length >= 2))

    for (const at of [0, ...moments, FOREVER]) {
      const sums = new Map<string, bigint>()
      for (const entry of all) {
        const name = `${entry.currency} ${entry.account}`
        const isBefore = Number(entry.at) < at
        sums.set(name, (sums.get(name) ?? 0n) + (isBefore ? BigInt(entry.amount!) : 0n))
      }
      const texts = new Map([...sums].map(([name, sum]) => [name, String(sum)]))
      t.same(await balancesAt(world, at), texts, String(at))
      for (const name of texts.keys()) if (!/prefund|reserved/.test(name)) texts.delete(name)
      t.same(await balancesAt(world, at, true), texts, `own accounts at ${at}`)
    }
    const { lines } = await world.trialBalance()
    t.equal((await balancesAt(world, FOREVER)).size, lines.length)

    const own = await entriesDuring(world, 0, FOREVER, true)
    const listed = await readAll<{ id: string; amount: string; balance: string; type: string }>(
      world,
      (page) => listBalanceTransactions(DEMO, page),
    )
    t.same(
      own.map(({ balance_transaction_id: id, amount, balance, type }) => ({
        ...{ id, amount, balance, type },
      })),
      listed.reverse().map(({ id, amount, balance, type }) => ({ id, amount, balance, type })),
    )
  },

  'pages of any size have the same entries': async (t, world) => {
    for (let i = 0; i < 3; i++) await world.railReports(executed((await pay(world)).id))
    const { ledger } = world.store.lists
    for (const tenant of [undefined, DEMO]) {
      const all = await ledger.entries({ posting: 0, line: 0 }, FOREVER, 100, tenant)
      for (const size of [1, 2, 3]) {
        const found: Row<'entries'>[] = []
        for (;;) {
          const page = await ledger.entries(
            found.at(-1) ?? { posting: 0, line: 0 },
            FOREVER,
            size,
            tenant,
          )
          found.push(...page)
          if (page.length < size) break
        }
        t.same(found, all)
      }
      const [last] = all.slice(-1)
      t.equal(
        (await ledger.entries({ posting: 0, line: 0 }, last!.posting, 100, tenant)).at(-1)!
          .posting < last!.posting,
        true,
      )
    }
  },
})
