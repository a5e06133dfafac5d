/** Which statements can be right, by the figures of the rail. */
import t from 'tap'
import { DAY, HOUR, instant, plus, type Instant } from '../../../src/base/clock.js'
import {
  ACCEPTED,
  type AcceptedInstruction,
  createMovementTally,
  type Moved,
  type MovementFigures,
} from '../../../src/base/movements.js'
import type { MovementPeriod, SummaryAnswer } from '../../../src/rails/rail.js'
import {
  createStatementChecker,
  type StatementFigures,
} from '../../../src/processor/recovery/statement_check.js'
import { readFigures, storedFigures } from '../../../src/processor/recovery/statement_figures.js'
import { openNewBooks } from '../../support/books.js'

interface Line extends Moved {
  readonly at: Instant
}

const COPIED_AT = instant(Date.UTC(2026, 10, 21, 12))
const line = (name: string, hours: number, over: Partial<Line> = {}): Line => ({
  instruction: `pout_${name}`,
  movement: 'executed',
  currency: 'VND',
  amount: 125_000n,
  at: plus(COPIED_AT, hours * HOUR),
  ...over,
})

/** What the rail moved: two days and two hours before the copy, then what the books have lost. */
const BEFORE = [line('old', -48), line('before', -0.5)]
const LOST = [line('lost1', 1), line('lost2', 2), line('lost3', 3)]
const RAIL = [...BEFORE, ...LOST]

function tallyOf(lines: readonly (Moved | AcceptedInstruction)[]): MovementFigures {
  const tally = createMovementTally()
  for (const each of lines) tally.add(each)
  return tally.figures()
}

/** Accepted instructions, by name. */
const acceptedFigures = (names: readonly string[]): MovementFigures =>
  tallyOf(names.map((name) => ({ ...line(name, 0), movement: ACCEPTED })))

function figuresOf(lines: readonly Line[], accepted: readonly string[] = []): StatementFigures {
  const times = lines.map(({ at }) => at).toSorted((one, other) => one - other)
  const span = times.length === 0 ? null : { first: times[0]!, last: times.at(-1)! }
  return { ...tallyOf(lines), span, accepted: acceptedFigures(accepted) }
}

const railWith =
  (lines: readonly Line[], ofShard = lines, open: readonly string[] | null = []) =>
  ({ from, to }: MovementPeriod): Promise<SummaryAnswer> => {
    const { sums, digest } = figuresOf(lines.filter(({ at }) => at >= from && at < to))
    const last = [...ofShard].sort((one, other) => one.at - other.at).at(-1)
    const newest = last === undefined ? null : { ...last }
    const accepted = open && acceptedFigures(open)
    return Promise.resolve({ kind: 'summary', summary: { sums, digest, newest, accepted } })
  }

async function faultsOf(
  statement: readonly Line[],
  summarize = railWith(RAIL),
  submittedAt: number | null = plus(COPIED_AT, -HOUR),
  accepted: readonly string[] = [],
): Promise<string> {
  const checker = createStatementChecker(() => Promise.resolve(submittedAt), summarize)
  return (await checker.check(figuresOf(statement, accepted))).faults.join('; ')
}

t.test('the statement of the rail is right from any day before the copy', async (t) => {
  t.equal(await faultsOf(RAIL), '')
  t.equal(await faultsOf([...RAIL].reverse()), '', 'in any order')
  t.equal(await faultsOf(RAIL.slice(1)), '', 'from before the newest submission')
  t.equal(await faultsOf(RAIL, railWith(RAIL), null), '', 'books without a submission')
  t.equal(await faultsOf([], railWith(BEFORE), plus(COPIED_AT, DAY)), '', 'nothing was lost')
  t.equal(await faultsOf([], railWith([]), null), '', 'a new rail')
})

t.test('a statement without lines, of others, cut off or older is not right', async (t) => {
  t.match(await faultsOf([]), /^it has 0 movements, and the rail made 4 since 2026-11-21T10/)
  const foreign = RAIL.map((each, i) => ({ ...each, instruction: `x${i}` }))
  t.match(await faultsOf(foreign), /^its 5 movements are not those that the rail made since/)
  t.match(await faultsOf(foreign.slice(0, 2)), /are not those.*; it ends before the newest/)
  for (let kept = 1; kept < RAIL.length; kept += 1) {
    t.not(await faultsOf(RAIL.slice(0, kept)), '', `the first ${kept} lines`)
  }
  for (let cut = 2; cut < RAIL.length; cut += 1) {
    t.not(await faultsOf(RAIL.slice(cut)), '', `without the first ${cut} lines`)
  }
  for (const gone of LOST) {
    t.not(await faultsOf(RAIL.filter((each) => each !== gone)), '', `without ${gone.instruction}`)
  }
  const older = /^it ends before the newest movement of the rail, pout_lost3, exe/
  t.match(await faultsOf(BEFORE), older)
  t.match(await faultsOf([...RAIL, line('more', 2)]), /has 6 movements, and the rail made 5 since/)
  t.match(await faultsOf([...RAIL, LOST[0]!]), /has 6 movements/, 'a line twice')
  const dearer = [...RAIL.slice(0, -1), line('lost3', 3, { amount: 125_001n })]
  t.match(await faultsOf(dearer), /are not those/)
})

t.test('what moved after the last line of this shard makes a statement too old', async (t) => {
  const later = [...RAIL, line('late', 4)]
  t.match(await faultsOf(RAIL, railWith(later)), /pout_late, executed at/)
  t.equal(await faultsOf(RAIL, railWith(later, RAIL)), '', 'another shard goes on')
  const ofAnother = line('other', 1)
  t.match(await faultsOf(RAIL, railWith([...RAIL, ofAnother], RAIL)), /has 5 .* made 6/)
})

