/** Beneficiaries that are not paid any more lose name and account, and so do their payouts. */
import t from 'tap'
import { DAY } from '../../src/base/clock.js'
import type { PayoutId } from '../../src/base/ids.js'
import { createBeneficiaryExpiry } from '../../src/processor/background/beneficiary_expiry.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { getBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_get.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { refuse } from '../../src/processor/cycle/answer.js'
import { inBooks } from '../support/books.js'
import { aPayout } from '../support/requests.js'
import { SILENT_LOG } from '../support/logs.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { brokenIn } from './audited_world.js'
import { executed, payoutTo, see } from './scenarios.js'

const KEEP_DAYS = 200
const NAME = 'Nguyen Thi Marked'
const ACCOUNT = '99900073518264924711'
const GIVEN = { ...aPayout().beneficiary!, name: NAME, account_number: ACCOUNT }

/** @param commits until the cycle refuses any further one, as one that stops does */
const expiryOf = (world: World, commits = Number.POSITIVE_INFINITY) => {
  let left = commits
  return createBeneficiaryExpiry({
    ...{ keepDays: KEEP_DAYS, clock: world.clock, lists: world.store.lists },
    isSteady: () => true,
    pipeline: {
      submit: (work) => {
        left -= 1
        if (left >= 0) world.submit(work)
        else work.reply(refuse('configuration_error'))
      },
    },
    log: SILENT_LOG,
    ...{ rowsAtOnce: 2, payoutsAStep: 2, pauseMs: 0 },
  })
}

const added = async (world: World): Promise<string> =>
  viewOf<{ id: string }>(await world.run(createBeneficiary(DEMO, GIVEN))).id

const accepted = async (world: World, beneficiary: string): Promise<PayoutId> =>
  viewOf<{ id: PayoutId }>(await world.run(createPayout(DEMO, payoutTo(beneficiary)))).id

async function paid(world: World, beneficiary: string): Promise<PayoutId> {
  const id = await accepted(world, beneficiary)
  await world.railReports(executed(id, { transactionId: `tx ${id}`, destinationAccount: ACCOUNT }))
  return id
}

const beneficiary = async (world: World, id: string): Promise<object> =>
  viewOf(await world.run(getBeneficiary(DEMO, id)))

const TO_ACCOUNT = { destinationAccount: ACCOUNT }
const KEPT = { name: NAME, account_last4: '4711' }
const ERASED = { name: 'erased', account_last4: '' }

async function namesIn(world: World): Promise<number> {
  const rows = await inBooks(world.folder, ({ all }) =>
    all(`SELECT id FROM payouts WHERE context LIKE '%Marked%' OR context LIKE '%4711%'
      UNION ALL SELECT id FROM beneficiaries WHERE name LIKE '%Marked%' OR account_last4 = '4711'`),
  )
  return rows.length
}

t.test('a beneficiary without a payout for the days of the setting is erased', async (t) => {
  const world = await createWorld(t)
  const old = await added(world)
  const unused = await added(world)
  const paidAgain = await added(world)
  const open = await added(world)
  const payouts = [await paid(world, old), await paid(world, old), await paid(world, old)]
  const earlier = await paid(world, paidAgain)
  const waiting = await accepted(world, open)
  world.clock.pass(150 * DAY)
  const later = await paid(world, paidAgain)
  const young = await added(world)
  world.clock.pass(60 * DAY)
  const balances = await world.trialBalance()
  t.equal(await expiryOf(world).run(), true)

  for (const id of [old, unused]) {
    t.match(await beneficiary(world, id), { ...ERASED, status: 'disabled', id })
  }
  for (const id of [paidAgain, open, young]) {
    t.match(await beneficiary(world, id), { ...KEPT, status: 'active' })
  }
  for (const id of payouts) {
    t.match(await see(world, id), { status: 'completed', beneficiary: { ...ERASED, id: old } })
  }
  for (const id of [earlier, waiting, later]) {
    t.match(await see(world, id), { beneficiary: KEPT }, 'the copy of a beneficiary that is paid')
  }
  t.same(await world.trialBalance(), balances)
  t.equal(await brokenIn(world), null)
  const refused = await world.run(createPayout(DEMO, payoutTo(old)))
  t.equal(codeOf(refused), 'invalid_beneficiary')

  const rows = await namesIn(world)
  t.equal(rows, 6, 'three beneficiaries and three payouts')
  await world.rebuild()
  t.match(await beneficiary(world, old), ERASED)
  t.equal(await expiryOf(world).run(), true)
  t.equal(await namesIn(world), rows, 'a second run finds nothing')

  const [first] = payouts
  const clearing = await world.trialBalance()
  await world.railReports(executed(first!, { transactionId: `tx ${first}`, ...TO_ACCOUNT }))
  t.same(await world.trialBalance(), clearing, 'what the rail says again')
  const returned = { status: 'returned', transactionId: `tx ${first}` } as const
  await world.railReports(executed(first!, { ...returned, destinationAccount: ACCOUNT }))
  t.match(await see(world, first!), { status: 'completed' }, 'what the rail returns later')
  t.equal(await brokenIn(world), null, 'is a discrepancy')

  await world.railReports(executed(waiting, { transactionId: 'late', destinationAccount: ACCOUNT }))
  t.match(await see(world, waiting), { status: 'completed' }, 'an open payout is paid')
})

t.test('a run that is killed after any commit is ended by the next one', async (t) => {
  const world = await createWorld(t)
  const ids = [await added(world), await added(world)]
  for (const id of ids) for (const _ of ['a', 'b', 'c']) await paid(world, id)
  world.clock.pass(201 * DAY)
  for (const commits of [0, 1, 2]) {
    t.equal(await expiryOf(world, commits).run(), false)
    t.equal(await brokenIn(world), null, `killed after ${commits} commits`)
    await world.rebuild()
  }
  t.equal(await expiryOf(world).run(), true)
  t.equal(await namesIn(world), 0)
  t.equal(await brokenIn(world), null)
})

t.test('in recovery mode nothing is erased', async (t) => {
  const world = await createWorld(t)
  await added(world)
  world.clock.pass(201 * DAY)
  viewOf(await world.run(enterRecovery('a test')))
  t.equal(await expiryOf(world).run(), false)
  t.equal(await namesIn(world), 1)
})
