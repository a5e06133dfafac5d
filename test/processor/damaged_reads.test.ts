/**
 * Every read of operators and internal services, by gRPC, while one row of each table is damaged:
 * no call fails, and the healthy rows are in the answers.
 */
import t from 'tap'
import { HOUR, MINUTE } from '../../src/base/clock.js'
import { accepted } from '../../src/base/errors.js'
import { listDeliveries } from '../../src/processor/queries/delivery_list.js'
import { listDead } from '../../src/processor/queries/webhook_admin.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { inBooks } from '../support/books.js'
import { withEveryRole } from '../support/callers.js'
import { aPayout } from '../support/requests.js'
import { callsTo } from '../support/rpc_calls.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { authorized, captured, intentAt, type Stage } from './intent_lifecycle.js'
import { execution, restored } from './recovery/orphans.js'
import { executed, OPERATOR, pay, payout, read } from './scenarios.js'

/** Beyond all dates, on each store. */
const BEYOND = '1000000000000000000'
/** In front of a moment they move it beyond all dates. */
const DIGITS = '100000'
const tenant = { partner_id: 'demo', environment: 'sandbox' }
const USER = 'maria'

interface Pair {
  readonly damaged: string
  readonly healthy: string
}

interface Filled {
  readonly payouts: Pair
  readonly open: Pair
  readonly held: Pair
  readonly intents: Pair
  readonly authorized: Pair
  readonly beneficiaries: Pair
}

/** Two of each: the first one is damaged. */
async function fill(world: World): Promise<Filled> {
  const two = async (make: () => Promise<string>): Promise<Pair> => {
    const damaged = await make()
    world.clock.pass(1)
    return { damaged, healthy: await make() }
  }
  const intent = async (stage: Stage): Promise<string> => {
    world.clock.pass(2 * MINUTE) // the same code again is a duplicate
    return (await intentAt(world, stage, { user: USER })).id
  }
  const { beneficiary } = aPayout()
  const filled = {
    payouts: await two(async () => {
      const { id } = await pay(world)
      await world.railReports(executed(id))
      await world.railReports(executed(id, { transactionId: 'TX2' }))
      return id
    }),
    open: await two(
      async () => viewOf<{ id: string }>(await world.run(createPayout(DEMO, payout()))).id,
    ),
    held: await two(async () => (await pay(world, { reference: 'sandbox:review' })).id),
    intents: await two(() => intent(captured)),
    authorized: await two(() => intent(authorized)),
    beneficiaries: await two(
      async () =>
        viewOf<{ id: string }>(await world.run(createBeneficiary(DEMO, beneficiary as never))).id,
    ),
  }
  for (const kind of ['suspend', 'resume'] as const)
    viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind })))
  viewOf(await world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: '7' })))
  viewOf(await restored(world, execution({ amount: '7' })))
  return filled
}

type Damage = (filled: Filled) => readonly string[]

const contextsOf = ({ payouts, open, held, intents, authorized }: Filled, context: string) =>
  [payouts, open, held, intents, authorized].map(({ damaged: id }) => {
    const table = id.startsWith('pi_') ? 'intents' : 'payouts'
    return `UPDATE ${table} SET context = ${context} WHERE id = '${id}'`
  })

const DAMAGES: Readonly<Record<string, Damage>> = {
  'an impossible moment': ({ payouts, intents, beneficiaries }) => [
    `UPDATE beneficiaries SET created_at = ${BEYOND} WHERE id = '${beneficiaries.damaged}'`,
    ...[payouts.damaged, intents.damaged].flatMap((id) => [
      `UPDATE events SET created_at = ${BEYOND} WHERE entity = '${id}'`,
      `UPDATE ledger_entries SET at = ${BEYOND} WHERE entity = '${id}'`,
    ]),
    `UPDATE discrepancies SET at = ${BEYOND} WHERE entity = '${payouts.damaged}'`,
    `UPDATE operator_log SET at = ${BEYOND} WHERE action = 'partner_suspend'`,
  ],
  'an impossible moment in a context': (filled) =>
    contextsOf(
      filled,
      `replace(replace(CAST(context AS TEXT), '"createdAt":', '"createdAt":${DIGITS}'),
        '"handedOverAt":', '"handedOverAt":-${DIGITS}')`,
    ),
  'a context that is no JSON': (filled) => [
    ...contextsOf(filled, "'{'"),
    `UPDATE events SET body = '{' WHERE entity = '${filled.payouts.damaged}'`,
    `UPDATE discrepancies SET report = '{' WHERE entity = '${filled.payouts.damaged}'`,
  ],
  'an amount that is no number': (filled) =>
    contextsOf(
      filled,
      `replace(replace(CAST(context AS TEXT), '"recipientAmount":"', '"recipientAmount":"x'),
        '"localMinor":"', '"localMinor":"x')`,
    ),
}

const TOKEN = 'token-of-ann'

interface ReadCall {
  readonly rpc: string
  readonly request?: object
  /** Text that the answer has. */
  readonly has?: readonly string[]
}

