/** A program that runs and no longer works: found out, ended, started again. */
import { join } from 'node:path'
import t from 'tap'
import { plus, SECOND, systemClock } from '../../src/base/clock.js'
import { keep } from '../../src/supervisor/keeper.js'
import { eventually } from '../support/eventually.js'

t.test('a program whose books are behind is not started again', async (t) => {
  const folder = t.testdir()
  const refused: (readonly [why: string, exitCode: number])[] = []
  const lost: string[] = []
  const ends = { at: 'its start' }
  const keepOne = (log: string) =>
    keep({
      name: 'books',
      program: () => ({
        command: '/bin/sh',
        arguments: ['-c', ends.at === 'its start' ? 'echo behind; exit 78' : 'read x; exit 78'],
        environment: process.env,
        serves: () => (ends.at === 'its start' ? undefined : {}),
      }),
      logPath: join(folder, log),
      clock: systemClock,
      askEveryMs: 5,
      isStopping: () => false,
      onReady: () => undefined,
      onLost: (why) => lost.push(why),
      onRefused: (why, exitCode) => refused.push([why, exitCode]),
    })
  await t.rejects(keepOne('start.log').start(), {
    name: 'CannotStart',
    message: 'books does not start: behind',
    exitCode: 78,
  })
  ends.at = 'later'
  const keeper = keepOne('later.log')
  await keeper.start()
  await eventually('it is told', () => refused.length === 1)
  t.same([refused, lost, keeper.restarts], [[['', 78]], [], 0])
  t.notOk(keeper.isReady)
  await keeper.stop()
})

t.test('a program that goes silent is started again, one that pauses is not', async (t) => {
  const lost: string[] = []
  const pauses: number[] = []
  let aheadMs = 0
  let stopping = false
  let asked = 0
  /** Whether the question of this number is answered. */
  let answersTo = (number: number): boolean => number % 3 === 0
  const keeper = keep({
    name: 'sleeper',
    program: () => ({
      command: '/bin/sleep',
      arguments: ['60'],
      environment: process.env,
      serves: () => ({}),
      answers: () => Promise.resolve(answersTo(++asked)),
    }),
    logPath: join(t.testdir(), 'sleeper.log'),
    clock: { now: () => plus(systemClock.now(), aheadMs) },
    askEveryMs: 5,
    isStopping: () => stopping,
    onReady: () => undefined,
    onLost: (why, againAfterMs) => {
      lost.push(why)
      pauses.push(againAfterMs)
    },
    onRefused: () => undefined,
  })
  await keeper.start()
  const { pid } = keeper
  await eventually('it was asked often', () => asked >= 12)
  t.same([keeper.pid, lost], [pid, []], 'two questions without an answer are a pause')

  answersTo = () => false
  await eventually('it is lost', () => lost.length === 1)
  answersTo = () => true
  t.same(lost, ['it does not answer any more'])
  await eventually('it serves again', () => keeper.isReady && keeper.pid !== pid)
  t.equal(keeper.restarts, 1)

  process.kill(keeper.pid ?? 0, 'SIGKILL')
  await eventually('it is lost again', () => lost.length === 2)
  t.same(lost[1], 'signal SIGKILL', 'what was before is forgotten')
  await eventually('it serves', () => keeper.isReady && keeper.restarts === 2)

  aheadMs = 31 * SECOND
  process.kill(keeper.pid ?? 0, 'SIGKILL')
  await eventually('it serves once more', () => keeper.isReady && keeper.restarts === 3)
  t.same(pauses, [200, 400, 200], 'twice as long each time, until it served for half a minute')
  stopping = true
  await keeper.stop()
})

t.test('a program that is long in coming is waited for without a warning', async (t) => {
  const warnings: Error[] = []
  const hear = (warning: Error): void => void warnings.push(warning)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  let looks = 0
  const keeper = keep({
    name: 'sleeper',
    program: () => ({
      command: '/bin/sleep',
      arguments: ['60'],
      environment: process.env,
      serves: () => (++looks > 30 ? {} : undefined),
    }),
    logPath: join(t.testdir(), 'sleeper.log'),
    clock: systemClock,
    isStopping: () => true,
    onReady: () => undefined,
    onLost: () => undefined,
    onRefused: () => undefined,
  })
  await keeper.start()
  await keeper.stop()
  await new Promise((resolve) => setImmediate(resolve))
  t.same(
    warnings.map(({ name, message }) => `${name}: ${message}`),
    [],
  )
})
