/** Reads for accounting: entries of the ledger, booked movements of the rails, their stream. */
import { Writable } from 'node:stream'
import type { ServerWritableStream, ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import type { MovementPage } from '../../protos/types/causeway/operator/v1/MovementPage.js'
import type { MovementsRequest__Output as MovementsRequest } from '../../protos/types/causeway/operator/v1/MovementsRequest.js'
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
import { noteAction } from '../../src/processor/commands/operators/action_note.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import {
  MOVEMENTS_OF_A_PAGE,
  railMovements,
  railMovementsOf,
  type MovementsView,
} from '../../src/processor/queries/rail_movements.js'
import { GrpcStatus } from '../../src/base/errors.js'
import { bearer } from '../../src/grpc/bearer.js'
import { systemRandom } from '../../src/base/random.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { reconciliationService } from '../../src/processor/servers/reconciliation.js'
import { codeOf, DEMO, viewOf, type World, createWorld } from '../support/world.js'
import { eventually } from '../support/eventually.js'
import {
  executed,
  pay,
  read,
  readAll,
  runOnBothStores,
  accountOf,
  discrepanciesOf,
  OPERATOR,
  operatorLogOf,
} from './scenarios.js'
import { execution, LOST, resolve, restored } from './recovery/orphans.js'

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

const EVIDENCE = 'statement of 21 November, line 4'

async function booked(world: World, from = 0, to = Number.MAX_SAFE_INTEGER) {
  const found = []
  let after: MovementsView['next'] = { at: from, posting: -1 }
  while (after !== null) {
    const page: MovementsView = viewOf(await read(world, railMovements(after, to)))
    found.push(...page.data)
    after = page.next
  }
  return found
}

const of = async (world: World, ...ids: string[]) =>
  viewOf<MovementsView>(await read(world, railMovementsOf(ids))).data

runOnBothStores({
  'executions and returns of payouts and discrepancies': async (t, world) => {
    const { id } = await pay(world)
    const beganAt = world.clock.now()
    await world.railReports(executed(id))
    world.clock.pass(10)
    await world.railReports(executed(id, { transactionId: 'TX2', amount: 5n, reportId: 'odd' }))
    world.clock.pass(10)
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    const [mismatch] = await discrepanciesOf(world)
    world.clock.pass(10)
    const resolution = { settlement: 'undo', evidence: EVIDENCE }
    viewOf(await world.run(resolveDiscrepancy(OPERATOR, mismatch!.id, resolution)))

    const all = await booked(world)
    t.match(all, [
      { movement: 'executed', amount: '12500000', undone: false, booked_at: String(beganAt) },
      { movement: 'executed', amount: '5', undone: true },
      { movement: 'returned', amount: '12500000', undone: false },
      { movement: 'returned', amount: '5', undone: true },
    ])
    t.ok(all.every(({ instruction_id }) => instruction_id === id))
    t.same(await of(world, id), all)
    const second = await booked(world, beganAt + 10, beganAt + 20)
    t.same(second, all.slice(1, 2), 'the end of the period is excluded')
    t.same(await of(world, 'pout_none'), [])
    t.equal(await accountOf(world, 'rail_clearing'), '0')
  },

  'of a payment that an orphan execution is matched to': async (t, world) => {
    await restored(world, execution())
    const { id } = await pay(world)
    viewOf(await resolve(world, 'pout_lost', id))
    world.clock.pass(10)
    await world.railReports({ ...LOST, status: 'returned' })
    world.clock.pass(10)
    const own = { id: id as never, reportId: 'own', transactionId: 'TX8' }
    await world.railReports({ ...LOST, ...own, status: 'executed' })

    const all = await booked(world)
    t.match(all, [
      { movement: 'executed', instruction_id: 'pout_lost', amount: '12500000' },
      { movement: 'returned', instruction_id: 'pout_lost', amount: '12500000' },
      { movement: 'executed', instruction_id: id, amount: '12500000' },
    ])
    t.same(await of(world, 'pout_lost'), all.slice(0, 2), 'as the statement of the rail has it')
    t.same(await of(world, id, 'pout_lost'), all)
  },

  'a settlement toward the partner is no rail movement': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id, { amount: 5n }))
    const before = await booked(world)
    const [mismatch] = await discrepanciesOf(world)
    const resolution = { settlement: 'charge_partner', evidence: EVIDENCE }
    viewOf(await world.run(resolveDiscrepancy(OPERATOR, mismatch!.id, resolution)))
    t.same(await booked(world), before)
    t.match(before, [{ amount: '5', undone: false }])
  },

  'invalid requests are refused, notes are logged': async (t, world) => {
    const many = Array.from({ length: 501 }, String)
    for (const ids of [[], many]) {
      t.equal(codeOf(await read(world, railMovementsOf(ids))), 'invalid_request')
    }
    const note = { action: 'reconcile', subject: 'a day', evidence: ' ' }
    t.equal(codeOf(await world.run(noteAction(OPERATOR, note))), 'invalid_request')
    viewOf(await world.run(noteAction(OPERATOR, { ...note, evidence: 'no differences' })))
    t.match(await operatorLogOf(t, 'a day'), [{ actor: 'ann', action: 'reconcile' }])
  },

  'more movements than fit a page': async (t, world) => {
    const { id } = await pay(world)
    const reports = Array.from({ length: MOVEMENTS_OF_A_PAGE + 1 }, (_, i) =>
      executed(id, { amount: BigInt(i + 1), transactionId: `TX${i}` }),
    )
    await world.runAll(reports.map((report) => applyRailReport(report, 0)))
    const amounts = (await booked(world)).map(({ amount }) => Number(amount))
    const all = reports.map((_, i) => i + 1)
    t.same(amounts, all)
  },
})

