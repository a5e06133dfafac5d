/** What an adapter asks a bank elsewhere, when, and what the bank's word makes of an entry. */
import { pino } from 'pino'
import t from 'tap'
import { DAY, HOUR, instant, MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import type { BankOutcome } from '../../src/rails/adapter/bank.js'
import type { BankCall } from '../../src/rails/adapter/bank_calls.js'
import { createBankRules } from '../../src/rails/adapter/bank_rules.js'
import type { Entry } from '../../src/rails/adapter/entry.js'
import { receive } from '../../src/rails/adapter/entry_changes.js'
import type { Instruction } from '../../src/rails/rail.js'
import { anInstruction, random } from './harness.js'

const NOON = instant(1_800_000_000_000)
const WINDOW_MS = MINUTE
const after = (now: Instant) => ({ now, random })
const MOVED = { transactionId: 't_1', amount: 12_345n, currency: 'THB' }

/** Rules of a process that began to serve at noon, and an entry that was received then. */
function rulesFor(given: Partial<Instruction> = {}, submitted?: Instant) {
  const asked: BankCall['kind'][] = []
  const lines: string[] = []
  const rules = createBankRules({
    ...{ finalityWindowMs: WINDOW_MS, startedAt: NOON, submittedAt: () => submitted },
    log: pino({}, { write: (line) => void lines.push(line) }),
    call: ({ kind }) => void asked.push(kind),
  })
  const entry = receive(anInstruction(given), rules, after(NOON))
  const learn = (known: Entry, outcome: BankOutcome, now = NOON): Entry => {
    const learned = rules.learn(known, outcome, after(now))
    if (learned === 'recall_refused') throw new Error(learned)
    return learned
  }
  const calls = (): readonly string[] => {
    rules.committed()
    return asked.splice(0)
  }
  calls()
  return { rules, entry, learn, calls, lines }
}

t.test('a payment is asked for at growing intervals, of an hour at most', async (t) => {
  const { rules, entry, calls } = rulesFor()
  t.match(entry, { state: 'pending', due: { at: plus(NOON, SECOND), step: 'execute' } })
  for (const [since, pause] of [
    [SECOND, SECOND],
    [MINUTE, MINUTE],
    [DAY, HOUR],
  ] as const) {
    const now = plus(NOON, since)
    const { due } = rules.carryOut(entry, after(now))
    t.same(due, { at: plus(now, pause), step: 'execute' })
    t.same(calls(), ['query'])
  }
})

t.test('a recall is of an executed payment, and is repeated', async (t) => {
  const { rules, entry, learn, calls } = rulesFor()
  t.equal(rules.recall(entry, 'refund', after(NOON)), 'refused')
  t.same(calls(), [])
  t.equal(rules.learn(entry, { kind: 'recall_refused' }, after(NOON)), entry)
  const executed = learn(entry, { kind: 'executed', ...MOVED })
  const recalled = rules.recall(executed, 'refund', after(NOON)) as Entry
  t.same(recalled.due, { at: plus(NOON, 5 * SECOND), step: 'return' })
  const later = plus(NOON, 5 * SECOND)
  t.same(rules.carryOut(recalled, after(later)).due, { at: plus(later, MINUTE), step: 'return' })
  t.same(calls(), ['recall', 'recall'])
})

t.test('an execution that the bank tells again is the same one, or a contradiction', async (t) => {
  const { entry, learn, lines } = rulesFor()
  const executed = learn(entry, { kind: 'executed', ...MOVED })
  t.equal(learn(executed, { kind: 'executed', ...MOVED }), executed)
  t.equal(learn(executed, { kind: 'executed', transactionId: 't_1' }), executed)
  t.same(lines, [])
  for (const other of [{ transactionId: 't_2' }, { amount: 12_346n }, { currency: 'VND' }]) {
    t.equal(learn(executed, { kind: 'executed', ...MOVED, ...other }), executed)
    t.match(lines.splice(0), [/the bank contradicts itself/], Object.keys(other).join())
  }
})

t.test('a return is of the amount and the currency that were executed', async (t) => {
  const { entry, learn, lines } = rulesFor()
  const executed = learn(entry, { kind: 'executed', ...MOVED })
  for (const other of [{ amount: 12_344n }, { currency: 'VND' }]) {
    t.equal(learn(executed, { kind: 'returned', ...MOVED, ...other }), executed)
    t.match(lines.splice(0), [/the bank contradicts itself/], Object.keys(other).join())
  }
  const returned = learn(executed, { kind: 'returned', ...MOVED })
  t.match(returned, { state: 'returned', executions: 1 })
  t.equal(learn(returned, { kind: 'returned', ...MOVED, amount: 1n }), returned)
  t.same(lines, [])
})

t.test(
  'a refusal ends a pending payment only, and one of an executed payment is told',
  async (t) => {
    const refused = { kind: 'refused', refusal: 'rejected' } as const
    const { entry, learn, lines } = rulesFor()
    const ended = learn(entry, refused)
    t.equal(learn(ended, refused), ended)
    t.same(lines, [])
    const executed = learn(ended, { kind: 'executed', ...MOVED })
    t.equal(executed.state, 'executed')
    t.equal(learn(executed, refused), executed)
    t.equal(lines.length, 2)
  },
)

t.test('the bank that was paid is as the bank tells it', async (t) => {
  const { entry, learn } = rulesFor()
  t.equal(learn(entry, { kind: 'executed', ...MOVED }).bankCode, '004')
  const other = { destinationBank: '014' }
  t.equal(learn(entry, { kind: 'executed', ...MOVED, ...other }).bankCode, '014')
})

t.test('the finality window begins with the last submission, or the start', async (t) => {
  const until = plus(NOON, WINDOW_MS)
  const early = plus(until, -1)
  const unknownAt = (askedAt: Instant) => ({ kind: 'not_found', askedAt }) as const
  const restarted = rulesFor()
  t.equal(restarted.learn(restarted.entry, unknownAt(early), until), restarted.entry)
  t.same(restarted.calls(), [])
  restarted.learn(restarted.entry, unknownAt(until), until)
  t.same(restarted.calls(), ['submit'])

  const submitted = plus(NOON, 10 * MINUTE)
  const repeated = rulesFor({}, submitted)
  repeated.learn(repeated.entry, unknownAt(plus(submitted, WINDOW_MS - 1)))
  t.same(repeated.calls(), [])
  repeated.learn(repeated.entry, unknownAt(plus(submitted, WINDOW_MS)))
  t.same(repeated.calls(), ['submit'])

  const ended = repeated.learn(repeated.entry, { kind: 'executed', ...MOVED })
  t.equal(repeated.learn(ended, unknownAt(plus(submitted, DAY))), ended)
  t.same(repeated.calls(), [])
})

t.test('a payment is submitted until its `not_after`', async (t) => {
  const notAfter = plus(NOON, DAY)
  const { entry, learn, calls } = rulesFor({ notAfter })
  const unknown = { kind: 'not_found', askedAt: notAfter } as const
  t.equal(learn(entry, unknown, notAfter), entry)
  t.same(calls(), ['submit'])
  t.match(learn(entry, unknown, plus(notAfter, 1)), { state: 'refused', refusal: 'expired' })
  t.same(calls(), [])
})
