/** Statements without an answer: which one is overdue, and since when. */
import t from 'tap'
import { createAnswers } from '../../src/store/postgres/answers.js'

const WITHIN_MS = 1_000

interface Asked {
  readonly done: Promise<string>
  answer(): Promise<void>
  fail(): Promise<void>
}

t.test('an answer forgets the oldest statement, which alone it can belong to', async (t) => {
  let now = 0
  const answers = createAnswers(() => now, WITHIN_MS)
  const ask = (): Asked => {
    let resolve: (text: string) => void
    let reject: (error: Error) => void
    const query = new Promise<string>((done, refuse) => ([resolve, reject] = [done, refuse]))
    const done = answers.ask(() => query)
    return {
      done,
      answer: async () => {
        resolve('rows')
        t.equal(await done, 'rows')
      },
      fail: async () => {
        reject(new Error('refused'))
        await t.rejects(done, /refused/)
      },
    }
  }
  const first = ask()
  now = 400
  const second = ask()
  now = 999
  t.equal(answers.overdueSince(), undefined)
  now = 1_000
  t.equal(answers.overdueSince(), 0, 'the first')
  await first.answer()
  t.equal(answers.overdueSince(), undefined, 'the second is waited for since 400')
  now = 1_300
  const third = ask()
  now = 1_400
  t.equal(answers.overdueSince(), 400, 'the second, not the one that was sent last')
  await second.fail()
  t.equal(answers.overdueSince(), undefined, 'an error is an answer')
  now = 2_300
  t.equal(answers.overdueSince(), 1_300)
  await third.answer()
  now = 9_000
  t.equal(answers.overdueSince(), undefined, 'nothing is waited for')
})
