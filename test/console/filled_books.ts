/**
 * Books with something to decide of every kind, for the pages of the console: held payouts and
 * intents, orphan executions, discrepancies, unknown outcomes, requests for a second operator.
 */
import type { Test } from 'tap'
import type { OrphanExecution__Output as Execution } from '../../protos/types/causeway/operator/v1/OrphanExecution.js'
import type { Callers } from '../../src/auth/callers.js'
import { DAY, HOUR } from '../../src/base/clock.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { approveRequest } from '../../src/processor/commands/approvals/approval_request_decide.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { addOrphans } from '../../src/processor/commands/operators/orphan_add.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { releaseRecovery } from '../../src/processor/commands/operators/recovery_release.js'
import { reversePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { authorized, captured, THAI, intentAt } from '../processor/intent_lifecycle.js'
import { executed, pay, type PayoutView } from '../processor/scenarios.js'
import { NO_FINDINGS, RELEASE } from '../support/statements.js'
import { codeOf, createWorld, DEMO, viewOf, type Home, type World } from '../support/world.js'

/** From this amount on a change needs two operators. */
const LARGE = '300000000'
const AGE_MS = 26 * HOUR
const EVIDENCE = 'line 12 of the statement'
const BECAUSE = 'the bank has sent it back'

export interface FilledBooks {
  readonly world: World
  /** Payouts held for review. */
  readonly held: readonly string[]
  /** A payout and intents that equal an orphan execution. */
  readonly equal: { readonly payout: string; readonly intents: readonly string[] }
  readonly orphans: { readonly matching: string; readonly other: string }
  readonly completed: { readonly small: string; readonly large: string }
  readonly captured: string
  /** Their discrepancies: the first ones were paid and not to be, the last one came back. */
  readonly contradicted: readonly string[]
  readonly unanswered: string
  /** Requests for a second operator, of the given one. */
  readonly requests: readonly string[]
}

export async function fillBooks(
  t: Test,
  home: Home,
  callersOf: (world: World) => Callers,
  [first, second]: readonly [string, string],
): Promise<FilledBooks> {
  const { secondOperator } = rulesOf(
    readSettings({ SECOND_OPERATOR_FROM: `VND:${LARGE},USD:100000` }, ''),
  )
  const startedAt = Date.now() - AGE_MS
  const world = await createWorld(home, { startedAt, rules: { secondOperator } })
  const { clock } = world
  viewOf(await world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: '5000000000' })))
  const asked = { name: second, reason: BECAUSE }
  const approve = (id: string): Promise<Answer> => {
    const links = { callers: callersOf(world), findings: NO_FINDINGS, isCluster: false }
    return world.run(approveRequest({ name: first, reason: 'a test' }, id, links))
  }

  const orphan = (id: string, over: Partial<Execution>): Execution => ({
    ...{ instruction_id: id, environment: 'sandbox', purpose: 'payout', currency: 'VND' },
    ...{ destination_account: '0123456789', amount: '12500000', state: '' },
    ...{ transaction_id: `TX-${id}`, executed_at: String(clock.now() - DAY) },
    ...over,
  })
  const orphans = { matching: `pout_lost${'0'.repeat(60)}`, other: 'pout_lost_2' }
  const { account: destination_account, currency } = THAI
  await world.run(enterRecovery('an older copy was restored'))
  await world.run(
    addOrphans(asked, [
      orphan(orphans.matching, { reference: 'invoice 1' }),
      orphan(orphans.other, { reference: 'invoice 2 of another partner', amount: '7000000' }),
      orphan('pi_lost', {
        ...{ purpose: 'qr_payment', destination_account, currency, amount: '36000' },
      }),
    ]),
  )
  viewOf(await approve(requestIn(await world.run(releaseRecovery(asked, RELEASE, NO_FINDINGS)))))
  await world.rebuild()

  const equalPayout = await pay(world)
  const intents: string[] = []
  for (const _each of [1, 2]) {
    const lifecycle = await intentAt(world, authorized)
    intents.push(lifecycle.id)
  }
  let paid = 0
  const payOut = async (amount: string): Promise<PayoutView> => {
    paid += 1
    return pay(world, { amount, reference: `order ${paid}` })
  }
  const complete = async (amount: string): Promise<string> => {
    const { id } = await payOut(amount)
    await world.railReports(
      executed(id, { amount: BigInt(amount), transactionId: `TX-${id.slice(-8)}` }),
    )
    return id
  }
  const completed = { small: await complete('4000000'), large: await complete('310000000') }
  const returned = [await complete('320000000'), await complete('330000000')]
  const qr = await intentAt(world, captured, { corridor: 'vn_vietqr' })
  const contradicted: string[] = []
  for (const amount of ['1000000', '2000000', '3000000', '5000000']) {
    const { id } = await payOut(amount)
    await world.railReports({ status: 'refused', id, reportId: `r-${id}`, refusal: 'rejected' })
    await world.railReports(executed(id, { amount: BigInt(amount) }))
    contradicted.push(id)
  }
  const unanswered = await payOut('6000000')
  clock.pass(AGE_MS - HOUR)
  await world.fireTimers()
  const held: string[] = []
  for (const amount of ['20000000', '25000000', '310000000']) {
    const { id } = await pay(world, { amount, reference: 'sandbox:review' })
    held.push(id)
  }
  const requests: string[] = []
  for (const id of returned) {
    requests.push(requestIn(await world.run(reversePayout(asked, id, EVIDENCE))))
  }
  clock.pass(HOUR)
  return {
    ...{ world, held, orphans, completed, contradicted, requests },
    ...{ captured: qr.id, unanswered: unanswered.id },
    equal: { payout: equalPayout.id, intents },
  }
}

/** The id of the approval request in the answer to a change that needs a second operator. */
function requestIn(answer: Answer): string {
  if (answer.ok || !('approvalRequest' in answer))
    throw new Error(`not requested: ${codeOf(answer)}`)
  return answer.approvalRequest
}
