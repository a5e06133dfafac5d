/** Restarts, back-off and liveness of a managed process. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plus, SECOND, systemClock } from '../../src/base/clock.js'
import {
  manageProcess,
  type ManagedProcess,
  type ManagedProcessOptions,
} from '../../src/supervisor/managed_process.js'
import type { Program } from '../../src/supervisor/program.js'
import { eventually } from '../support/eventually.js'
import { isAlive } from '../support/program.js'

const SLEEPS = 'exec sleep 60'

/** A managed shell. By default it is ready at once, and not restarted. */
function manage(
  t: Test,
  name: string,
  program: () => Partial<Program> & { readonly script: string },
  options: Partial<ManagedProcessOptions> = {},
): ManagedProcess {
  return manageProcess({
    name,
    program: () => {
      const { script, ...more } = program()
      const shell = { command: '/bin/sh', arguments: ['-c', script], environment: process.env }
      return { ...shell, readyWhen: () => ({}), ...more }
    },
    logPath: join(t.testdir(), `${name}.log`),
    clock: systemClock,
    isStopping: () => true,
    onReady: () => undefined,
    onLost: () => undefined,
    onRefused: () => undefined,
    ...options,
  })
}

t.test('a program whose books are behind is not started again', async (t) => {
  const refused: (readonly [why: string, exitCode: number])[] = []
  const lost: string[] = []
  const ends = { at: 'its start' }
  const books = () =>
    manage(
      t,
      'books',
      () => ({
        script: ends.at === 'its start' ? 'echo behind; exit 78' : 'read x; exit 78',
        readyWhen: () => (ends.at === 'its start' ? undefined : {}),
      }),
      {
        ...{ probeIntervalMs: 5, isStopping: () => false },
        onLost: (why) => lost.push(why),
        onRefused: (why, exitCode) => refused.push([why, exitCode]),
      },
    )
  await t.rejects(books().start(), {
    name: 'StartupError',
    message: 'books does not start: behind',
    exitCode: 78,
  })
  ends.at = 'later'
  const managed = books()
  await managed.start()
  await eventually('the refusal is reported', () => refused.length === 1)
  t.same([refused, lost, managed.restarts], [[['', 78]], [], 0])
  t.notOk(managed.isReady)
  await managed.stop()
})

/** One of our programs: it counts the probes that arrive, and answers them if it is told to. */
const probed = (answers: boolean): Partial<Program> & { readonly script: string } => {
  const program = `let probes = 0
    process.on('message', (message) => {
      if (!('probeId' in message)) return
      if (${answers}) process.send(message)
      process.send({ ready: true, probes: ++probes })
    })
    process.send({ ready: true })`
  return { script: `exec node -e "${program}"`, readyWhen: 'message', probeTimeoutMs: 500 }
}

t.test('a program of ours that no longer answers probes is restarted', async (t) => {
  const lost: string[] = []
  let probes = 0
  let stopping = false
  const managed = manage(t, 'answers', () => probed(true), {
    ...{ probeIntervalMs: 5, isStopping: () => stopping },
    onReport: ({ probes: count = 0 }) => void (probes = Number(count)),
    onLost: (why) => lost.push(why),
  })
  t.teardown(() => {
    stopping = true
    return managed.stop()
  })
  await managed.start()
  await eventually('it has answered', () => probes >= 4)
  const { pid = 0 } = managed
  process.kill(pid, 'SIGSTOP')
  await eventually('it was killed', () => !isAlive(pid))
  await eventually('another one is ready', () => managed.isReady && managed.pid !== pid)
  t.equal(lost[0], 'it does not respond')
})

t.test('a program that has never answered a probe is left alone', async (t) => {
  let probes = 0
  const managed = manage(t, 'silent', () => ({ ...probed(false), probeTimeoutMs: 5 }), {
    probeIntervalMs: 5,
    onReport: ({ probes: count = 0 }) => void (probes = Number(count)),
  })
  t.teardown(() => managed.stop())
  await managed.start()
  const { pid } = managed
  await eventually('it got more probes than it may miss', () => probes >= 8)
  t.same([managed.pid, managed.restarts], [pid, 0])
})

