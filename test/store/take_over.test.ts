/** A take-over whose server is lost fails once, and leaves no promise without a handler. */
import t from 'tap'
import type { Connection } from '../../src/store/postgres/connection.js'
import { lostOr, NoAnswer } from '../../src/store/postgres/answers.js'
import { readOwner, takeOver } from '../../src/store/postgres/lease.js'
import { SILENT_LOG } from '../support/logs.js'

const ended = (): Promise<never> => Promise.reject(new Error('Connection terminated unexpectedly'))

t.test('the server is lost while a process takes over', async (t) => {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', (reason) => unhandled.push(reason))
  let fail: (fault: Error) => void = () => undefined
  const lateAnswer = new Promise<never>((_, reject) => (fail = reject))
  let pauses = 0
  const taking = takeOver(
    {
      connection: { all: () => lateAnswer, session: 1 } as unknown as Connection,
      background: { all: ended } as unknown as Connection,
      holder: 'one',
      // Of the two pauses only the first ends: that before the holder's session is ended.
      pause: () => (pauses++ === 0 ? Promise.resolve() : new Promise(() => undefined)),
      log: SILENT_LOG,
    },
    { epoch: 1, holder: 'other', beat: 0, session: 2 },
  )
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  fail(new Error('Connection terminated unexpectedly'))
  await t.rejects(taking, /terminated/)
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  t.same(unhandled, [])
})

t.test('a damaged number of the owner is named before it is counted on', async (t) => {
  const owner = { epoch: 1, holder: '', beat: 0, session: 2 }
  const readFrom = (row: object) => readOwner({ all: () => Promise.resolve([row]) as never })
  t.same(await readFrom(owner), owner)
  for (const name of ['epoch', 'beat'] as const) {
    for (const number of [2 ** 63, -1]) {
      await t.rejects(readFrom({ ...owner, [name]: number }), {
        message: `owner.${name} has the number ${number}, which is damaged: restore it`,
      })
    }
  }
})

t.test('the error of a lost connection is told from a refusal of the server', async (t) => {
  const refused = Object.assign(new Error('permission denied'), {
    severity: 'ERROR',
    code: '42501',
  })
  const ending = Object.assign(new Error('shutdown'), { severity: 'FATAL', code: '57P01' })
  t.equal(lostOr(refused), refused)
  t.ok(lostOr(ending) instanceof NoAnswer)
  for (const text of ['Connection terminated unexpectedly', 'read ECONNRESET', 'write EPIPE']) {
    t.ok(lostOr(new Error(text)) instanceof NoAnswer, text)
  }
  const bug = new TypeError('x is not a function')
  t.equal(lostOr(bug), bug)
})