t.test('a statement has what the rail has accepted and not executed', async (t) => {
  const faults = (open: readonly string[] | null, ...accepted: string[]): Promise<string> =>
    faultsOf(RAIL, railWith(RAIL, RAIL, open), undefined, accepted)
  t.equal(await faults(['one', 'two'], 'two', 'one'), '')
  t.equal(await faults(['one', 'two'], 'one'), 'it has 1 accepted instruction, and the rail has 2')
  t.equal(await faults([], 'one'), 'it has 1 accepted instruction, and the rail has 0')
  const others = 'its 2 accepted instructions are not those that the rail has'
  t.equal(await faults(['one', 'two'], 'one', 'other'), others)
  t.equal(await faults(null), 'the rail does not report what it has accepted and not executed')
  const checker = createStatementChecker(() => Promise.resolve(null), railWith(RAIL, RAIL, ['one']))
  const { rail } = await checker.check(figuresOf(RAIL, ['one']))
  t.match(rail?.sums.at(-1), { movement: 'accepted', count: 1, amount: 125_000n })
})

t.test('the figures of accepted instructions pass approval requests and the wire', async (t) => {
  const figures = figuresOf(RAIL, ['one'])
  t.same(readFigures(storedFigures(figures)), figures)
  const { accepted, accepted_digest, ...earlier } = storedFigures(figures)
  t.same(readFigures(earlier), figuresOf(RAIL), 'a request of an earlier version has none')
  t.equal(readFigures({ ...earlier, accepted: accepted!, accepted_digest: 'x' }), null)
  const mixed = { ...earlier, accepted: earlier.sums, accepted_digest: accepted_digest! }
  t.equal(readFigures(mixed), null)
})

t.test('a rail that cannot tell or does not answer proves no statement', async (t) => {
  const reason = 'the rail did not answer'
  const silent = (): Promise<SummaryAnswer> => Promise.resolve({ kind: 'unknown', reason })
  t.equal(await faultsOf(RAIL, silent), 'the rail did not answer, so nothing proves the statement')
})

t.test('the newest submission is that of the newest submitted payments', async (t) => {
  const { store, raw } = await openNewBooks(t)
  t.equal(await store.marks.newestSubmission(), null)
  await raw.exec(
    `INSERT INTO payouts (id, tenant, state, reference, beneficiary, context) VALUES
       ('pout_1', 'demo_sandbox', 'completed', '', '', '{"handedOverAt":5}'),
       ('pout_2', 'demo_sandbox', 'completed', '', '', '{"handedOverAt":7}'),
       ('pout_3', 'demo_sandbox', 'processing', '', '', '{"waits":9}'),
       ('pout_4', 'demo_sandbox', 'processing', '', '', '{"damaged')`,
  )
  t.equal(await store.marks.newestSubmission(), 7, 'what waits for the rail is not submitted')
  await raw.exec(
    `INSERT INTO intents (id, tenant, state, confirmed_at, context) VALUES
       ('pi_1', 'demo_sandbox', 'captured', 8, '{"handedOverAt":8}'),
       ('pi_2', 'demo_sandbox', 'captured', 2, '{"handedOverAt":2}'),
       ('pi_3', 'demo_sandbox', 'authorized', 9, '{}')`,
  )
  t.equal(await store.marks.newestSubmission(), 8)
})

t.test('the newest execution of a rail is of a payment that it has under its own id', async (t) => {
  const { store, raw } = await openNewBooks(t)
  t.equal(await store.marks.newestExecuted('sandbox'), null)
  const executed = (more = {}): string =>
    JSON.stringify({ handedOverAt: 5, transactionId: 'TX', ...more })
  const [first, second] = ['pout_01M0000000000000000000000A', 'pout_01M0000000000000000000000B']
  const [matched, other] = ['pout_01M0000000000000000000000C', 'pout_01M0000000000000000000000D']
  await raw.exec(
    `INSERT INTO payouts (id, tenant, state, reference, beneficiary, context) VALUES
       ('${first}', 'demo_sandbox', 'completed', '', '', '${executed()}'),
       ('${second}', 'acme_production', 'reversed', '', '', '${executed({ rail: 'sandbox' })}'),
       ('${matched}', 'demo_sandbox', 'completed', '', '', '${executed()}'),
       ('${other}', 'demo_sandbox', 'completed', '', '', '${executed({ rail: 'bank_a' })}'),
       ('pout_2', 'demo_sandbox', 'processing', '', '', '{"handedOverAt":7}'),
       ('pout_3', 'demo_sandbox', 'processing', '', '', '{"damaged')`,
  )
  await raw.exec(`INSERT INTO recoveries (number, cause, entered_at, stops)
      VALUES (1, 'a test', 1, 'writes');
    INSERT INTO orphan_executions (instruction, recovery, amount, currency, transaction_id,
      executed_at, status, matched_to, resolved_at)
    VALUES ('pout_lost', 1, 5, 'THB', 'TX', 1, 'matched', '${matched}', 2)`)
  const tenant = 'acme_production'
  t.same(await store.marks.newestExecuted('sandbox'), { id: second, tenant })
  t.same(await store.marks.newestExecuted('bank_a'), { id: other, tenant: 'demo_sandbox' })
  t.equal(await store.marks.newestExecuted('bank_b'), null)
  const context = executed({ confirmation: { rail: 'bank_a' } })
  const intent = 'pi_01M1000000000000000000000A'
  await raw.exec(
    `INSERT INTO intents (id, tenant, state, confirmed_at, context)
       VALUES ('${intent}', 'demo_sandbox', 'captured', 8, '${context}')`,
  )
  t.same(await store.marks.newestExecuted('bank_a'), { id: intent, tenant: 'demo_sandbox' })
})
