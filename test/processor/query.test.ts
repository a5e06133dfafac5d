/** Queries: how many may be under way, and what becomes of one that fails. */
import pino from 'pino'
import t from 'tap'
import { answer, type Answer } from '../../src/processor/cycle/group.js'
import { createReader, type Query, type Reading } from '../../src/processor/queries/query.js'

const READING = {} as Reading
const log = pino({ enabled: false })

t.test(
  'beyond a bound the next query is refused at once, and one that ends makes room',
  async (t) => {
    const reader = createReader(READING, log)
    const ends: (() => void)[] = []
    const waiting: Query = {
      name: 'waits',
      run: () => new Promise((resolve) => ends.push(() => resolve(answer({})))),
    }
    const prompt: Query = { name: 'prompt', run: () => Promise.resolve(answer({ data: [] })) }
    const underWay: Promise<Answer>[] = []
    let refused: Answer | undefined
    while (refused === undefined && underWay.length < 10_000) {
      const before = ends.length
      const run = reader.run(waiting)
      if (ends.length === before) refused = await run
      else underWay.push(run)
    }
    t.match(refused, { ok: false, code: 'configuration_error' })
    t.match(await reader.run(prompt), { ok: false }, 'it stays refused while all wait')
    ends[0]!()
    await underWay[0]
    t.match(await reader.run(prompt), { ok: true, view: { data: [] } })
    for (const end of ends) end()
    t.equal((await Promise.all(underWay)).filter(({ ok }) => ok).length, underWay.length)
  },
)

t.test('a query that throws is answered as an error, and holds no place', async (t) => {
  const reader = createReader(READING, log)
  const broken: Query = { name: 'broken', run: () => Promise.reject(new Error('no such table')) }
  for (let i = 0; i < 2_000; i += 1) {
    const told = await reader.run(broken)
    if (told.ok || told.code !== 'internal_error') t.fail('a failure was told as something else')
  }
  const prompt: Query = { name: 'prompt', run: () => Promise.resolve(answer({})) }
  t.match(await reader.run(prompt), { ok: true })
})
