/** An adapter and a bank that fails, contradicts and forgets: nothing is guessed, nothing lost. */
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { plus, systemClock } from '../../src/base/clock.js'
import type { EffectId } from '../../src/base/ids.js'
import type { Bank, BankOutcome, BankReceiver } from '../../src/rails/adapter/bank.js'
import { startBankAdapter } from '../../src/rails/adapter/bank_adapter.js'
import { BANK_JOURNAL_SCHEMA, openJournal, type Journal } from '../../src/rails/adapter/journal.js'
import type { Instruction } from '../../src/rails/rail.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { withEveryRole } from '../support/callers.js'
import { aLinkedListener, anInstruction, random, shortFolder, TOKEN, until } from './harness.js'

const paid = ({ id, amount, currency, destination }: Instruction): BankOutcome => ({
  ...{ kind: 'executed', transactionId: `t_${id}`, amount, currency },
  destinationAccount: destination.account,
})
const lost = (): Promise<never> => Promise.reject(new Error('connection reset'))
const pays = (instruction: Instruction) => Promise.resolve(paid(instruction))
const knowsNothing = () => Promise.resolve({ kind: 'not_found' } as const)

interface Called {
  readonly kind: 'submit' | 'query' | 'recall'
  readonly id: EffectId
}
type Answers = Partial<Pick<Bank, 'submit' | 'query' | 'recall' | 'finalityWindowMs'>>

/** An adapter with a bank that answers so, and its listener; absent answers are lost. */
async function aLinkedAdapter(t: Test, answers: Answers, clock = systemClock) {
  const { address, ...adapter } = await anAdapter(t, shortFolder(t), answers, clock)
  return { ...adapter, rail: await aLinkedListener(t, address) }
}

