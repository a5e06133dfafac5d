/** The sandbox rail with links of several shards: a report goes to the shard of its instruction. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Instruction, Rail, RailReport } from '../../src/rails/rail.js'
import type { Journal } from '../../src/rails/sandbox/journal.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { aLinkedListener, aRail, shortFolder, until } from './harness.js'

const acknowledge = (rail: Rail, { reportId }: RailReport): void =>
  rail.send([{ kind: 'acknowledge', reportId: reportId ?? '' }])

const untilReceived = (journal: Journal, { id }: Instruction): Promise<void> =>
  until('the instruction is in the journal', async () => (await journal.find([id])).length === 1)

const aLinkOf = (t: Test, address: string, shard: string) => aLinkedListener(t, address, { shard })
const linksOfTwo = async (t: Test, address: string) =>
  [await aLinkOf(t, address, 'books_1'), await aLinkOf(t, address, 'books_2')] as const

t.test('reports go to the link of the shard, whichever opened last', async (t) => {
  const { address } = await aRail(t, shortFolder(t))
  const [one, two] = await linksOfTwo(t, address)
  const [first, second] = [one.pay(), two.pay()]
  const { shard } = await one.waitFor(first.id, 'executed')
  t.equal(shard, 'books_1')
  await two.waitFor(second.id, 'executed')
  t.same(one.about(second.id), [])
  t.same(two.about(first.id), [])
})

t.test('a report waits for a link of its shard', async (t) => {
  const { address, journal } = await aRail(t, shortFolder(t), { delayMs: 50 })
  const [one, two] = await linksOfTwo(t, address)
  const instruction = one.pay()
  await untilReceived(journal, instruction)
  await one.close()
  await until('the instruction is executed', async () => {
    const [entry] = await journal.find([instruction.id])
    return entry?.state === 'executed'
  })
  const next = await aLinkOf(t, address, 'books_1')
  await next.waitFor(instruction.id, 'executed')
  t.same(two.about(instruction.id), [])
})

t.test(
  'a new link of a shard gets the reports that the closed one did not acknowledge',
  async (t) => {
    const { address } = await aRail(t, shortFolder(t))
    const next = await aLinkOf(t, address, 'books_1')
    const former = await aLinkOf(t, address, 'books_1')
    const [kept, acknowledged] = [former.pay(), former.pay()]
    await former.waitFor(kept.id, 'executed')
    acknowledge(former, await former.waitFor(acknowledged.id, 'executed'))
    t.same(next.about(kept.id), [], 'the newest link gets the report')
    await former.close()
    await next.waitFor(kept.id, 'executed')
  },
)

t.test('an instruction without a shard belongs to the lowest one', async (t) => {
  const { address, journal } = await aRail(t, shortFolder(t), { delayMs: 50 })
  const two = await aLinkOf(t, address, 'books_2')
  const former = await aLinkedListener(t, address)
  const one = await aLinkOf(t, address, 'books_1')
  const instruction = former.pay()
  await untilReceived(journal, instruction)
  await former.close()
  await one.waitFor(instruction.id, 'executed')
  t.same(two.about(instruction.id), [])
})

t.test('Describe names the newest instruction of the shard', async (t) => {
  const folder = shortFolder(t)
  const { address, journal, close } = await aRail(t, folder)
  const [one, two] = await linksOfTwo(t, address)
  const first = one.pay()
  await one.waitFor(first.id, 'executed')
  const second = two.pay()
  await two.waitFor(second.id, 'executed')
  const ofOne = await aLinkOf(t, address, 'books_1')
  t.equal(ofOne.describe().newestInstruction, first.id)
  t.equal(journal.newest(), second.id)
  t.equal(journal.newest('books_3'), null)
  await close()
  const file = await openDatabase(join(folder, 'rail.db'), { readOnly: true })
  t.same(await file.all('SELECT shard FROM instructions ORDER BY shard'), [
    { shard: 'books_1' },
    { shard: 'books_2' },
  ])
  await file.close()
  const again = await aRail(t, folder)
  t.equal(again.journal.newest('books_1'), first.id, 'also after a restart')
})

t.test('a link is answered about an instruction of another shard', async (t) => {
  const { address } = await aRail(t, shortFolder(t))
  const [one, two] = await linksOfTwo(t, address)
  const foreign = one.pay()
  await one.waitFor(foreign.id, 'executed')
  const own = two.pay()
  await two.waitFor(own.id, 'executed')
  const environment = 'sandbox'
  two.send([
    { kind: 'query', id: foreign.id, environment },
    { kind: 'query', id: own.id, environment },
  ])
  await until('both instructions are answered', () =>
    two.about(own.id).some(({ reportId }) => !reportId),
  )
  const [answer, ...more] = two.about(foreign.id)
  t.match(answer, { reportId: null, status: 'executed', shard: 'books_1' }, 'it may have moved')
  t.same(more, [], 'and gets no report of it')
})
