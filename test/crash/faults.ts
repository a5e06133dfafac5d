/** The faults of the chaos test. After a fault the stack recovers by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemPause } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { SupervisedStack, StackProcess } from '../support/supervised_stack.js'

export interface Fault {
  readonly name: string
  cause(stack: SupervisedStack, random: SeededRandom): Promise<void>
}

const kill = (victim: StackProcess): Fault => ({
  name: `kill -9 of ${victim}`,
  cause: (stack) => stack.kill(victim),
})

/** SIGSTOP: the process neither responds nor closes connections. */
const freeze = (victim: StackProcess, atLeastMs: number, atMostMs: number): Fault => ({
  name: `${victim} is stopped for ${atLeastMs / 1_000} to ${atMostMs / 1_000} s`,
  cause: async (stack, random) => {
    const pid = stack.pidOf(victim)
    process.kill(pid, 'SIGSTOP')
    await systemPause(atLeastMs + random.int(atMostMs - atLeastMs))
    process.kill(pid, 'SIGCONT')
  },
})

/** Other writes and fsyncs on the same disk. */
const slowDisk: Fault = {
  name: 'a busy disk',
  cause: async ({ dataDir }) => {
    const file = join(dataDir, 'noise')
    const flags = ['if=/dev/zero', `of=${file}`, 'bs=256k', 'count=60', 'oflag=dsync']
    const writer = spawn('dd', flags, { stdio: 'ignore' })
    await once(writer, 'exit')
  },
}

/** The processor's files cannot grow: a commit fails and the process restarts. */
export const fullDisk: Fault = {
  name: 'a full disk under the processor',
  cause: async (stack) => {
    const pid = stack.pidOf('processor')
    const wal = statSync(join(stack.dataDir, `${FILES.processorDatabase}-wal`)).size
    await limitFiles(pid, wal)
    await stack.untilRestarted('processor', pid)
  },
}

/** Limits the size of the files that this process writes. */
async function limitFiles(pid: number, bytes: number): Promise<void> {
  const prlimit = spawn('prlimit', ['--pid', String(pid), `--fsize=${bytes}`], { stdio: 'ignore' })
  const [exitCode] = (await once(prlimit, 'exit')) as [number | null]
  if (exitCode !== 0) throw new Error(`prlimit ended with ${exitCode}`)
}

export const FAULTS: readonly Fault[] = [
  kill('processor'),
  kill('processor'),
  kill('rail'),
  kill('webhooks'),
  kill('nats'),
  kill('gateway'),
  freeze('processor', 200, 2_000),
  freeze('rail', 500, 4_000),
  freeze('webhooks', 500, 3_000),
  freeze('nats', 3_000, 8_000),
  slowDisk,
  fullDisk,
]
