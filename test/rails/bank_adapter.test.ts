/** An adapter and a bank that fails, contradicts and forgets: nothing is guessed, nothing lost. */
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { plus, systemClock } from '../../src/base/clock.js'
import type { EffectId } from '../../src/base/ids.js'
import type { Bank, BankOutcome, BankReceiver } from '../../src/rails/adapter/bank.js'
import { startBankAdapter } from '../../src/rails/adapter/bank_adapter.js'
import { BANK_JOURNAL_SCHEMA, openJournal, type Journal } from '../../src/rails/adapter/journal.js'
import type { Instruction, Rail } from '../../src/rails/rail.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { withEveryRole } from '../support/callers.js'
import { aLinkedListener, anInstruction, random, shortFolder, TOKEN, until } from './harness.js'

const paid = ({ id, amount, currency, destination }: Instruction): BankOutcome => ({
  ...{ kind: 'executed', transactionId: `t_${id}`, amount, currency },
  destinationAccount: destination.account,
})
const lost = (): Promise<never> => Promise.reject(new Error('connection reset'))

interface Called {
  readonly kind: 'submit' | 'query' | 'recall'
  readonly id: EffectId
}
type Answers = Partial<Pick<Bank, 'submit' | 'query' | 'recall' | 'finalityWindowMs'>>

/** An adapter on the folder with a bank that answers so; absent answers are lost. */
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
  return { address: adapter.address, journal, calls, lines, say, close }
}

const instruct = (rail: Rail, instruction: Instruction): void =>
  rail.send([{ kind: 'instruct', instruction }])

const stateOf = async (journal: Journal, { id }: Instruction): Promise<string | undefined> =>
  (await journal.find([id]))[0]?.state

