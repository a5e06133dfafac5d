/** Beneficiaries: their view, their tenant and disabling. */
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_disable.js'
import { getBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_get.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { listBeneficiaries } from '../../src/processor/queries/beneficiary_list.js'
import { messageFault } from '../../src/processor/servers/message_check.js'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../protos/types/causeway/v1/NewBeneficiary.js'
import { aPayout } from '../support/requests.js'
import { codeOf, DEMO, PRODUCTION, viewOf, type World } from '../support/world.js'
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
