/**
 * A processor without its transports: the real cycle, machines, ledger and SQLite, with a manual
 * clock and rail.
 *
 * Scenarios run in it twice: with warm actors, and rebuilt from SQLite before every command.
 */
import { join } from 'node:path'
import type { Test } from 'tap'
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'
import { systemRandom, type Random } from '../../src/base/random.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES } from '../../src/base/subjects.js'
import type { MasterKey, MasterKeys } from '../../src/auth/master_key.js'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import type { Store } from '../../src/store/store.js'
import { rulesOf, type Rules } from '../../src/processor/cycle/rules.js'
import type { Command, Work } from '../../src/processor/cycle/command.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import {
  fireIntentTimer,
  firePayoutTimer,
} from '../../src/processor/commands/rail_reports/timer_fire.js'
import { ensureDemo } from '../../src/processor/commands/partners/demo_ensure.js'
import { trialBalance } from '../../src/processor/commands/operators/trial_balance.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { openKeyring } from '../../src/processor/master_keys/keyring.js'
import { loadMemory, type Memory } from '../../src/processor/cache/memory.js'
import type { Origin } from '../../src/processor/cycle/origin.js'
import type { ChangeLog } from '../../src/processor/background/change_log.js'
import type { CommittedEvent } from '../../src/processor/cycle/commit_batch.js'
import { createBooksClock } from '../../src/processor/cycle/books_clock.js'
import {
  createPipeline,
  type Pipeline,
  type PipelineMeter,
} from '../../src/processor/cycle/pipeline.js'
import { createRailTable, sandboxRail } from '../../src/rails/rail_table.js'
import { createVault, type Vault } from '../../src/processor/keys/vault.js'
import { openTestStore, releaseBooks } from './books.js'
import { dueIds } from './due_ids.js'
import { SILENT_LOG } from './logs.js'
import { tempFolder } from './temp_folder.js'

export const RULES: Rules = {
  brand: 'Service',
  sessionTtlMs: 300_000,
  quoteTtlMs: 300_000,
  intentTtlMs: 1_800_000,
  railSubmitTtlMs: 60_000,
  reviewTtlMs: 259_200_000,
  duplicateWindowMs: 60_000,
  spreadBps: 0,
  ratePerSecond: 1_000,
  rateMaxAgeMs: null,
  caps: rulesOf(readSettings({}, '')).caps,
  secondOperator: null,
  rails: createRailTable([sandboxRail(true)]),
}

export const DEMO: TenantId = tenantOf('demo' as PartnerId, 'sandbox')
export const PRODUCTION: TenantId = tenantOf('demo' as PartnerId, 'production')
/** The key file's key, until `rebuildWith`. */
export const MASTER: MasterKey = { kid: 'k1', bytes: Buffer.alloc(32, 7) }
/** The origin of commands that tests submit. */
export const BY_TEST: Origin = { cause: 'request', requestId: null }
const STARTED_AT = Date.UTC(2026, 10, 21, 3, 0, 0)

export interface World {
  readonly clock: Clock & { set(at: number): void; pass(milliseconds: number): void }
  readonly vault: Vault
  readonly store: Store
  /** The folder that `rawBooks` takes. */
  readonly folder: string
  readonly events: CommittedEvent[]
  readonly railInstructions: RailInstruction[]
  /**
   * Milliseconds for which a rail has been down, by name. Absent means that it is as `setRail`
   * says.
   */
  readonly downRails: Map<string, number>
  memory(): Memory
  setRail(up: boolean): void
  isRailUp(): boolean
  /** Submits a command as a transport does. */
  submit(work: Work): void
  run(command: Command): Promise<Answer>
  /** Submits all in one event-loop iteration, so they form one batch. */
  runAll(commands: readonly Command[]): Promise<Answer[]>
  /** Fires every timer that is due once this time has passed. */
  fireTimers(afterMs?: number): Promise<void>
  railReports(report: RailReport): Promise<void>
  /** Rebuilds the memory from disk, as after a crash. */
  rebuild(): Promise<void>
  /** As `rebuild`, with another key file. */
  rebuildWith(masters: MasterKeys): Promise<void>
  trialBalance(): Promise<{ balanced: boolean; lines: readonly { account: string }[] }>
  close(): Promise<void>
}

export interface WorldOptions {
  readonly rules?: Partial<Rules>
  /** Rebuild from SQLite before every command. */
  readonly rebuilt?: boolean
  /** When its clock starts, in epoch milliseconds. Default: a moment of 2026. */
  readonly startedAt?: number
  /** The clock of an earlier one. */
  readonly clock?: World['clock']
  /** Default: as `openTestStore`. */
  readonly openStore?: (file: string) => Promise<Store>
  /** Wraps the store, to make it fail. */
  readonly store?: (store: Store) => Store
  readonly onPublished?: (events: readonly CommittedEvent[]) => void
  readonly onTransitions?: ChangeLog['committed']
  readonly meter?: PipelineMeter
  readonly onStop?: (reason: string, error: unknown) => void
  /**
   * The clock of the test is a machine's. Absent means that it is that of decisions, so it may
   * fall.
   */
  readonly isMachineClock?: true
  /** Default: the system's. */
  readonly random?: Random
  /** Actors in memory. Default: all of a test. */
  readonly warmActors?: number
  /** Instead of `setImmediate`. */
  readonly yieldToEventLoop?: () => Promise<void>
}