async function anAdapter(t: Test, folder: string, answers: Answers, clock = systemClock) {
  const calls: Called[] = []
  const lines: string[] = []
  let receive: BankReceiver = () => Promise.resolve()
  const called = (kind: Called['kind'], { id }: Instruction): void => void calls.push({ kind, id })
  const bank: Bank = {
    name: 'bank',
    finalityWindowMs: answers.finalityWindowMs ?? 0,
    submit: (instruction, receivedAt) => {
      called('submit', instruction)
      return answers.submit?.(instruction, receivedAt) ?? lost()
    },
    query: (instruction) => {
      called('query', instruction)
      return answers.query?.(instruction) ?? lost()
    },
    recall: (instruction, reason) => {
      called('recall', instruction)
      return answers.recall?.(instruction, reason) ?? lost()
    },
    listen: (given) => {
      receive = given
      return Promise.resolve()
    },
  }
  const file = join(folder, 'rail.db')
  const journal = await openJournal({ file, schema: BANK_JOURNAL_SCHEMA, random })
  const adapter = await startBankAdapter({
    ...{ bank, journal, random, clock, callers: withEveryRole(TOKEN) },
    address: `unix:${join(folder, 'rail.sock')}`,
    log: pino({}, { write: (line) => void lines.push(line) }),
    fail: (error) => {
      throw error
    },
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= adapter.close().then(() => journal.close()))
  t.teardown(close)
  const say = (id: EffectId, outcome: BankOutcome): Promise<void> => receive(id, outcome)
  const kinds = (): readonly Called['kind'][] => calls.map(({ kind }) => kind)
  return { address: adapter.address, journal, calls, kinds, lines, say, close }
}

/** A clock of which the test makes time pass; an instruction that ends in five minutes of it. */
function aPassingClock() {
  let passed = 0
  const clock = { now: () => plus(systemClock.now(), passed) }
  const pass = (ms: number): void => void (passed = ms)
  return { clock, pass, soon: { notAfter: plus(systemClock.now(), 300_000) } }
}

const stateOf = async (journal: Journal, { id }: Instruction): Promise<string | undefined> =>
  (await journal.find([id]))[0]?.state

t.test('a lost answer is asked for, and not submitted again', async (t) => {
  const { rail, kinds } = await aLinkedAdapter(t, { query: pays })
  const { id, amount } = rail.pay()
  t.match(await rail.waitFor(id, 'executed'), { amount, transactionId: `t_${id}` })
  t.same(kinds(), ['submit', 'query'])
})

t.test('a payment that the bank does not know is submitted again', async (t) => {
  let submissions = 0
  const { rail, kinds } = await aLinkedAdapter(t, {
    submit: (instruction) => (++submissions === 1 ? lost() : pays(instruction)),
    query: knowsNothing,
  })
  await rail.waitFor(rail.pay().id, 'executed')
  t.same(kinds(), ['submit', 'query', 'submit'])
})

t.test('inside the finality window `not_found` proves nothing', async (t) => {
  const answers = { finalityWindowMs: 600_000, query: knowsNothing }
  const { rail, kinds, journal } = await aLinkedAdapter(t, answers)
  const instruction = rail.pay()
  await until('the bank is asked twice', () => kinds().length >= 3)
  t.same(new Set(kinds().slice(1)), new Set(['query']))
  t.equal(await stateOf(journal, instruction), 'pending')
})

t.test('what the bank said before the end of the finality window proves nothing', async (t) => {
  const { clock, pass, soon } = aPassingClock()
  let questions = 0
  const answers: Answers = {
    finalityWindowMs: 60_000,
    query: (instruction) => {
      if (++questions > 1) return pays(instruction)
      pass(600_000) // the answer is under way
      return knowsNothing()
    },
  }
  const { rail, kinds } = await aLinkedAdapter(t, answers, clock)
  const { id } = rail.pay(soon)
  await rail.waitFor(id, 'executed')
  t.same(rail.statusesOf(id), ['executed'], 'the payment came in after the question')
  t.same(kinds(), ['submit', 'query', 'query'])
})

t.test('an unknown payment in a message counts as of the question that it names', async (t) => {
  const { clock, pass, soon } = aPassingClock()
  const { rail, kinds, say, journal } = await aLinkedAdapter(t, { finalityWindowMs: 60_000 }, clock)
  const instruction = rail.pay(soon)
  const { id } = instruction
  await until('the bank is asked', () => kinds().includes('query'))
  const early = clock.now()
  pass(600_000)
  await say(id, { kind: 'not_found' })
  await say(id, { kind: 'not_found', askedAt: early })
  t.equal(await stateOf(journal, instruction), 'pending', 'it can have come in since')
  await say(id, { kind: 'not_found', askedAt: clock.now() })
  t.match(await rail.waitFor(id, 'refused'), { refusal: 'expired' })
})

t.test('a payment that the bank never got is refused after its `not_after`', async (t) => {
  const { clock, pass, soon } = aPassingClock()
  const answers: Answers = {
    submit: () => {
      pass(600_000)
      return lost()
    },
    query: knowsNothing,
  }
  const { rail, kinds } = await aLinkedAdapter(t, answers, clock)
  t.match(await rail.waitFor(rail.pay(soon).id, 'refused'), { refusal: 'expired' })
  t.equal(kinds().filter((kind) => kind === 'submit').length, 1)
})

t.test('a payment under way at a stop is asked for after the start', async (t) => {
  const folder = shortFolder(t)
  const first = await anAdapter(t, folder, {})
  const rail = await aLinkedListener(t, first.address)
  const instruction = rail.pay()
  await until('the bank is called', () => first.calls.length > 0)
  await first.close()
  const found: Instruction[] = []
  const second = await anAdapter(t, folder, {
    query: (asked) => {
      found.push(asked)
      return pays(asked)
    },
  })
  await rail.waitFor(instruction.id, 'executed')
  t.same(second.kinds(), ['query'])
  t.same(found[0], instruction, 'with the whole instruction')
  const file = await openDatabase(join(folder, 'rail.db'), { readOnly: true })
  const rows = JSON.stringify(await file.all('SELECT * FROM instructions'))
  await file.close()
  t.notMatch(rows, instruction.destination.account)
  t.notMatch(rows, instruction.destination.name)
})

t.test('what the bank executed is reported, not what was instructed', async (t) => {
  const other = { amount: 1n, destinationAccount: '42' }
  const { rail, journal } = await aLinkedAdapter(t, {
    submit: (instruction) => Promise.resolve({ ...paid(instruction), ...other } as BankOutcome),
  })
  const { id } = rail.pay()
  t.match(await rail.waitFor(id, 'executed'), other)
  t.match(await journal.find([id]), [{ amount: 1n, account: '42' }])
})

t.test('a rejected payment that the bank executes is reported as executed', async (t) => {
  const { rail, say, lines } = await aLinkedAdapter(t, {
    submit: () => Promise.resolve({ kind: 'refused', refusal: 'rejected' }),
  })
  const instruction = rail.pay()
  const { id } = instruction
  await rail.waitFor(id, 'refused')
  await say(id, paid(instruction))
  await rail.waitFor(id, 'executed')
  t.ok(lines.some((line) => line.includes('the bank contradicts itself')))
  await say(id, { kind: 'refused', refusal: 'rejected' })
  await say(id, paid(instruction))
  rail.send([{ kind: 'query', id, environment: 'sandbox' }])
  await until('the query is answered', () => rail.about(id).at(-1)?.reportId === null)
  t.equal(rail.about(id).at(-1)?.status, 'executed')
})

t.test('a movement of no amount changes nothing', async (t) => {
  const { rail, journal, lines, say } = await aLinkedAdapter(t, {})
  const instruction = rail.pay()
  const { id } = instruction
  await until('it is stored', async () => (await stateOf(journal, instruction)) === 'pending')
  const none = { transactionId: 't_1', amount: 0n, currency: instruction.currency }
  await say(id, { kind: 'executed', ...none })
  await say(id, { kind: 'returned', ...none })
  t.equal(await stateOf(journal, instruction), 'pending')
  await say(id, paid(instruction))
  await say(id, { kind: 'returned', ...none })
  t.equal(await stateOf(journal, instruction), 'executed')
  const told = lines.filter((line) => line.includes('a movement of no amount'))
  t.equal(told.length, 3)
})

t.test('a message of the bank before its answer, twice, and of an unknown id', async (t) => {
  const { rail, say, lines } = await aLinkedAdapter(t, {
    submit: async (instruction) => {
      await say(instruction.id, paid(instruction))
      return paid(instruction)
    },
  })
  const instruction = rail.pay()
  const { id } = instruction
  await rail.waitFor(id, 'executed')
  const unknown = anInstruction()
  await say(unknown.id, paid(unknown))
  await say(id, { ...paid(instruction), kind: 'returned' } as BankOutcome)
  await rail.waitFor(id, 'returned')
  t.equal(rail.about(id).length, 2)
  t.same(rail.about(unknown.id), [])
  const told = lines.filter((line) => line.includes('what the journal does not have'))
  t.match(told, [unknown.id], 'an operator must look')
  t.equal(told.length, 1)
})

t.test('a recall that the bank refuses', async (t) => {
  const { rail, kinds } = await aLinkedAdapter(t, {
    submit: pays,
    recall: () => Promise.resolve({ kind: 'recall_refused' }),
  })
  const { id } = rail.pay()
  await rail.waitFor(id, 'executed')
  rail.send([{ kind: 'recall', id, reason: 'refund', environment: 'sandbox' }])
  await rail.waitFor(id, 'recall_refused')
  t.equal(kinds().filter((kind) => kind === 'recall').length, 1)
})
