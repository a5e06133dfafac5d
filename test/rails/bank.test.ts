/** The rules of the sandbox bank, without journal and server. */
import { equal, notEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import {
  carryOut,
  recall,
  refusesRecall,
  sandboxRules,
  simulate,
  type BankContext,
} from '../../src/rails/sandbox/bank.js'
import { contentOf, reportOf, type Entry } from '../../src/rails/adapter/entry.js'
import { receive as receiveBy } from '../../src/rails/adapter/entry_changes.js'
import { SIMULATED_OUTCOMES, type Instruction } from '../../src/rails/rail.js'
import { anInstruction, random } from './harness.js'

const NOON = 1_800_000_000_000
const at = (milliseconds: number, delayMs = 250): BankContext => ({
  now: instant(NOON + milliseconds),
  random,
  delayMs,
})
const receive = (instruction: Instruction, context: BankContext): Entry =>
  receiveBy(instruction, sandboxRules(context.delayMs), context)
const toAccount = (account: string): Entry => receive(anInstruction({ account }), at(0))
const withHint = (hint: string, delayMs = 250): Entry =>
  receive(anInstruction({ purpose: 'qr_payment', hint }), at(0, delayMs))

t.test('an ordinary instruction is executed and reported after the delay', async (t) => {
  const received = receive(anInstruction(), at(0))
  t.equal(received.state, 'pending')
  t.equal(received.executions, 0)
  t.equal(received.reportId, null)
  t.strictSame(received.due, { at: NOON + 250, step: 'execute' })

  const executed = carryOut(received, at(250))
  t.equal(executed.state, 'executed')
  t.equal(executed.executions, 1)
  t.match(executed.transactionId, /^sbx_[0-9a-f]{24}$/)
  t.match(executed.reportId, /^rep_/)
  t.equal(executed.due, null)
})

t.test('without a delay an instruction is executed at once', async (t) => {
  t.equal(receive(anInstruction(), at(0, 0)).state, 'executed')
})

t.test('test accounts are refused with their reason', async (t) => {
  const reasons = { '0001': 'account_closed', '0002': 'account_not_found', '0003': 'name_mismatch' }
  for (const [ending, reason] of Object.entries(reasons)) {
    const refused = carryOut(toAccount(`999000${ending}`), at(250))
    t.equal(refused.state, 'refused', ending)
    t.equal(refused.refusal, reason)
    t.equal(refused.executions, 0)
    t.match(refused.reportId, /^rep_/)
  }
})

t.test('account 0005 is executed and returned within three seconds', async (t) => {
  const executed = carryOut(toAccount('99900012340005'), at(250))
  t.equal(executed.state, 'executed')
  t.equal(executed.due?.step, 'return')
  t.ok((executed.due?.at ?? Infinity) <= NOON + 250 + 3_000)
  const returned = carryOut(executed, at(1_250))
  t.equal(returned.state, 'returned')
  t.equal(returned.executions, 1)
  t.equal(returned.transactionId, executed.transactionId)
  t.not(returned.reportId, executed.reportId)
})

t.test('accounts 0006 and 0007 are decided at once and not reported', async (t) => {
  const executed = toAccount('9990000006')
  t.match(executed, { state: 'executed', executions: 1, reportId: null, due: null })
  const refused = toAccount('9990000007')
  t.match(refused, { state: 'refused', refusal: 'rejected', executions: 0, reportId: null })
})

t.test('account 0008 stays pending', async (t) => {
  t.match(toAccount('9990000008'), { state: 'pending', due: null })
})

t.test('only payouts to the test range have special outcomes', async (t) => {
  for (const account of ['1230000001', '9990010001', '99900000010']) {
    t.match(toAccount(account).due, { step: 'execute' }, account)
  }
  const qr = receive(anInstruction({ purpose: 'qr_payment', account: '9990000001' }), at(0))
  t.match(qr.due, { step: 'execute' })
})

t.test('production instructions are always paid', async (t) => {
  const environment = 'production'
  for (const ending of ['0001', '0002', '0003', '0005', '0006', '0007', '0008']) {
    const given = { environment, account: `999000${ending}`, hint: 'sandbox:fail' } as const
    const received = receive(anInstruction(given), at(0))
    t.strictSame(received.due, { at: NOON + 250, step: 'execute' }, ending)
    const executed = carryOut(received, at(250))
    t.match(executed, { state: 'executed', executions: 1, due: null, refusal: null })
    t.match(executed.reportId, /^rep_/, 'the execution is reported')
    t.match(reportOf(executed, null), { environment, status: 'executed' })
    for (const outcome of SIMULATED_OUTCOMES) {
      t.equal(simulate(received, outcome, at(300)), received)
      t.equal(simulate(executed, outcome, at(300)), executed)
    }
    t.match(recall(executed, at(300)).due, { step: 'return' }, 'recalls work in production')
  }
  for (const hint of ['+fail', '+slow', '+unknown']) {
    const received = receive(anInstruction({ environment, purpose: 'qr_payment', hint }), at(0))
    t.strictSame(received.due, { at: NOON + 250, step: 'execute' }, hint)
  }
})

t.test('the environment is not part of the content', async (t) => {
  const instruction = anInstruction()
  const other = { ...instruction, environment: 'production' } as const
  t.equal(contentOf(other), contentOf(instruction))
})

t.test('an entry without an environment behaves as a sandbox entry', async (t) => {
  const old = { ...toAccount('9990000005'), environment: null }
  const executed = carryOut(old, at(250))
  t.match(executed.due, { step: 'return' })
  t.match(reportOf(executed, null), { environment: 'sandbox' })
  t.match(simulate(old, 'failed', at(300)), { state: 'refused' })
})

t.test('hints decide the outcome of QR payments', async (t) => {
  t.match(carryOut(withHint('+fail'), at(250)), { state: 'refused', refusal: 'rejected' })
  t.match(carryOut(withHint('user-7+fail'), at(250)), { state: 'refused' })
  t.match(withHint('+unknown'), { state: 'executed', executions: 1, reportId: null })
  t.equal(withHint('+slow').due?.at, NOON + 5_000)
  t.equal(withHint('+slow', 1_000).due?.at, NOON + 10_000)
  t.match(withHint('+other').due, { at: NOON + 250, step: 'execute' })
  t.match(
    receive(anInstruction({ hint: '+fail' }), at(0)).due,
    { step: 'execute' },
    'not of a payout',
  )
})

t.test('an instruction is refused after notAfter and accepted at it', async (t) => {
  const instruction = anInstruction({ notAfter: instant(NOON) })
  t.match(receive(instruction, at(0)), { state: 'pending' })
  const late = receive(instruction, at(1))
  t.match(late, { state: 'refused', refusal: 'expired', executions: 0, due: null })
  t.match(late.reportId, /^rep_/)
  const silent = anInstruction({ notAfter: instant(NOON), account: '9990000006' })
  t.match(receive(silent, at(1)), { state: 'refused', executions: 0 }, 'at every account')
})

t.test('simulate forces an outcome', async (t) => {
  const stuck = toAccount('9990000008')
  t.match(simulate(stuck, 'completed', at(9)), { state: 'executed', executions: 1 })
  t.match(simulate(stuck, 'failed', at(9)), { state: 'refused', refusal: 'rejected' })
  t.match(simulate(stuck, 'reversed', at(9)), { state: 'returned', executions: 1 })
  const executed = simulate(stuck, 'completed', at(9))
  t.match(simulate(executed, 'reversed', at(10)), { state: 'returned', executions: 1 })
  t.equal(simulate(executed, 'failed', at(10)), executed, 'a paid instruction does not fail')
  const refused = simulate(stuck, 'failed', at(9))
  for (const outcome of SIMULATED_OUTCOMES) t.equal(simulate(refused, outcome, at(10)), refused)
  const planned = toAccount('9990000001')
  const forced = simulate(planned, 'completed', at(9))
  t.match(forced, { state: 'executed', refusal: null, due: null }, 'a planned refusal is undone')
})

t.test('a recall returns an executed instruction once', async (t) => {
  const executed = carryOut(receive(anInstruction(), at(0)), at(250))
  const recalled = recall(executed, at(300))
  t.strictSame(recalled.due, { at: NOON + 550, step: 'return' })
  t.equal(recalled.reportId, executed.reportId, 'the report is still that of the execution')
  t.equal(recall(recalled, at(400)), recalled)
  const returned = carryOut(recalled, at(550))
  t.match(returned, { state: 'returned', executions: 1 })
  t.equal(recall(returned, at(600)), returned)
})

t.test('the content digest covers amount, reference and payee', async (t) => {
  const first = anInstruction()
  t.equal(contentOf({ ...first, notAfter: instant(1), hint: 'x' }), contentOf(first))
  t.not(contentOf({ ...first, amount: 12_346n }), contentOf(first))
  t.not(contentOf({ ...first, currency: 'VND' }), contentOf(first))
  t.not(contentOf({ ...first, reference: 'other' }), contentOf(first))
  for (const member of ['account', 'bankCode', 'name', 'reference1'] as const) {
    const destination = { ...first.destination, [member]: '42' }
    t.not(contentOf({ ...first, destination }), contentOf(first), member)
  }
})

t.test('in every order of events money moves out at most once', async (t) => {
  const account = fc.constantFrom('1', ...[1, 2, 3, 5, 6, 7, 8].map((n) => `999000000${n}`))
  const steps = fc.array(fc.constantFrom('due', 'recall', ...SIMULATED_OUTCOMES), { maxLength: 8 })
  fc.assert(
    fc.property(account, steps, (account, steps) => {
      let entry = toAccount(account)
      for (const [index, step] of steps.entries()) {
        const before = entry
        const moment = at(index + 1)
        if (step === 'due') entry = carryOut(entry, moment)
        else if (step === 'recall') entry = recall(entry, moment)
        else entry = simulate(entry, step, moment)

        const paid = entry.state === 'executed' || entry.state === 'returned'
        equal(entry.executions, paid ? 1 : 0)
        if (before.state === 'refused' || before.state === 'returned') equal(entry, before)
        if (before.transactionId !== null) equal(entry.transactionId, before.transactionId)
        if (entry.state !== before.state) notEqual(entry.reportId, null)
        equal(reportOf(entry, null).reportId, null)
      }
    }),
  )
  t.pass('for every order of events')
})

t.test('the bank of one merchant refuses recalls of QR payments in the sandbox', async (t) => {
  const paid = (over: Parameters<typeof anInstruction>[0]): Entry =>
    receive(anInstruction({ account: '0066999000009', ...over }), at(0, 0))
  t.ok(refusesRecall(paid({ purpose: 'qr_payment' })))
  t.notOk(refusesRecall(paid({ purpose: 'payout' })))
  t.notOk(refusesRecall(paid({ purpose: 'qr_payment', environment: 'production' })))
  t.notOk(refusesRecall(paid({ purpose: 'qr_payment', account: '0066812345678' })))
})