/** Gives a world its folder and closes it; usually a test. */
export type Home = Pick<Test, 'testdir' | 'teardown'>

export async function createWorld(home: Home, options: WorldOptions = {}): Promise<World> {
  const folder = tempFolder(home)
  const clock = options.clock ?? simulatedClock(options.startedAt)
  const random = options.random ?? systemRandom()
  const events: CommittedEvent[] = []
  const railInstructions: RailInstruction[] = []
  const downRails = new Map<string, number>()
  const opened = await (options.openStore ?? openTestStore)(join(folder, FILES.processorDatabase))
  const store = options.store?.(opened) ?? opened
  const openVault = async (masters: MasterKeys): Promise<Vault> =>
    createVault(await openKeyring(opened, masters, random, clock.now()), random)
  let vault = await openVault([MASTER])
  let railUp = true
  let memory: Memory
  let pipeline: Pipeline

  const rebuild = async (): Promise<void> => {
    memory = await loadMemory(store, vault, clock.now(), {
      warmActors: options.warmActors ?? 1_000,
      duplicateWindowMs: RULES.duplicateWindowMs,
    })
    const decisions = createBooksClock(clock)
    decisions.passed(memory.newestMoment)
    pipeline = createPipeline({
      clock: options.isMachineClock === true ? decisions : clock,
      requestClock: clock,
      random,
      store,
      memory,
      vault,
      rules: { ...RULES, ...options.rules },
      log: SILENT_LOG,
      yieldToEventLoop:
        options.yieldToEventLoop ?? (() => new Promise((resolve) => setImmediate(resolve))),
      rail: {
        up: (rail) => railUp && !downRails.has(rail),
        downForMs: (rail) => downRails.get(rail) ?? 0,
        send: (sent) => void railInstructions.push(...sent),
      },
      publish: (published) => {
        events.push(...published)
        options.onPublished?.(published)
      },
      logChanges: (...changes) => options.onTransitions?.(...changes),
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      directoryChanged: () => undefined,
      diskIsLow: () => false,
      stop: (reason, error) => {
        if (options.onStop === undefined) throw new Error(reason, { cause: error })
        options.onStop(reason, error)
      },
    })
  }

  const submit = (command: Command): Promise<Answer> =>
    new Promise((resolve) => {
      const work = { queueKey: DEMO, command, origin: BY_TEST, deadline: null, signedBy: null }
      pipeline.submit({ ...work, reply: resolve })
    })

  const run = async (command: Command): Promise<Answer> => {
    if (options.rebuilt === true) await rebuild()
    return submit(command)
  }

  await rebuild()
  const world: World = {
    clock,
    folder,
    get vault() {
      return vault
    },
    store,
    events,
    railInstructions,
    downRails,
    memory: () => memory,
    setRail: (up) => (railUp = up),
    isRailUp: () => railUp,
    submit: (work) => pipeline.submit(work),
    run,
    runAll: async (commands) => {
      if (options.rebuilt === true) await rebuild()
      return Promise.all(commands.map(submit))
    },
    fireTimers: async (afterMs = 0) => {
      clock.pass(afterMs)
      for (const id of await dueIds(store, 'intents', clock.now(), 100))
        await run(fireIntentTimer(id))
      for (const id of await dueIds(store, 'payouts', clock.now(), 100))
        await run(firePayoutTimer(id))
    },
    railReports: async (report) => void (await run(applyRailReport(report, 0))),
    rebuild,
    rebuildWith: async (masters) => {
      vault = await openVault(masters)
      await rebuild()
    },
    trialBalance: async () => {
      const answer = await run(trialBalance(undefined))
      if (!answer.ok) throw new Error('no trial balance')
      return answer.view as Awaited<ReturnType<World['trialBalance']>>
    },
    close: async () => {
      await pipeline.idle()
      await store.close()
    },
  }
  home.teardown(async () => {
    await world.close()
    await releaseBooks(folder)
  })
  await run(ensureDemo())
  return world
}

/** A clock that advances only by calls of the test. */
export function simulatedClock(startedAt: number = STARTED_AT): World['clock'] {
  let now = startedAt
  return {
    now: (): Instant => instant(now),
    set: (at) => (now = at),
    pass: (milliseconds) => (now += milliseconds),
  }
}

/** The view of an accepted answer; fails the test on a refusal. */
export function viewOf<View>(answer: Answer): View {
  if (!answer.ok) throw new Error(`refused: ${answer.code}`)
  return answer.view as View
}

export const codeOf = (answer: Answer): string => (answer.ok ? 'ok' : answer.code)
