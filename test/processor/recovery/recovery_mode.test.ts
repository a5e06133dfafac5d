/** Recovery mode: refused commands, the effects of a release, and payments held afterwards. */
import { DAY, SECOND } from '../../../src/base/clock.js'
import { createLog } from '../../../src/base/log.js'
import { enterRecovery } from '../../../src/processor/commands/operators/recovery_enter.js'
import {
  releaseRecovery,
  SKIPPED_POSITIONS,
} from '../../../src/processor/commands/operators/recovery_release.js'
import {
  approveIntent,
  rejectIntent,
} from '../../../src/processor/commands/intents/intent_review.js'
import { setRate } from '../../../src/processor/commands/operators/rate_set.js'
import { setRoute } from '../../../src/processor/commands/operators/route_set.js'
import { addOrphans } from '../../../src/processor/commands/operators/orphan_add.js'
import { resolveOrphan } from '../../../src/processor/commands/operators/orphan_resolve.js'
import {
  approvePayout,
  rejectPayout,
} from '../../../src/processor/commands/payouts/payout_review.js'
import { createPayout } from '../../../src/processor/commands/payouts/payout_create.js'
import { getPayout } from '../../../src/processor/commands/payouts/payout_get.js'
import { listHeldPayouts } from '../../../src/processor/queries/held_payout_list.js'
import { listHeldIntents } from '../../../src/processor/queries/held_intent_list.js'
import { listOrphans } from '../../../src/processor/queries/orphan_list.js'
import { compareUnsubmitted } from '../../../src/processor/background/orphan_comparison.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import type { OrphanExecution__Output as Execution } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import { NO_FINDINGS, RELEASE } from '../../support/statements.js'
import { codeOf, DEMO, viewOf, type World } from '../../support/world.js'
import { beginLifecycle, THAI } from '../intent_lifecycle.js'
import {
  balanceOf,
  discrepanciesOf,
  executed,
  operatorLog,
  OPERATOR,
  pay,
  payout,
  read,
  readAll,
  see,
  runOnBothStores,
  types,
} from '../scenarios.js'

const EVIDENCE = 'line 12 of the statement'
const UNCHECKED = { ...RELEASE, statement: null, figures: null }

/** The execution of `aPayout` with all members of a statement. */
const execution = (over: Partial<Execution> = {}): Execution => ({
  instruction_id: 'pout_lost',
  environment: 'sandbox',
  purpose: 'payout',
  destination_account: '0123456789',
  amount: '12500000',
  currency: 'VND',
  reference: 'invoice 1',
  transaction_id: 'TX9',
  executed_at: '1764000000000',
  state: '',
  ...over,
})

/** The same payment while the rail has only accepted it. */
const accepted = (over: Partial<Execution> = {}): Execution =>
  execution({ transaction_id: '', state: 'accepted', ...over })

/** The rail's report about it. */
const LOST = {
  id: 'pout_lost' as never,
  reportId: 'rr_lost',
  transactionId: 'TX9',
  amount: 12_500_000n,
  currency: 'VND',
  destinationAccount: '0123456789',
} as const

const ofThai = (over: Partial<Execution> = {}): Execution =>
  execution({
    instruction_id: 'pi_lost',
    purpose: 'qr_payment',
    destination_account: THAI.account,
    amount: '36000',
    currency: 'THB',
    reference: undefined as never,
    ...over,
  })

const without = <M extends keyof Execution>(given: Execution, ...members: M[]): Execution => {
  const left = { ...given }
  for (const member of members) delete left[member]
  return left
}

/** Enters recovery mode and releases it, with the restart that follows. */
async function restored(world: World, ...lost: Execution[]): Promise<Answer> {
  await world.run(enterRecovery('a test'))
  const added = await world.run(addOrphans(OPERATOR, lost))
  await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
  await world.rebuild()
  return added
}

/** As at the start after the release. */
const compared = (world: World): Promise<void> =>
  compareUnsubmitted({
    store: world.store,
    memory: world.memory(),
    pipeline: { submit: (work) => world.submit(work) },
    log: createLog('test', { LOG_LEVEL: 'silent' }),
  })

const instructed = (world: World): string[] =>
  world.railInstructions.flatMap((oneInstruction) =>
    oneInstruction.kind === 'instruct' ? [oneInstruction.instruction.id] : [],
  )

