/**
 * A whole stack with the supervisor's code in the process of the test, for tests that kill
 * processes many times.
 *
 * Its clock is 1,000 times as fast, so the back-off ends and a killed process restarts at once.
 * Does not own: the supervisor as a command (support/stack).
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { instant, systemClock, type Clock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES } from '../../src/base/subjects.js'
import { FREE_PORTS } from '../../src/operations/demo/ephemeral_stack.js'
import { isServing, readSandbox, type Sandbox } from '../../src/operations/calls/sandbox.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { readEnvironment, type StackEnvironment } from '../../src/supervisor/environment.js'
import { createStack, RUN_FILE } from '../../src/supervisor/stack.js'
import { storeSettings } from './books.js'
import { eventually } from './eventually.js'
import { operatorCli, type OperatorCli } from './operator_cli.js'
import { partnerOf, type Partner } from './partner.js'
import { pidIn } from './stack.js'

export type StackProcess = 'nats' | 'switch' | 'rail' | 'processor' | 'webhooks' | 'gateway'

export interface SupervisedStack {
  readonly sandbox: Sandbox
  readonly dataDir: string
  /** The demo partner. */
  readonly partner: Partner
  /** The first operator. */
  readonly ops: OperatorCli
  pidOf(victim: StackProcess): number
  /** kill -9; resolves when all processes serve again. */
  kill(victim: StackProcess): Promise<void>
  /** Resolves when another process has replaced this one and all serve. */
  untilRestarted(victim: StackProcess, formerPid: number): Promise<void>
  /** Output of the supervisor so far. */
  output(): string
  logOf(victim: StackProcess): string
  stop(): Promise<void>
}

const SERVING_WITHIN_MS = 60_000

/** @param t stops it, and has no time limit; a program stops it itself */
export async function startSupervisedStack(
  settings: Readonly<Record<string, string>>,
  t?: Pick<Test, 'teardown' | 'setTimeout'>,
): Promise<SupervisedStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-test-'))
  const data = await openDataFolder(dataDir)
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  const stack = await createStack({
    environment: environmentOf({
      ...FREE_PORTS,
      ...storeSettings(dataDir),
      ...settings,
      DATA_DIR: dataDir,
    }),
    data,
    clock: fastClock(),
    random: systemRandom(),
    terminal: { info: print, ready: print, error: print },
    onRefused: print,
  })
  await stack.start()
  const sandbox = readSandbox(data.file(FILES.sandbox))
  const pidOf = (victim: StackProcess): number => pidIn(data.file(RUN_FILE), victim)
  const untilRestarted = async (victim: StackProcess, formerPid: number): Promise<void> => {
    await eventually(
      `${victim} serves again`,
      async () => pidOf(victim) !== formerPid && (await isServing(sandbox)),
      SERVING_WITHIN_MS,
    )
  }

  const stop = async (): Promise<void> => {
    await stack.stop()
    await data.release()
    await rm(dataDir, { recursive: true, force: true })
  }
  t?.setTimeout(0)
  t?.teardown(stop)
  return {
    ...{ sandbox, dataDir, partner: partnerOf(sandbox), ops: operatorCli(dataDir), pidOf },
    kill: async (victim) => {
      const killed = pidOf(victim)
      process.kill(killed, 'SIGKILL')
      await untilRestarted(victim, killed)
    },
    untilRestarted,
    output: () => lines.join('\n'),
    logOf: (victim) => readFileSync(join(dataDir, 'logs', `${victim}.log`), 'utf8'),
    stop,
  }
}

/** Sets every setting, so a local `.env` has no influence. */
export function environmentOf(given: Readonly<Record<string, string>>): StackEnvironment {
  const own = readEnvironment()
  const fallbacks = Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback])
  const fixed = {
    ...(Object.fromEntries(fallbacks) as Record<string, string>),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...given,
  }
  return {
    ...own,
    settings: readSettings({ ...process.env, ...fixed }),
    forChild: (main, settings) => own.forChild(main, { ...fixed, ...settings }),
  }
}

const TIMES_AS_FAST = 1_000

/** Each run of a process counts as long, so it restarts without a back-off. */
export function fastClock(): Clock {
  const start = systemClock.now()
  return { now: () => instant(start + (systemClock.now() - start) * TIMES_AS_FAST) }
}
