/** Payouts held for review: what is held, the operators' list, approval and rejection. */
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_disable.js'
import { stageBeneficiary, type BeneficiaryRow } from '../../src/processor/changes/beneficiaries.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import type { PayoutId } from '../../src/base/ids.js'
import { aPayout, largestMetadata } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  aRoute,
  balanceOf,
  OPERATOR,
  operatorLogOf,
  pay,
  sentKinds,
  payoutTo,
  read,
  readAll,
  see,
  runOnBothStores,
  types,
  type PageView,
  type PayoutView,
  approve,
  reject,
} from './scenarios.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'

const HELD = { reference: 'sandbox:review' }
const FUNDS = { available: '1000000000', reserved: '0' }

interface Held {
  readonly tenant: string
  readonly deadline: string
  readonly payout: PayoutView
}

const payoutIds = (held: readonly Held[]): string[] => held.map(({ payout }) => payout.id)

/** A held payout to a stored beneficiary. */
async function heldTo(world: World): Promise<{ id: PayoutId; beneficiary: string }> {
  const stored = await world.run(createBeneficiary(DEMO, aPayout().beneficiary!))
  const { id: beneficiary } = viewOf<{ id: string }>(stored)
  const made = await world.run(createPayout(DEMO, payoutTo(beneficiary, HELD)))
  return { id: viewOf<PayoutView>(made).id, beneficiary }
}

const queue = (world: World): Promise<Held[]> =>
  readAll<Held>(world, (page) => listHeldPayouts({ limit: 2, ...page }))

/** Stores a beneficiary that an older version accepted. */
const restore = (world: World, id: string, fault: Partial<BeneficiaryRow>): Promise<unknown> =>
  world.run({
    name: 'restore',
    needs: (needs) => needs.beneficiary(id),
    decide: (ctx) => {
      stageBeneficiary(ctx, { ...ctx.memory.beneficiaries.get(id)!, ...fault })
      return answer({})
    },
  })

runOnBothStores({
  approved: async (t, world) => {
    const { id, status, total } = await pay(world, HELD)
    t.equal(status, 'created')
    const reserved = await balanceOf(world)
    t.equal(reserved.reserved, total, 'the amount is reserved while it is held')
    const approved = viewOf(await approve(world, id))
    t.match(approved, { id, status: 'processing', processing_at: /Z$/ })
    t.same(sentKinds(world), ['instruct'])
    t.same(types(world), ['payout.created', 'payout.processing'])
    t.same(await balanceOf(world), reserved)
    t.equal(codeOf(await approve(world, id)), 'payout_not_held', 'once')
    t.equal(codeOf(await reject(world, id)), 'payout_not_held')
    t.match(await operatorLogOf(t, id), [{ actor: 'ann', action: 'approve_payout' }])
    await world.fireTimers(259_200_000)
    t.match(await see(world, id), { status: 'processing' }, 'its review deadline no longer applies')
  },

  rejected: async (t, world) => {
    const { id } = await pay(world, HELD)
    const rejected = viewOf(await reject(world, id))
    t.match(rejected, { status: 'failed', failure: { code: 'review_rejected', source: 'review' } })
    t.same(await balanceOf(world), FUNDS, 'released, fees included')
    t.same(world.railInstructions, [])
    t.same(types(world), ['payout.created', 'payout.failed'])
    t.equal(codeOf(await approve(world, id)), 'payout_not_held')
    t.match(await operatorLogOf(t, id), [{ actor: 'ann', action: 'reject_payout' }])
  },

  'a payout approved while the rail is down is submitted later': async (t, world) => {
    const { id } = await pay(world, HELD)
    world.setRail(false)
    t.equal(codeOf(await approve(world, id)), 'ok')
    t.same(world.railInstructions, [])
    world.setRail(true)
    await world.fireTimers()
    t.equal(world.railInstructions[0]?.kind, 'instruct')
  },

  'approval is refused when the payout is no longer allowed': async (t, world) => {
    const { id, beneficiary } = await heldTo(world)
    const other = await pay(world, HELD)
    await world.run(disableBeneficiary(DEMO, beneficiary))
    t.equal(codeOf(await approve(world, id)), 'invalid_beneficiary')
    t.match(await see(world, id), { status: 'created' }, 'the payout stays held')
    await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' }))
    t.equal(codeOf(await approve(world, other.id)), 'partner_suspended')
    t.equal(codeOf(await reject(world, id)), 'ok', 'the payout can still be rejected')
    t.same(await operatorLogOf(t, other.id), [])
  },

  'a stored beneficiary that no rail accepts is not paid': async (t, world) => {
    for (const fault of [{ name: 'Nguyen\tVan A' }, { bank_code: '970\n436' }]) {
      const { id, beneficiary } = await heldTo(world)
      const before = await balanceOf(world, 'VND')
      await restore(world, beneficiary, fault)
      t.equal(codeOf(await approve(world, id)), 'invalid_beneficiary')
      t.match(await see(world, id), { status: 'created' }, 'the payout stays held')
      const next = createPayout(DEMO, payoutTo(beneficiary, { idempotency_key: 'next' }))
      t.equal(codeOf(await world.run(next)), 'invalid_beneficiary')
      t.same(await balanceOf(world, 'VND'), before)
      t.equal(codeOf(await reject(world, id)), 'ok')
    }
    t.same(world.railInstructions, [])
  },

  'an unknown payout is refused': async (t, world) => {
    t.equal(codeOf(await approve(world, 'pout_x')), 'payout_not_found')
    t.equal(codeOf(await reject(world, 'pout_x')), 'payout_not_found')
    const running = await pay(world)
    t.equal(codeOf(await reject(world, running.id)), 'payout_not_held')
  },

  'the list of held payouts is oldest first': async (t, world) => {
    t.same(await queue(world), [])
    const held: string[] = []
    for (let i = 0; i < 5; i++) {
      world.clock.pass(1)
      held.push((await pay(world, HELD)).id)
      await pay(world)
    }
    const [gone] = held.splice(1, 1)
    await reject(world, gone!)
    const listed = await queue(world)
    t.same(payoutIds(listed), held)
    const [first] = listed
    t.match(first, { tenant: 'demo_sandbox', payout: { status: 'created' } })
    t.same(first?.payout, await see(world, held[0]!))
    const created = Date.parse((first?.payout as unknown as { created_at: string }).created_at)
    t.equal(Date.parse(first!.deadline) - created, 259_200_000)
    t.equal(codeOf(await read(world, listHeldPayouts({ limit: 101 }))), 'invalid_request')
  },

  'a page of long payouts ends early': async (t, world) => {
    const held: string[] = []
    for (let i = 0; i < 4; i++) {
      world.clock.pass(1)
      held.push((await pay(world, { ...HELD, metadata: largestMetadata() })).id)
    }
    const first = viewOf<PageView<Held>>(await read(world, listHeldPayouts({})))
    const rest = await read(world, listHeldPayouts({ cursor: first.next_cursor! }))
    t.same(payoutIds([...first.data, ...viewOf<PageView<Held>>(rest).data]), held)
  },

  'a route holds payouts from its threshold on': async (t, world) => {
    const held = async (amount: string): Promise<boolean> =>
      (await pay(world, { amount })).status === 'created'
    t.notOk(await held('12500000'), 'no route holds payouts by default')
    await world.run(setRoute(OPERATOR, DEMO, aRoute({ review_from: '1000000' })))
    t.notOk(await held('999999'))
    t.ok(await held('1000000'))
    t.ok(await held('1000001'))
    t.equal((await queue(world)).length, 2)
  },
})