/** The route of `aPayout`, with a fee that the recipient bears. */
const setUp = async (world: World, fee: bigint): Promise<string> =>
  codeOf(
    await world.run(
      setRoute(OPERATOR, DEMO, {
        country: 'VN',
        currency: 'VND',
        enabled: true,
        platform_fixed: fee.toString(),
        platform_bps: 0,
        rail_fixed: '0',
        handling: 'deducted',
        refund_fees_on_reversal: true,
      }),
    ),
  )

const orphans = (world: World, resolved = false): Promise<{ held: string[] }[]> =>
  readAll(world, (page) => listOrphans({ resolved, ...page }))

/** The reasons of the discrepancies, oldest first. */
const reasonsOf = async (world: World): Promise<readonly string[]> =>
  (await discrepanciesOf(world)).map(({ reason }) => reason)

const resolve = (world: World, instruction: string, paymentId?: string): Promise<Answer> =>
  world.run(
    resolveOrphan(OPERATOR, instruction, {
      resolution: paymentId === undefined ? 'dismissed' : 'matched',
      paymentId,
      evidence: EVIDENCE,
    }),
  )

runOnBothStores({
  'only reads are decided in recovery mode': async (t, world) => {
    const before = await pay(world)
    await world.run(enterRecovery('a test'))
    const refused = createPayout(DEMO, payout())
    t.equal(codeOf(await world.run(refused)), 'configuration_error')
    await world.railReports(executed(before.id))
    t.equal((await see(world, before.id)).status, 'processing', 'a report is not applied')
    t.notOk(
      world.railInstructions.some(({ kind }) => kind === 'acknowledge'),
      'nor acknowledged',
    )
    world.clock.pass(DAY)
    const sent = world.railInstructions.length
    await world.fireTimers()
    t.equal(world.railInstructions.length, sent, 'a timer changes nothing')
    t.equal(codeOf(await world.run(enterRecovery('again'))), 'ok', 'entering twice changes nothing')
    t.equal(world.memory().lastRecovery, 1)
  },

  'routes and rates are set in recovery mode, before the release': async (t, world) => {
    const view = await setUp(world, 100n)
    t.equal(view, 'ok')
    const lost = String(12_500_000 - 100)
    t.match(await pay(world), { recipient_amount: lost })
    await setUp(world, 0n)
    await world.run(enterRecovery('a test'))
    t.equal(await setUp(world, 100n), 'ok')
    t.equal(codeOf(await world.run(setRate(OPERATOR, 'THB', '36.5'))), 'ok')
    const inStatement = without(execution({ amount: lost }), 'reference')
    await world.run(addOrphans(OPERATOR, [inStatement]))
    await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
    await world.rebuild()
    t.match(await pay(world), { status: 'created', recipient_amount: lost }, 'the retry is equal')
  },

  'recovery mode is released once, after a reconciliation of the rail': async (t, world) => {
    const release = (checked: Parameters<typeof releaseRecovery>[1]): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, checked, NO_FINDINGS))
    t.equal(codeOf(await release(RELEASE)), 'recovery_not_active')
    t.equal(codeOf(await world.run(addOrphans(OPERATOR, []))), 'recovery_not_active')
    await world.run(enterRecovery('a test'))
    t.equal(codeOf(await release(UNCHECKED)), 'invalid_request')
    t.equal(codeOf(await release({ ...RELEASE, statement: ' ' })), 'invalid_request')
    t.equal(codeOf(await release({ ...RELEASE, figures: null })), 'invalid_request')
    t.equal(codeOf(await release({ ...UNCHECKED, railChecked: true })), 'ok')
    await world.rebuild()
    t.equal(codeOf(await release(RELEASE)), 'recovery_not_active')
    t.equal((await pay(world)).status, 'processing', 'commands are accepted again')
  },

  'a statement that cannot be right is released only as incomplete': async (t, world) => {
    await world.run(enterRecovery('a test'))
    const findings = { ...NO_FINDINGS, faults: ['it has 2 movements, and the rail made 3'] }
    const release = (incomplete: boolean): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, { ...RELEASE, incomplete }, findings))
    t.equal(codeOf(await release(false)), 'statement_refused')
    t.equal(await world.store.stoppedByRecovery(), 'writes')
    t.match(viewOf(await release(true)), {
      loss: ['the statement is incomplete: it has 2 movements, and the rail made 3'],
    })
    t.equal(await world.store.stoppedByRecovery(), null)
    t.match((await operatorLog(t)).at(-1), {
      action: 'release_recovery',
      evidence: 'day.csv sha256 00, 0 movements, accepted as incomplete',
    })
  },

  'nothing is released before the bus is compared': async (t, world) => {
    await world.run(enterRecovery('a test'))
    const release = (isBusChecked: boolean): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, RELEASE, { ...NO_FINDINGS, isBusChecked }))
    t.equal(codeOf(await release(false)), 'bus_not_checked')
    t.equal(await world.store.stoppedByRecovery(), 'writes')
    t.equal(codeOf(await release(true)), 'ok')
  },

  'event numbers continue above all numbers that can have been lost': async (t, world) => {
    await pay(world)
    const { lastPosition } = world.memory()
    const sequence = world.memory().sequences.get(DEMO) ?? 0
    await restored(world)
    await pay(world)
    const [first] = world.events.slice(-2)
    t.equal(first?.position, lastPosition + SKIPPED_POSITIONS + 1)
    t.equal(first?.sequence, sequence + SKIPPED_POSITIONS + 1)
    await world.rebuild()
    await pay(world)
    t.equal(
      world.events.at(-1)?.sequence,
      sequence + SKIPPED_POSITIONS + 4,
      'later numbers have no gap',
    )
  },

  'a payout that matches an orphan execution is held': async (t, world) => {
    t.match(viewOf(await restored(world, execution())), { added: 1, known: 0 })
    const held = await pay(world)
    t.equal(held.status, 'created')
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ instruction_id: 'pout_lost', held: [held.id] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [{ orphan: 'pout_lost' }])
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    const { beneficiary } = payout()
    const other = { ...beneficiary!, account_number: '0123456780' }
    t.equal((await pay(world, { beneficiary: other })).status, 'processing')
    const rows = JSON.stringify(world.memory().orphans.get('pout_lost'), (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    t.notMatch(rows, '0123456789', 'the account number is not stored in the clear')
  },

  'a payout that equals an accepted instruction is held until the rail ends it': async (
    t,
    world,
  ) => {
    t.match(viewOf(await restored(world, accepted())), { added: 1, known: 0 })
    const held = await pay(world)
    t.equal(held.status, 'created')
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ state: 'accepted', held: [held.id] }])
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_not_executed')

    await world.railReports({ ...LOST, status: 'executed', amount: 1n })
    t.match(await orphans(world), [{ state: 'accepted' }], 'of another amount')
    await world.railReports({ ...LOST, status: 'executed' })
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'executed', transaction_id: 'TX9' }])
    t.ok(world.railInstructions.some(({ kind }) => kind === 'acknowledge'))
    t.equal((await pay(world)).status, 'created', 'it holds as before')
    t.match(viewOf(await resolve(world, 'pout_lost', held.id)), { status: 'matched' })
    t.match(await see(world, held.id), { status: 'completed', rail: { transaction_id: 'TX9' } })
    await world.railReports({ ...LOST, status: 'executed' })
    await world.railReports({ ...LOST, status: 'executed', transactionId: 'TX8' })
    await world.railReports({ ...LOST, status: 'returned' })
    t.same(await reasonsOf(world), ['execution_differs', 'executed_again', 'returned_after_end'])
  },

  'an instruction that ends without a payment holds nothing further': async (t, world) => {
    const second = { instruction_id: 'pout_2', reference: 'invoice 2' }
    await restored(
      world,
      accepted(),
      accepted(second),
      execution({ ...second, instruction_id: 'pout_3', reference: 'invoice 3' }),
    )
    const held = await pay(world)
    await world.railReports({
      id: LOST.id,
      reportId: 'rr_1',
      status: 'refused',
      refusal: 'rejected',
    })
    await world.railReports({ ...LOST, id: 'pout_2' as never, status: 'returned' })
    await world.railReports({ ...LOST, id: 'pout_3' as never, status: 'returned' })
    t.match(await orphans(world), [
      { instruction_id: 'pout_2', state: 'returned', transaction_id: 'TX9' },
      { instruction_id: 'pout_3', state: 'returned' },
      { instruction_id: 'pout_lost', state: 'refused', held: [held.id] },
    ])
    t.equal((await see(world, held.id)).status, 'created', 'a held payment waits for a reviewer')
    t.equal((await pay(world)).status, 'processing')
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    t.equal((await pay(world, { reference: 'invoice 3' })).status, 'processing')
    await world.rebuild()
    t.equal((await pay(world)).status, 'processing', 'after a restart too')
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_not_executed')
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved' })
    t.same(await reasonsOf(world), [])
    await world.railReports({ ...LOST, status: 'executed' })
    t.same(await reasonsOf(world), ['executed_after_end'])
  },

  'the execution of a dismissed instruction is a discrepancy': async (t, world) => {
    await restored(world, accepted())
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved', state: 'accepted' })
    t.equal((await pay(world)).status, 'processing')
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world, true), [{ state: 'executed', transaction_id: 'TX9' }])
    t.same(await reasonsOf(world), ['executed_after_end'])
  },

  'a report about an accepted instruction waits for the release': async (t, world) => {
    await world.run(enterRecovery('a test'))
    await world.run(addOrphans(OPERATOR, [accepted()]))
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'accepted' }])
    t.notOk(world.railInstructions.some(({ kind }) => kind === 'acknowledge'))
    await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
    await world.rebuild()
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'executed' }])
    t.same(await reasonsOf(world), [])
  },

  'a second recovery finds an accepted instruction executed': async (t, world) => {
    await restored(world, accepted())
    const held = await pay(world)
    t.match(viewOf(await restored(world, execution())), { added: 1, known: 0 })
    t.match(viewOf(await restored(world, accepted(), execution())), { added: 0, known: 2 })
    t.match(await orphans(world), [{ state: 'executed', transaction_id: 'TX9', held: [held.id] }])
    t.match(viewOf(await resolve(world, 'pout_lost', held.id)), { status: 'matched' })
    t.match(await see(world, held.id), { status: 'completed' })
  },

  'a confirmed intent that equals an accepted instruction is held': async (t, world) => {
    await restored(world, without(ofThai({ transaction_id: '', state: 'accepted' }), 'reference'))
    const lifecycle = await beginLifecycle(world)
    await lifecycle.scan()
    t.match(viewOf(await lifecycle.confirm()), { status: 'authorized' })
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ state: 'accepted', held: [lifecycle.id] }])
  },

  'a value missing in the statement matches any payment': async (t, world) => {
    const partial = without(
      execution(),
      'environment',
      'purpose',
      'destination_account',
      'reference',
    )
    await restored(world, partial)
    t.equal((await pay(world, { reference: 'any' })).status, 'created')
    t.equal((await pay(world, { amount: '12500001' })).status, 'processing')
  },

  'reference and destination alike hold a payout of any amount': async (t, world) => {
    await restored(world, execution({ amount: '12499000' }))
    const held = await pay(world)
    t.equal(held.status, 'created', 'its fee was another one')
    t.match(await orphans(world), [{ held: [held.id] }])
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_differs')
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    const { beneficiary } = payout()
    const other = { ...beneficiary!, account_number: '0123456780' }
    t.equal((await pay(world, { beneficiary: other })).status, 'processing')
    t.same(instructed(world).length, 2)
  },

  'the amount counts where the statement has no reference': async (t, world) => {
    await restored(world, without(execution({ amount: '12499000' }), 'reference'))
    t.equal((await pay(world)).status, 'processing')
  },

  'an orphan of another environment does not match': async (t, world) => {
    await restored(world, execution({ environment: 'production' }))
    t.equal((await pay(world)).status, 'processing')
  },

  'a held payout can be approved': async (t, world) => {
    await restored(world, execution())
    const { id } = await pay(world)
    await world.run(approvePayout(OPERATOR, id))
    t.same(instructed(world), [id])
    t.equal((await pay(world)).status, 'created', 'the next matching payout is held too')
  },

  'a held payout can be matched': async (t, world) => {
    const before = await balanceOf(world)
    const other = { instruction_id: 'pout_2', amount: '5', reference: 'invoice 2' }
    await restored(world, execution(), execution(other))
    const { id, total } = await pay(world)
    t.equal(codeOf(await resolve(world, 'pout_2', id)), 'orphan_execution_differs')
    t.equal(codeOf(await resolve(world, 'pout_none')), 'orphan_execution_not_found')
    t.equal(codeOf(await resolve(world, 'pout_lost', 'pout_none')), 'payout_not_found')
    t.match(viewOf(await resolve(world, 'pout_lost', id)), { status: 'matched', matched_to: id })
    t.match(await see(world, id), { status: 'completed', rail: { transaction_id: 'TX9' } })
    t.same(instructed(world), [], 'nothing is submitted')
    t.same(await balanceOf(world), {
      available: String(BigInt(before.available) - BigInt(total)),
      reserved: '0',
    })
    t.equal(codeOf(await resolve(world, 'pout_lost')), 'orphan_execution_resolved')
    t.match(await orphans(world, true), [{ instruction_id: 'pout_lost' }])
    t.equal((await pay(world)).status, 'processing', 'a matched orphan holds no further payment')
  },

  'a payout accepted before the orphan was known is held when it is due': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    await restored(world, execution())
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [])
    t.equal((await see(world, id)).status, 'processing', 'its public state stays')
    t.match(await orphans(world), [{ held: [id] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [
      { orphan: 'pout_lost', payout: { id, status: 'processing' } },
    ])
    await world.fireTimers(DAY)
    t.same(instructed(world), [], 'it waits for a reviewer')
    t.equal(codeOf(await world.run(approvePayout(OPERATOR, id))), 'ok')
    t.same(instructed(world), [id])
    t.equal(codeOf(await world.run(approvePayout(OPERATOR, id))), 'payout_not_held')
    t.match(await orphans(world), [{ held: [] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [])
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
  },

  'a payout approved while the rail is down is submitted once it is up': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    await restored(world, execution())
    await compared(world)
    await world.run(approvePayout(OPERATOR, id))
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [id])
  },

  'a payout held in processing can be rejected, matched, or not reviewed in time': async (
    t,
    world,
  ) => {
    const funds = await balanceOf(world)
    world.setRail(false)
    const [rejected, matched, forgotten] = [await pay(world), await pay(world), await pay(world)]
    await restored(world, execution())
    await compared(world)
    world.setRail(true)
    t.match(viewOf(await world.run(rejectPayout(OPERATOR, rejected.id))), {
      status: 'failed',
      failure: { code: 'review_rejected', source: 'review' },
    })
    t.match(viewOf(await resolve(world, 'pout_lost', matched.id)), { matched_to: matched.id })
    t.match(await see(world, matched.id), {
      status: 'completed',
      rail: { transaction_id: 'TX9' },
    })
    await world.fireTimers(4 * DAY)
    t.match(await see(world, forgotten.id), {
      status: 'failed',
      failure: { code: 'review_expired' },
    })
    t.same(instructed(world), [])
    t.same(await balanceOf(world), {
      available: String(BigInt(funds.available) - BigInt(matched.total)),
      reserved: '0',
    })
  },

  'an instruction that the rail does not have is compared before it is sent again': async (
    t,
    world,
  ) => {
    const { id } = await pay(world)
    await restored(world, execution())
    t.same(instructed(world), [id])
    await world.railReports({ id: id as never, reportId: null, status: 'not_found' })
    t.same(instructed(world), [id], 'it is not sent again')
    await world.railReports({ id: id as never, reportId: null, status: 'not_found' })
    t.match(await orphans(world), [{ held: [id] }])
    await world.run(approvePayout(OPERATOR, id))
    t.same(instructed(world), [id, id])
  },

  'an intent that the rail does not have is compared before it is sent again': async (t, world) => {
    const lifecycle = await beginLifecycle(world)
    await lifecycle.scan()
    await lifecycle.confirm()
    await restored(world, without(ofThai(), 'reference'))
    const missing = { id: lifecycle.id, reportId: null, status: 'not_found' } as const
    await world.railReports(missing)
    await world.railReports(missing)
    t.same(instructed(world), [lifecycle.id], 'it is not sent again')
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    await world.run(approveIntent(OPERATOR, lifecycle.id))
    t.same(instructed(world), [lifecycle.id, lifecycle.id])
  },

  'the start after a release holds what is not submitted and equals an orphan': async (
    t,
    world,
  ) => {
    world.setRail(false)
    const reviewed = await pay(world, { reference: 'sandbox:review' })
    const waiting = await pay(world)
    const other = await pay(world, { reference: 'invoice 2' })
    const lifecycle = await beginLifecycle(world)
    await lifecycle.scan()
    await lifecycle.confirm()
    await restored(
      world,
      execution(),
      execution({ instruction_id: 'pout_reviewed', reference: 'sandbox:review' }),
      without(ofThai(), 'reference'),
    )
    await compared(world)
    await compared(world)
    const held = (await orphans(world)).flatMap((orphan) => orphan.held)
    t.same(held.toSorted(), [reviewed.id, waiting.id, lifecycle.id].toSorted())
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [other.id])
    await world.run(approveIntent(OPERATOR, lifecycle.id))
    await world.run(approvePayout(OPERATOR, reviewed.id))
    t.same(instructed(world), [other.id, lifecycle.id, reviewed.id])
  },

  'an intent confirmed before the orphan was known is held when it is due': async (t, world) => {
    world.setRail(false)
    const lifecycle = await beginLifecycle(world)
    await lifecycle.scan()
    await lifecycle.confirm()
    await restored(world, without(ofThai(), 'reference'))
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    await world.fireTimers(DAY)
    t.equal((await lifecycle.see()).status, 'authorized', 'it waits for a reviewer')
    await resolve(world, 'pi_lost', lifecycle.id)
    t.equal((await lifecycle.see()).status, 'captured')
    t.same(instructed(world), [])
  },

  'a dismissed orphan holds no further payment': async (t, world) => {
    await restored(world, execution())
    const held = await pay(world)
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved' })
    t.equal((await see(world, held.id)).status, 'created', 'held payments stay held')
    t.equal((await pay(world)).status, 'processing')
  },

  'an instruction submitted by these books is no orphan': async (t, world) => {
    const { id } = await pay(world)
    const added = await restored(world, execution({ instruction_id: id }), execution())
    t.match(viewOf(added), { added: 1, known: 1 })
    t.match(await orphans(world), [{ instruction_id: 'pout_lost' }])
  },

  'a confirmed intent that matches an orphan is held and can be approved': async (t, world) => {
    await restored(world, without(ofThai(), 'reference'))
    const lifecycle = await beginLifecycle(world)
    await lifecycle.scan()
    t.match(viewOf(await lifecycle.confirm()), { status: 'authorized' })
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    const held = await readAll<{ intent_id: string }>(world, (page) =>
      listHeldIntents({ limit: 1, ...page }),
    )
    t.match(held, [
      { intent_id: lifecycle.id, currency: 'THB', amount: '36000', orphan: 'pi_lost' },
    ])
    await world.fireTimers(DAY)
    t.equal(
      (await lifecycle.see()).status,
      'authorized',
      'it is held beyond the submission deadline',
    )
    t.match(viewOf(await world.run(approveIntent(OPERATOR, lifecycle.id))), {
      status: 'authorized',
    })
    t.same(instructed(world), [lifecycle.id])
    const again = await world.run(approveIntent(OPERATOR, lifecycle.id))
    t.equal(codeOf(again), 'payment_intent_not_held')
    await lifecycle.executed()
    t.equal((await lifecycle.see()).status, 'captured')
    t.match(await orphans(world), [{ held: [] }])
  },

  'a held intent fails when it is rejected or not reviewed in time': async (t, world) => {
    await restored(world, without(ofThai(), 'reference'))
    const funds = await balanceOf(world, 'USD')
    const rejected = await beginLifecycle(world)
    await rejected.scan()
    await rejected.confirm()
    t.match(viewOf(await world.run(rejectIntent(OPERATOR, rejected.id))), {
      status: 'failed',
      failure: { code: 'payment_review_rejected', source: 'service' },
    })
    const forgotten = await beginLifecycle(world)
    await forgotten.scan()
    await forgotten.confirm()
    await world.fireTimers(4 * DAY)
    t.match(await forgotten.see(), { status: 'failed', failure: { code: 'review_expired' } })
    t.same(await balanceOf(world, 'USD'), funds)
    t.same(instructed(world), [])
  },

  'a held intent can be matched or cancelled': async (t, world) => {
    await restored(world, without(ofThai(), 'reference'))
    const [matched, cancelled] = [await beginLifecycle(world), await beginLifecycle(world)]
    for (const lifecycle of [matched, cancelled]) {
      await lifecycle.scan()
      await lifecycle.confirm()
    }
    t.match(viewOf(await cancelled.cancel()), { status: 'cancelled' })
    await resolve(world, 'pi_lost', matched.id)
    t.equal((await matched.see()).status, 'captured')
    t.same(instructed(world), [])
    t.equal(types(world).at(-1), 'payment_intent.captured')
  },

  'an invalid execution is refused': async (t, world) => {
    await world.run(enterRecovery('a test'))
    const refused = async (over: Partial<Execution>): Promise<void> => {
      const add: Command = addOrphans(OPERATOR, [execution(), execution(over)])
      t.equal(codeOf(await world.run(add)), 'invalid_request', JSON.stringify(over))
    }
    await refused({ amount: '0' })
    await refused({ currency: 'VN' })
    await refused({ purpose: 'gift' })
    await refused({ environment: 'test' })
    await refused({ executed_at: '0' })
    await refused({ instruction_id: '' })
    await refused({ state: 'refused' })
    t.same(
      viewOf<{ data: unknown[] }>(await read(world, listOrphans({ resolved: false }))).data,
      [],
    )
    t.equal(codeOf(await world.run(getPayout(DEMO, 'pout_none'))), 'payout_not_found')
  },
})