t.test('a program is restarted after three missed probes, not after two', async (t) => {
  const lost: string[] = []
  const pauses: number[] = []
  let aheadMs = 0
  let stopping = false
  let probes = 0
  /** Whether the probe of this number is answered. */
  let answersTo = (number: number): boolean => number % 3 === 0
  const isAlive = () => Promise.resolve(answersTo(++probes))
  const managed = manage(t, 'sleeper', () => ({ script: SLEEPS, isAlive }), {
    clock: { now: () => plus(systemClock.now(), aheadMs) },
    ...{ probeIntervalMs: 5, isStopping: () => stopping },
    onLost: (why, againAfterMs) => {
      lost.push(why)
      pauses.push(againAfterMs)
    },
  })
  await managed.start()
  const { pid } = managed
  await eventually('the program was probed 12 times', () => probes >= 12)
  t.same([managed.pid, lost], [pid, []], 'two missed probes are tolerated')

  answersTo = () => false
  await eventually('the program has ended', () => lost.length === 1)
  answersTo = () => true
  t.same(lost, ['it does not respond'])
  await eventually('the program is ready again', () => managed.isReady && managed.pid !== pid)
  t.equal(managed.restarts, 1)

  process.kill(managed.pid ?? 0, 'SIGKILL')
  await eventually('the program has ended again', () => lost.length === 2)
  t.same(lost[1], 'signal SIGKILL', 'the earlier reason is not repeated')
  await eventually('the program is ready', () => managed.isReady && managed.restarts === 2)

  aheadMs = 31 * SECOND
  process.kill(managed.pid ?? 0, 'SIGKILL')
  await eventually(
    'the program is ready once more',
    () => managed.isReady && managed.restarts === 3,
  )
  t.same(pauses, [200, 400, 200], 'the delay doubles until a run lasts 30 seconds')
  stopping = true
  await managed.stop()
})

t.test('a program is replaced by what is on disk', async (t) => {
  const lost: string[] = []
  const refused: string[] = []
  /** What the next run does. */
  const disk = { script: SLEEPS, canReplace: false, isReady: true }
  let stopping = false
  const managed = manage(
    t,
    'books',
    () => ({
      script: disk.script,
      ...(disk.canReplace ? { canReplace: true as const } : {}),
      readyWhen: () => (disk.isReady ? {} : undefined),
    }),
    {
      isStopping: () => stopping,
      onLost: (why) => lost.push(why),
      onRefused: (why) => refused.push(why),
    },
  )
  await t.rejects(managed.replace('overlap'), { message: 'books is not ready' })
  await managed.start()
  for (const how of ['overlap', 'one_at_a_time'] as const) {
    const { pid } = managed
    await managed.replace(how)
    t.not(managed.pid, pid, how)
    t.notOk(isAlive(pid ?? 0), 'the former run has ended')
    t.same([managed.isReady, managed.restarts, lost], [true, 0, []])
  }

  Object.assign(disk, { script: 'echo broken; exit 1', canReplace: true, isReady: false })
  for (const how of ['overlap', 'one_at_a_time'] as const) {
    const { pid } = managed
    await t.rejects(managed.replace(how), { message: 'books is not replaced: broken' }, how)
    t.same([managed.pid, managed.isReady, lost], [pid, true, []], 'the former run serves')
  }

  disk.canReplace = false
  await t.rejects(managed.replace('one_at_a_time'), { message: 'books does not start: broken' })
  t.same([managed.isReady, lost[0]], [false, 'broken'], 'it is started again as any other')
  Object.assign(disk, { script: SLEEPS, isReady: true })
  await eventually('it is ready again', () => managed.isReady)
  stopping = true
  await managed.stop()
  t.same(refused, [])
})

t.test('a slow start says what the program logged last', async (t) => {
  const said: string[] = []
  const script = `echo '{"level":"warn","reason":"no store","message":"waits"}'; ${SLEEPS}`
  const readyWhen = () => (said.at(-1) === 'waits: no store' ? {} : undefined)
  const managed = manage(t, 'slow', () => ({ script, readyWhen }), {
    slowEveryMs: 100,
    onSlow: (line) => said.push(line),
  })
  await managed.start()
  await managed.stop()
  t.equal(said.at(-1), 'waits: no store')
})

t.test('a slow start prints no warning', async (t) => {
  const warnings: Error[] = []
  const listener = (warning: Error): void => void warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  let checks = 0
  const readyWhen = () => (++checks > 30 ? {} : undefined)
  const managed = manage(t, 'sleeper', () => ({ script: SLEEPS, readyWhen }))
  await managed.start()
  await managed.stop()
  await new Promise((resolve) => setImmediate(resolve))
  t.same(
    warnings.map(({ name, message }) => `${name}: ${message}`),
    [],
  )
})

t.test('a start has a limit, and one that migrates its data has none', async (t) => {
  const start = (name: string, script: string): Promise<void> => {
    const managed = manage(t, name, () => ({
      // The descriptor of the channel to the supervisor: a line is a message.
      script: `exec 9>&"$NODE_CHANNEL_FD"; ${script}`,
      readyWhen: 'message',
      readyTimeoutMs: 2 * SECOND,
    }))
    t.teardown(() => managed.stop())
    return managed.start()
  }
  const late = `sleep 3; echo '{"ready":true}' >&9; exec sleep 60`
  await Promise.all([
    t.rejects(start('limited', late), {
      message: 'limited does not start: not ready within 2 s',
    }),
    t.resolves(start('migrating', `echo '{"migrating":true}' >&9; ${late}`)),
  ])
})
