/** A partner's usage: sums by state and currency, its days, the bound of what is counted. */
import t from 'tap'
import { DAY, plus, toRfc3339, type Clock } from '../../src/base/clock.js'
import { leastIdAt } from '../../src/base/ids.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { showUsage } from '../../src/processor/queries/usage_show.js'
import { changeContexts, inBooks } from '../support/books.js'
import { createWorld, DEMO, viewOf, type World, PRODUCTION } from '../support/world.js'
import { authorized, beginLifecycle, captured } from './intent_lifecycle.js'
import { OPERATOR, pay, read, reject } from './scenarios.js'

const CALLS = { answered: 7 }

interface Usage {
  readonly from: string
  readonly kinds: readonly {
    readonly entity: string
    readonly lines: readonly object[]
    readonly counted_from?: string
  }[]
}

const usage = async (world: World, days?: number, max?: number, of = DEMO): Promise<Usage> =>
  viewOf<Usage>(await read(world, showUsage(of, { days, max }, world.clock, CALLS)))

t.test('payments and payouts are counted by state, with what they debit', async (t) => {
  const world = await createWorld(t)
  const begunAt = world.clock.now()
  const paid = [await beginLifecycle(world), await beginLifecycle(world)]
  for (const lifecycle of paid) await captured(lifecycle)
  await authorized(await beginLifecycle(world))
  await beginLifecycle(world)
  const cents = await Promise.all(
    paid.map(async ({ see }) => (await see()) as unknown as { captured_amount_usd_cents: number }),
  )
  const sum = cents.reduce((all, { captured_amount_usd_cents: each }) => all + each, 0)
  t.ok(sum > 0)
  const payouts = [await pay(world), await pay(world, { reference: 'another' })]
  const totals = payouts.reduce((all, { total }) => all + BigInt(total), 0n)

  const found = await usage(world, 1)
  t.same(found, {
    calls: CALLS,
    from: toRfc3339((begunAt - DAY) as typeof begunAt),
    kinds: [
      {
        entity: 'payment_intent',
        lines: [
          { state: 'authorized', currency: 'USD', count: 1, amount: String(sum / 2) },
          { state: 'captured', currency: 'USD', count: 2, amount: String(sum) },
          { state: 'created', currency: 'USD', count: 1, amount: '0' },
        ],
      },
      {
        entity: 'payout',
        lines: [{ state: 'processing', currency: 'VND', count: 2, amount: String(totals) }],
      },
    ],
  })
  t.match(await usage(world, 1, undefined, PRODUCTION), { kinds: [{ lines: [] }, { lines: [] }] })

  world.clock.pass(2 * DAY)
  t.match(await usage(world, 1), { kinds: [{ lines: [] }, { lines: [] }] }, 'they are older')
  t.match(await usage(world), { kinds: [{ lines: { length: 3 } }, { lines: { length: 1 } }] })
  for (const days of [0, 367]) {
    const refusal = await read(world, showUsage(DEMO, { days }, world.clock, CALLS))
    t.match(refusal, { code: 'invalid_request', violation: { rule: 'must be 1 to 366' } })
  }
})

t.test('of more than the bound the newest are counted, and it says since when', async (t) => {
  const world = await createWorld(t)
  const made = []
  for (let i = 0; i < 5; i++) {
    world.clock.pass(1_000)
    made.push({ payout: await pay(world, { reference: `r${i}` }), at: world.clock.now() })
  }
  const [, payouts] = (await usage(world, 1, 3)).kinds
  t.match(payouts, { lines: [{ count: 3 }], counted_from: toRfc3339(made[2]!.at) })
  t.notOk('counted_from' in (await usage(world, 1, 6)).kinds[1]!, 'all are counted')

  const { id } = made[4]!.payout
  await inBooks(world.folder, (books) => changeContexts(books, 'payouts', () => '{', id))
  const [, damaged] = (await usage(world)).kinds
  t.match(damaged, { lines: [{ currency: '', count: 1, amount: '0' }, { count: 4 }] })
})

t.test('a sum can be more than 64 bits', async (t) => {
  const world = await createWorld(t)
  const amount = '9000000000000000000'
  const funds = { currency: 'VND', amount, idempotencyKey: 'test funds' }
  viewOf(await world.run(deposit(OPERATOR, DEMO, funds)))
  const totals: bigint[] = []
  for (const part of ['4999999999999999999', '8900000000000000001']) {
    const held = await pay(world, { amount: part, reference: 'sandbox:review' })
    viewOf(await reject(world, held.id))
    totals.push(BigInt(held.total))
  }
  const [, payouts] = (await usage(world)).kinds
  const sum = String(totals[0]! + totals[1]!)
  t.same(payouts?.lines, [{ state: 'failed', currency: 'VND', count: 2, amount: sum }])
})

t.test('with a bound of time, what is read until then is counted', async (t) => {
  const world = await createWorld(t)
  const begunAt = world.clock.now()
  const rowsOf: number[] = []
  const read = (_kind: string, { below }: { readonly below: string }, limit: number) => {
    world.clock.pass(20)
    rowsOf.push(limit)
    const id = leastIdAt('payout', plus(begunAt, -rowsOf.length))
    t.ok(id < below)
    return Promise.resolve([{ id, state: 'failed', currency: 'VND', count: limit, amount: '1' }])
  }
  const clock: Clock = world.clock
  const query = showUsage(DEMO, { withinMs: 100 }, clock, CALLS)
  const found = viewOf<Usage>(await query.run({ lists: { usage: read } } as never))
  t.match(found.kinds[1], {
    lines: [{ count: 3_000, amount: '3' }],
    counted_from: toRfc3339(plus(begunAt, -7)),
  })
  t.same(rowsOf, [1_000, 1_000, 1_000, 1, 1_000, 1_000, 1_000, 1])
})