/** Partners' operations as internal services call them, and those of operators. */
const callsOf = ({
  payouts,
  open,
  held,
  intents,
  authorized,
  beneficiaries,
}: Filled): readonly ReadCall[] => [
  { rpc: 'PaymentIntents/List', request: { tenant, list: {} }, has: [intents.healthy] },
  {
    rpc: 'PaymentIntents/ListByUser',
    request: { tenant, partner_user_id: USER },
    has: [intents.healthy],
  },
  { rpc: 'PaymentIntents/Get', request: { tenant, intent_id: intents.healthy } },
  {
    rpc: 'Payouts/List',
    request: { tenant, list: {} },
    has: [payouts.healthy, open.healthy],
  },
  { rpc: 'Payouts/Get', request: { tenant, payout_id: payouts.healthy } },
  { rpc: 'Payouts/Balances', request: { tenant } },
  {
    rpc: 'Beneficiaries/List',
    request: { tenant, list: {} },
    has: [beneficiaries.healthy],
  },
  {
    rpc: 'Funding/ListBalanceTransactions',
    request: { tenant, list: {} },
    has: [payouts.healthy, intents.healthy],
  },
  {
    rpc: 'Events/List',
    request: { tenant, list: { after: '0', limit: 100 } },
    has: [payouts.healthy, intents.healthy],
  },
  { rpc: 'WebhookEndpoints/List', request: { tenant } },
  { rpc: 'Accounts/Get', request: { tenant } },
  { rpc: 'Operator/ListRates' },
  { rpc: 'Operator/ListRoutes' },
  { rpc: 'Operator/TrialBalance' },
  { rpc: 'Operator/ListHeldPayouts', request: { with_payees: true }, has: [held.healthy] },
  { rpc: 'Operator/ListUnknownOutcomes', has: [open.healthy, authorized.healthy] },
  { rpc: 'Operator/ListDiscrepancies', has: [payouts.healthy] },
  ...[payouts, open].flatMap(({ damaged, healthy }) => [
    { rpc: 'Operator/ShowPayout', request: { payout_id: damaged }, has: [damaged] },
    { rpc: 'Operator/ShowPayout', request: { payout_id: healthy }, has: [healthy] },
    { rpc: 'Operator/ShowPayee', request: { payment_id: damaged } },
    { rpc: 'Operator/ShowPayee', request: { payment_id: healthy } },
  ]),
  { rpc: 'Operator/ShowIntent', request: { intent_id: intents.damaged }, has: [intents.damaged] },
  { rpc: 'Operator/ShowIntent', request: { intent_id: intents.healthy }, has: [intents.healthy] },
  ...[payouts, open, held, intents, authorized, beneficiaries].flatMap(({ damaged, healthy }) => [
    { rpc: 'Operator/Find', request: { text: damaged }, has: [damaged] },
    { rpc: 'Operator/Find', request: { text: healthy }, has: [healthy] },
  ]),
  { rpc: 'Operator/Find', request: { text: USER }, has: [intents.healthy] },
  { rpc: 'PartnerAdmin/List', has: ['demo'] },
  { rpc: 'PartnerAdmin/ListKeys', request: { tenant } },
  { rpc: 'PartnerAdmin/ListActions', has: ['partner_resume'] },
  { rpc: 'PartnerAdmin/ListErasures' },
  { rpc: 'PartnerAdmin/ShowUsage', request: { tenant } },
  { rpc: 'Approvals/List' },
  { rpc: 'Callers/List' },
  { rpc: 'Recovery/ListOrphans', has: ['pout_lost'] },
  { rpc: 'Recovery/ListHeldIntents' },
  {
    rpc: 'Reconciliation/MovementsOf',
    request: { instruction_ids: [payouts.damaged, payouts.healthy] },
    has: [payouts.healthy],
  },
]

for (const [what, damagesOf] of Object.entries(DAMAGES)) {
  t.test(what, async (t) => {
    const world = await createWorld(t)
    const filled = await fill(world)
    world.clock.pass(25 * HOUR)
    await inBooks(world.folder, async ({ run }) => {
      for (const damage of damagesOf(filled)) await run(damage)
    })
    await world.rebuild()
    const { address } = await serveShard(t, { world, callers: withEveryRole(TOKEN) })
    const call = callsTo(t, address, TOKEN)
    for (const { rpc, request = {}, has = [] } of callsOf(filled)) {
      const name = `${rpc} ${JSON.stringify(request)}`
      const answer = await call(rpc, request)
      if (answer.code !== undefined) t.fail(`${name}: ${answer.status} ${answer.details}`)
      for (const healthy of has)
        t.ok(JSON.stringify(answer).includes(healthy), `${name} has ${healthy}`)
    }
    t.ok((await world.run(createPayout(DEMO, payout({ idempotency_key: 'after' })))).ok)
  })
}

/** The rows of a webhook pool. */
const recordOf = (id: string, at: string): object => ({
  ...{ id, tenant: DEMO, event_id: `evt_${id}`, event_type: 'payout.completed' },
  ...{ endpoint_id: 'we_1', state: 'dead', reason: '', request_id: '', due_at: at, ended_at: at },
  attempts: [{ number: 1, at, status: 500, reason: '', latency_ms: 3, reply: '' }],
})

t.test('deliveries with impossible moments', async (t) => {
  const world = await createWorld(t)
  const deliveries = [recordOf('damaged', BEYOND), recordOf('healthy', '1000')]
  const pools = {
    missingPools: [],
    requestAll: () => Promise.resolve(accepted([{ deliveries, more: false }])),
  } as unknown as WebhookPools
  for (const list of [listDeliveries(pools, DEMO, { endpoint_id: 'we_1' }), listDead(pools, {})]) {
    const { data } = viewOf<{ data: object[] }>(await read(world, list))
    const healthy = { id: 'healthy', ended_at: '1970-01-01T00:00:01.000Z' }
    t.match(data.sort(byId), [{ id: 'damaged' }, healthy], list.name)
  }
})

const byId = (one: object, other: object): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