/** An endless supply of pages. */
const ENDLESS = answer({ data: [{ id: '1' }], next: { at: 1, posting: 1 } })

/** A call whose client receives the first page, and the next only after `read`. */
function slowCall() {
  const held: (() => void)[] = []
  const faults: ServiceError[] = []
  let pages = 0
  const sink = new Writable({
    objectMode: true,
    highWaterMark: 1,
    write: (_page, _encoding, done) => {
      pages += 1
      held.push(done)
    },
  })
  sink.on('error', (error) => faults.push(error as unknown as ServiceError))
  const request = { actor: { name: 'ann', reason: 'a test' }, from: '0', to: '9' }
  const call = Object.assign(sink, { metadata: bearer('token'), request, cancelled: false })
  return {
    call: call as unknown as ServerWritableStream<MovementsRequest, MovementPage>,
    faults,
    pages: () => pages,
    read: () => held.shift()?.(),
    leave: () => {
      call.cancelled = true
      call.emit('cancelled')
    },
  }
}

t.test('each stream holds one page, and at most four streams are open', async (t) => {
  const world = await createWorld(t)
  let reads = 0
  const { Movements } = reconciliationService({
    clock: world.clock,
    random: systemRandom(),
    memory: world.memory(),
    pipeline: { submit: ({ reply }) => reply(answer({})) },
    reader: {
      run: async () => {
        reads += 1
        return ENDLESS
      },
    },
  })
  const open = () => {
    const slow = slowCall()
    Movements(slow.call)
    return slow
  }
  const four = [open(), open(), open(), open()]
  await eventually('each stream has its first page', async () =>
    four.every(({ pages }) => pages() === 1),
  )
  t.equal(reads, 4, 'no page is read ahead')
  four[0]!.read()
  await eventually('the next page', async () => four[0]!.pages() === 2)
  t.equal(reads, 5)

  t.match(open().faults, [{ code: GrpcStatus.RESOURCE_EXHAUSTED }])
  four[1]!.leave()
  const next = await eventually('a stream slot is free', async () => {
    const slow = open()
    return slow.faults.length === 0 && slow
  })
  await eventually('the next stream is read', async () => next.pages() === 1)
  for (const slow of [...four, next]) slow.leave()
})
