/** The number of jobs that run at once. */
import t from 'tap'
import { cpus } from 'node:os'
import { eventually } from '../support/eventually.js'
import { createJobQueue, testJob } from './jobs.js'
import { createIdleWatch, runJobs } from './run_jobs.js'

const JOBS = ['a', 'b', 'c', 'd', 'e'].map((name) => testJob(`test/${name}`, 'sqlite'))

/** Jobs that end when they are told to. */
function heldJobs() {
  const ends = new Map<string, () => void>()
  return {
    ends,
    running: () => [...ends.keys()].map((name) => name.slice('test/'.length)).join(''),
    run: ({ name }: { readonly name: string }) =>
      new Promise<void>((resolve) => {
        ends.set(name, () => {
          ends.delete(name)
          resolve()
        })
      }),
    end: (letter: string) => ends.get(`test/${letter}`)!(),
  }
}

t.test('more jobs run while the machine is idle, up to a bound', async (t) => {
  const { ends, run, running, end } = heldJobs()
  let isIdle = false
  const all = runJobs(createJobQueue(JOBS), run, {
    atLeast: 2,
    atMost: 4,
    isMachineIdle: () => isIdle,
    intervalMs: 1,
  })
  await eventually('two run', () => running() === 'ab')
  end('a')
  await eventually('the next has followed', () => running() === 'bc')
  isIdle = true
  await eventually('all run', () => running() === 'bcde')
  for (const finish of [...ends.values()]) finish()
  await all
  t.equal(running(), '')
})

t.test('no more jobs than the bound, and none beside those of a busy machine', async (t) => {
  for (const [atMost, isIdle] of [
    [2, true],
    [4, false],
  ] as const) {
    const { ends, run, running } = heldJobs()
    let looks = 0
    const all = runJobs(createJobQueue(JOBS), run, {
      atLeast: 2,
      atMost,
      isMachineIdle: () => (looks++, isIdle),
      intervalMs: 1,
    })
    await eventually('the machine was looked at often', () => looks > 5)
    t.equal(running(), 'ab')
    while (ends.size > 0) {
      for (const finish of [...ends.values()]) finish()
      await new Promise(setImmediate)
    }
    await all
  }
})

t.test('a machine is idle by the time of its cores and its free memory', async (t) => {
  const [core] = cpus()
  let times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 }
  let free = 8 * 1024 ** 3
  const isIdle = createIdleWatch(
    () => [{ ...core!, times }],
    () => free,
  )
  const pass = (user: number, idle: number): boolean => {
    times = { ...times, user: times.user + user, idle: times.idle + idle }
    return isIdle()
  }
  t.notOk(pass(800, 200))
  t.ok(pass(700, 300))
  t.notOk(pass(1_000, 0), 'since the last look')
  free = 1024 ** 3
  t.notOk(pass(0, 1_000))
})