t.test('a lost answer is asked for, and not submitted again', async (t) => {
  const { address, calls } = await anAdapter(t, shortFolder(t), {
    query: (instruction) => Promise.resolve(paid(instruction)),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  const report = await rail.waitFor(instruction.id, 'executed')
  t.match(report, { amount: instruction.amount, transactionId: `t_${instruction.id}` })
  t.same(
    calls.map(({ kind }) => kind),
    ['submit', 'query'],
  )
})

t.test('a payment that the bank does not know is submitted again', async (t) => {
  let submissions = 0
  const { address, calls } = await anAdapter(t, shortFolder(t), {
    submit: (instruction) => (++submissions === 1 ? lost() : Promise.resolve(paid(instruction))),
    query: () => Promise.resolve({ kind: 'not_found' }),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  await rail.waitFor(instruction.id, 'executed')
  t.same(
    calls.map(({ kind }) => kind),
    ['submit', 'query', 'submit'],
  )
})

t.test('inside the finality window `not_found` proves nothing', async (t) => {
  const { address, calls, journal } = await anAdapter(t, shortFolder(t), {
    finalityWindowMs: 600_000,
    query: () => Promise.resolve({ kind: 'not_found' }),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  await until('the bank is asked twice', () => calls.length >= 3)
  t.same(new Set(calls.slice(1).map(({ kind }) => kind)), new Set(['query']))
  t.equal(await stateOf(journal, instruction), 'pending')
})

t.test('what the bank said before the end of the finality window proves nothing', async (t) => {
  let passed = 0
  let questions = 0
  const answers: Answers = {
    finalityWindowMs: 60_000,
    query: (instruction) => {
      if (++questions > 1) return Promise.resolve(paid(instruction))
      passed = 600_000 // the answer is under way
      return Promise.resolve({ kind: 'not_found' })
    },
  }
  const clock = { now: () => plus(systemClock.now(), passed) }
  const { address, calls } = await anAdapter(t, shortFolder(t), answers, clock)
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction({ notAfter: plus(systemClock.now(), 300_000) })
  instruct(rail, instruction)
  await rail.waitFor(instruction.id, 'executed')
  t.same(
    rail.about(instruction.id).map(({ status }) => status),
    ['executed'],
    'the payment came in after the question',
  )
  t.same(
    calls.map(({ kind }) => kind),
    ['submit', 'query', 'query'],
  )
})

t.test('an unknown payment in a message counts as of the question that it names', async (t) => {
  let passed = 0
  const clock = { now: () => plus(systemClock.now(), passed) }
  const bank = await anAdapter(t, shortFolder(t), { finalityWindowMs: 60_000 }, clock)
  const rail = await aLinkedListener(t, bank.address)
  const instruction = anInstruction({ notAfter: plus(systemClock.now(), 300_000) })
  instruct(rail, instruction)
  await until('the bank is asked', () => bank.calls.some(({ kind }) => kind === 'query'))
  const early = clock.now()
  passed = 600_000
  await bank.say(instruction.id, { kind: 'not_found' })
  await bank.say(instruction.id, { kind: 'not_found', askedAt: early })
  t.equal(await stateOf(bank.journal, instruction), 'pending', 'it can have come in since')
  await bank.say(instruction.id, { kind: 'not_found', askedAt: clock.now() })
  t.match(await rail.waitFor(instruction.id, 'refused'), { refusal: 'expired' })
})

t.test('a payment that the bank never got is refused after its `not_after`', async (t) => {
  let passed = 0
  const answers: Answers = {
    submit: () => {
      passed = 600_000
      return lost()
    },
    query: () => Promise.resolve({ kind: 'not_found' }),
  }
  const clock = { now: () => plus(systemClock.now(), passed) }
  const { address, calls } = await anAdapter(t, shortFolder(t), answers, clock)
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction({ notAfter: plus(systemClock.now(), 300_000) })
  instruct(rail, instruction)
  t.match(await rail.waitFor(instruction.id, 'refused'), { refusal: 'expired' })
  t.equal(calls.filter(({ kind }) => kind === 'submit').length, 1)
})

t.test('a payment under way at a stop is asked for after the start', async (t) => {
  const folder = shortFolder(t)
  const first = await anAdapter(t, folder, {})
  const rail = await aLinkedListener(t, first.address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  await until('the bank is called', () => first.calls.length > 0)
  await first.close()
  const found: Instruction[] = []
  const second = await anAdapter(t, folder, {
    query: (asked) => {
      found.push(asked)
      return Promise.resolve(paid(asked))
    },
  })
  await rail.waitFor(instruction.id, 'executed')
  t.same(
    second.calls.map(({ kind }) => kind),
    ['query'],
  )
  t.same(found[0], instruction, 'with the whole instruction')
  const file = await openDatabase(join(folder, 'rail.db'), { readOnly: true })
  const rows = JSON.stringify(await file.all('SELECT * FROM instructions'))
  await file.close()
  t.notMatch(rows, instruction.destination.account)
  t.notMatch(rows, instruction.destination.name)
})

t.test('what the bank executed is reported, not what was instructed', async (t) => {
  const { address, journal } = await anAdapter(t, shortFolder(t), {
    submit: (instruction) =>
      Promise.resolve({
        ...paid(instruction),
        amount: 1n,
        destinationAccount: '42',
      } as BankOutcome),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  t.match(await rail.waitFor(instruction.id, 'executed'), { amount: 1n, destinationAccount: '42' })
  t.match(await journal.find([instruction.id]), [{ amount: 1n, account: '42' }])
})

t.test('a rejected payment that the bank executes is reported as executed', async (t) => {
  const { address, say, lines } = await anAdapter(t, shortFolder(t), {
    submit: () => Promise.resolve({ kind: 'refused', refusal: 'rejected' }),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  await rail.waitFor(instruction.id, 'refused')
  await say(instruction.id, paid(instruction))
  await rail.waitFor(instruction.id, 'executed')
  t.ok(lines.some((line) => line.includes('the bank contradicts itself')))
  await say(instruction.id, { kind: 'refused', refusal: 'rejected' })
  await say(instruction.id, paid(instruction))
  rail.send([{ kind: 'query', id: instruction.id, environment: 'sandbox' }])
  await until('the query is answered', () => rail.about(instruction.id).at(-1)?.reportId === null)
  t.equal(rail.about(instruction.id).at(-1)?.status, 'executed')
})

t.test('a movement of no amount changes nothing', async (t) => {
  const { address, journal, lines, say } = await anAdapter(t, shortFolder(t), {})
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  const { id } = instruction
  instruct(rail, instruction)
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
  const { address, say, lines } = await anAdapter(t, shortFolder(t), {
    submit: async (instruction) => {
      await say(instruction.id, paid(instruction))
      return paid(instruction)
    },
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  instruct(rail, instruction)
  await rail.waitFor(instruction.id, 'executed')
  const unknown = anInstruction()
  await say(unknown.id, paid(unknown))
  await say(instruction.id, { ...paid(instruction), kind: 'returned' } as BankOutcome)
  await rail.waitFor(instruction.id, 'returned')
  t.equal(rail.about(instruction.id).length, 2)
  t.same(rail.about(unknown.id), [])
  const told = lines.filter((line) => line.includes('what the journal does not have'))
  t.match(told, [unknown.id], 'an operator must look')
  t.equal(told.length, 1)
})

t.test('a recall that the bank refuses', async (t) => {
  const { address, calls } = await anAdapter(t, shortFolder(t), {
    submit: (instruction) => Promise.resolve(paid(instruction)),
    recall: () => Promise.resolve({ kind: 'recall_refused' }),
  })
  const rail = await aLinkedListener(t, address)
  const instruction = anInstruction()
  const { id } = instruction
  instruct(rail, instruction)
  await rail.waitFor(id, 'executed')
  rail.send([{ kind: 'recall', id, reason: 'refund', environment: 'sandbox' }])
  await rail.waitFor(id, 'recall_refused')
  t.equal(calls.filter(({ kind }) => kind === 'recall').length, 1)
})
