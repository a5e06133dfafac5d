/**
 * The checker of histories: right ones, wrong ones, random ones against a search of every order.
 */
import fc from 'fast-check'
import t from 'tap'
import { createRecorder, type Operation } from './history.js'
import { checkHistory, type Model } from './linearizability.js'

type Input = { readonly write: number } | 'read'
type Step = Operation<Input, number>

/** A register: a write gives what it wrote. */
const register: Model<number, Input, number> = {
  initial: 0,
  step: (state, input, output) => {
    if (input === 'read') return output === undefined || output === state ? [state] : []
    return output === undefined || output === input.write ? [input.write] : []
  },
  keyOf: String,
}

const write = (value: number, calledAt: number, returnedAt: number): Step => ({
  input: { write: value },
  output: returnedAt === Number.POSITIVE_INFINITY ? undefined : value,
  calledAt,
  returnedAt,
})
const read = (value: number, calledAt: number, returnedAt: number): Step => ({
  input: 'read',
  output: value,
  calledAt,
  returnedAt,
})
const LOST = Number.POSITIVE_INFINITY

const RIGHT: Readonly<Record<string, readonly Step[]>> = {
  'an empty history': [],
  'one after another': [write(1, 0, 1), read(1, 2, 3)],
  'a read beside a write sees the old value': [write(1, 0, 10), read(0, 2, 3)],
  'a read beside a write sees the new value': [write(1, 0, 10), read(1, 2, 3)],
  'two reads beside a write see old, then new': [write(1, 0, 10), read(0, 1, 2), read(1, 3, 4)],
  'a write without an answer never happened': [write(1, 0, LOST), read(0, 5, 6)],
  'a write without an answer happened late': [write(1, 0, LOST), read(0, 5, 6), read(1, 7, 8)],
  'writes beside each other in the order of the reads': [
    write(1, 0, 10),
    write(2, 0, 10),
    read(2, 11, 12),
  ],
  'an answer in the instant of a call is concurrent': [write(1, 0, 2), read(0, 2, 3)],
}

const WRONG: Readonly<Record<string, readonly Step[]>> = {
  'a stale read': [write(1, 0, 1), read(0, 2, 3)],
  'a value from the future': [read(1, 0, 1), write(1, 2, 3)],
  'a value that was never written': [write(1, 0, 1), read(2, 2, 3)],
  'two reads beside a write see new, then old': [write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)],
  'two readers disagree about the order of two writes': [
    write(1, 0, 10),
    write(2, 0, 10),
    read(1, 11, 12),
    read(2, 13, 14),
    read(1, 15, 16),
  ],
  'a write without an answer happened and was taken back': [
    write(1, 0, LOST),
    read(1, 5, 6),
    read(0, 7, 8),
  ],
  'a write without an answer took effect before its call': [read(1, 0, 1), write(1, 2, LOST)],
}

for (const [name, history] of Object.entries(RIGHT)) {
  t.test(`right: ${name}`, async (t) => {
    t.same(checkHistory(register, history), { kind: 'linearizable' })
  })
}

for (const [name, history] of Object.entries(WRONG)) {
  t.test(`wrong: ${name}`, async (t) => {
    const verdict = checkHistory(register, history)
    t.equal(verdict.kind, 'impossible')
    if (verdict.kind !== 'impossible') return
    t.equal(verdict.explained.length + verdict.unexplained.length, history.length)
    t.ok(
      verdict.unexplained.some(({ output }) => output !== undefined),
      'an answer that cannot follow is named',
    )
  })
}

t.test('a search that takes too long is not a verdict', async (t) => {
  const writes = Array.from({ length: 12 }, (_, number) => write(number + 1, 0, 100))
  const history = [...writes, read(99, 101, 102)]
  t.same(checkHistory(register, history, 50), { kind: 'undecided', steps: 51 })
  t.equal(checkHistory(register, history).kind, 'impossible', 'each set and state is tried once')
})

/** Every order of every subset that has all answers. */
function isExplained(history: readonly Step[], state: number): boolean {
  if (history.every(({ output }) => output === undefined)) return true
  return history.some((operation) => {
    const rest = history.filter((other) => other !== operation)
    if (rest.some(({ returnedAt }) => returnedAt < operation.calledAt)) return false
    const after = register.step(state, operation.input, operation.output)
    return after.some((next) => isExplained(rest, next))
  })
}

const anyStep: fc.Arbitrary<Step> = fc
  .record({
    value: fc.integer({ min: 0, max: 2 }),
    kind: fc.constantFrom('read', 'write', 'lost'),
    calledAt: fc.integer({ min: 0, max: 12 }),
    takes: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ value, kind, calledAt, takes }) => {
    if (kind === 'read') return read(value, calledAt, calledAt + takes)
    return write(value, calledAt, kind === 'lost' ? LOST : calledAt + takes)
  })

t.test('it agrees with a search of every order', async (t) => {
  const verdicts = { linearizable: 0, impossible: 0, undecided: 0 }
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 6 }), (history) => {
      const { kind } = checkHistory(register, history)
      verdicts[kind] += 1
      return (kind === 'linearizable') === isExplained(history, register.initial)
    }),
    { numRuns: 3_000, seed: 7 },
  )
  t.equal(verdicts.undecided, 0)
  t.ok(verdicts.linearizable > 100 && verdicts.impossible > 100, JSON.stringify(verdicts))
})

t.test('a recorder keeps answers, failures and times', async (t) => {
  let time = 0
  const recorder = createRecorder<string, number>(() => ++time)
  await recorder.record('answered', () => Promise.resolve(1))
  await recorder.record('unknown', () => Promise.resolve(undefined))
  await recorder.record('failed', () => Promise.reject(new Error('cut')))
  t.same(recorder.operations, [
    { input: 'answered', output: 1, calledAt: 1, returnedAt: 2 },
    { input: 'unknown', output: undefined, calledAt: 3, returnedAt: LOST },
    { input: 'failed', output: undefined, calledAt: 4, returnedAt: LOST },
  ])
})
