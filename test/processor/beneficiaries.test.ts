/** Beneficiaries: their view, their tenant, disabling, and the end of what is stored of them. */
import t from 'tap'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../protos/types/causeway/v1/NewBeneficiary.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_disable.js'
import { getBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_get.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { listBeneficiaries } from '../../src/processor/queries/beneficiary_list.js'
import { messageFault } from '../../src/processor/servers/message_check.js'
import { DAY } from '../../src/base/clock.js'
import type { PayoutId } from '../../src/base/ids.js'
import { createBeneficiaryExpiry } from '../../src/processor/background/beneficiary_expiry.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { refuse } from '../../src/processor/cycle/answer.js'
import { aPayout } from '../support/requests.js'
import { codeOf, DEMO, PRODUCTION, viewOf, type World, createWorld } from '../support/world.js'
import { inBooks } from '../support/books.js'
import { SILENT_LOG } from '../support/logs.js'
import {
  balanceOf,
  executed,
  idsOf,
  pay,
  payoutTo,
  read,
  readAll,
  runOnBothStores,
  see,
} from './scenarios.js'
import { OTHER_TENANT } from './webhook_endpoints.js'
import { brokenIn } from './audited_world.js'

interface BeneficiaryView {
  readonly id: string
  readonly status: string
}

const create = async (
  world: World,
  given: Partial<NewBeneficiary> = {},
): Promise<BeneficiaryView> =>
  viewOf<BeneficiaryView>(
    await world.run(createBeneficiary(DEMO, { ...aPayout().beneficiary!, ...given })),
  )

runOnBothStores({
  'any invalid field is refused': async (t, world) => {
    const faults: readonly Partial<NewBeneficiary>[] = [
      { type: 'wallet' },
      { name: '' },
      { name: '  ' },
      { name: 'n'.repeat(257) },
      { destination_country: 'vn' },
      { destination_country: 'VNM' },
      { destination_country: 'XX' },
      { currency: 'vnd' },
      { currency: 'QQQ' },
      { bank_code: ' ' },
      { bank_code: '1'.repeat(36) },
      { bank_code: '🙂'.repeat(36) },
      { name: 'Nguyen\tVan A' },
      { bank_code: '970\n436' },
      { account_number: '1234' },
      { account_number: '1'.repeat(35) },
      { account_number: '12 345' },
      { account_number: '12345é' },
    ]
    for (const fault of faults) {
      const given = { ...aPayout().beneficiary!, ...fault }
      const answer =
        messageFault('create_beneficiary', { beneficiary: given }) ??
        (await world.run(createBeneficiary(DEMO, given)))
      const pointer = new RegExp(`/${Object.keys(fault).join()}$`)
      t.match(
        answer,
        { code: 'invalid_beneficiary', violation: { pointer } },
        JSON.stringify(fault),
      )
    }
    t.same(await readAll(world, (page) => listBeneficiaries(DEMO, page)), [])
  },

  'fields at their bounds are accepted': async (t, world) => {
    const good: readonly Partial<NewBeneficiary>[] = [
      { name: ` ${'n'.repeat(255)} ` },
      { name: '🙂'.repeat(255) },
      { bank_code: '1'.repeat(35) },
      { bank_code: '🙂'.repeat(35) },
      { account_number: 'a2345' },
      { account_number: '9'.repeat(34) },
      { destination_country: 'DE', currency: 'KWD' },
    ]
    for (const given of good) t.match(await create(world, given), { status: 'active' })
  },

  read: async (t, world) => {
    const made = await create(world)
    t.same(viewOf(await world.run(getBeneficiary(DEMO, made.id))), made)
    t.same(Object.keys(made), [
      'id',
      'type',
      'name',
      'destination_country',
      'currency',
      'bank_code',
      'account_last4',
      'status',
      'created_at',
    ])
    for (const tenant of [OTHER_TENANT, PRODUCTION]) {
      t.equal(codeOf(await world.run(getBeneficiary(tenant, made.id))), 'beneficiary_not_found')
    }
    t.equal(codeOf(await world.run(getBeneficiary(DEMO, 'ben_x'))), 'beneficiary_not_found')
    const byOther = await world.run(createPayout(PRODUCTION, payoutTo(made.id)))
    t.equal(codeOf(byOther), 'invalid_beneficiary', 'another tenant cannot use the beneficiary')
  },

  disabled: async (t, world) => {
    const { id } = await create(world)
    const running = viewOf<{ id: never }>(await world.run(createPayout(DEMO, payoutTo(id))))
    const before = await balanceOf(world)
    t.equal(codeOf(await world.run(disableBeneficiary(OTHER_TENANT, id))), 'beneficiary_not_found')
    t.match(viewOf(await world.run(disableBeneficiary(DEMO, id))), { id, status: 'disabled' })
    t.match(viewOf(await world.run(disableBeneficiary(DEMO, id))), { id, status: 'disabled' })
    t.match(viewOf(await world.run(getBeneficiary(DEMO, id))), { status: 'disabled' })
    const refused = await world.run(createPayout(DEMO, payoutTo(id)))
    t.equal(codeOf(refused), 'invalid_beneficiary')
    t.same(await balanceOf(world), before, 'a refusal changes nothing')
    await world.railReports(executed(running.id))
    t.match(
      await see(world, running.id),
      { status: 'completed' },
      'a payout in progress keeps its copy of the beneficiary',
    )
  },

  'newest first': async (t, world) => {
    const made: string[] = []
    for (let i = 0; i < 7; i++) {
      world.clock.pass(1)
      made.unshift((await create(world, { name: `b${i}` })).id)
    }
    await world.run(disableBeneficiary(DEMO, made[3]!))
    const listed = await readAll<BeneficiaryView>(world, (page) =>
      listBeneficiaries(DEMO, { limit: 2, ...page }),
    )
    t.same(idsOf(listed), made)
    t.equal(listed[3]?.status, 'disabled')
    t.same(await readAll(world, (page) => listBeneficiaries(OTHER_TENANT, page)), [])
    for (const limit of [0, 101]) {
      const answer = await read(world, listBeneficiaries(DEMO, { limit }))
      t.equal(codeOf(answer), 'invalid_request')
    }
  },

  'a payout creates a beneficiary': async (t, world) => {
    const paid = await pay(world)
    const listed = await readAll<BeneficiaryView>(world, (page) => listBeneficiaries(DEMO, page))
    t.same(idsOf(listed), [paid.beneficiary.id])
  },
})

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
