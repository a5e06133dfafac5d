/**
 * The property: for any sequence of operations on a tenant's intents the system equals the model.
 *
 * Owns: the commands for fast-check, and the run of one case. Does not own: the operations
 * (generator), the comparison (harness), the final checks (final_audit).
 */
import fc from 'fast-check'
import {
  openHarness,
  pass,
  restart,
  setRail,
  step,
  fireDueTimers,
  type Harness,
} from './harness.js'
import { pick, picked, type Generated } from './generator.js'
import { generators } from './generators.js'
import { auditRun, endRun } from './final_audit.js'
import type { Model } from './model.js'
import { instantOf, boundaryTimes } from './boundary_times.js'
import { confirmOf, createOf, reportsOf, payments, scanAgain, scanOf } from './payments.js'
import type { SharedWorld } from './shared_world.js'
import type { Start } from './tenant.js'

type RunCommand = fc.AsyncCommand<Model, Harness>

function command(
  name: () => string,
  run: (harness: Harness) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): RunCommand {
  return { check, run: (_, harness) => run(harness), toString: name }
}

const batchOf = (generated: readonly Generated[]): RunCommand =>
  command(
    () => generated.join(' | '),
    async (harness) => {
      await step(
        harness,
        generated.flatMap((generate) => generate.resolve(harness.model) ?? []),
      )
    },
    (model) => generated.some((generate) => generate.resolve(model) !== null),
  )

const single = generators.map((generate) => batchOf([generate]))
const batch = fc.array(generators, { minLength: 2, maxLength: 6 }).map(batchOf)
const repeatedPairs = generators.map((generate) => batchOf([generate, generate]))

const payment = payments.map((paid) =>
  command(
    () => `pay ${fc.stringify(paid)}`,
    async (harness) => {
      await step(harness, [createOf(paid)])
      const intent = harness.model.intents.at(-1)!
      await step(harness, [scanOf(paid, intent, harness.model)])
      await step(harness, [confirmOf(intent)])
      if (paid.outcome === 'unknown' || intent.submittedAt === null) return
      await step(harness, [reportsOf(intent, paid.outcome, 'first')])
    },
  ),
)

const createAndScan = payments.map((payment) =>
  command(
    () => `create and scan ${fc.stringify(payment)}`,
    async (harness) => {
      await step(harness, [createOf(payment)])
      await step(harness, [scanOf(payment, harness.model.intents.at(-1)!, harness.model)])
    },
  ),
)

const again = pick.map((age) =>
  command(
    () => `again ${age}`,
    async (harness) => {
      const paid = picked(harness.model, age)!
      await step(harness, [createOf(paid)])
      const intent = harness.model.intents.at(-1)!
      await step(harness, [scanAgain(paid, intent)])
      await step(harness, [confirmOf(intent)])
    },
    (model) => (picked(model, age)?.quotes.length ?? 0) > 0,
  ),
)

const passing = boundaryTimes.map((boundary) =>
  command(
    () => `pass ${JSON.stringify(boundary)}`,
    async (harness) => pass(harness, instantOf(boundary, harness.model) ?? harness.model.now),
    (model) => instantOf(boundary, model) !== null,
  ),
)

/** Fires timers one after another, each when it is due. */
const timers = fc.integer({ min: 1, max: 4 }).map((count) =>
  command(
    () => `timers ${count}`,
    async (harness) => {
      for (let number = 0; number < count; number++) {
        const dueTimers = harness.model.intents.flatMap(({ wakeAt }) => wakeAt ?? [])
        if (dueTimers.length === 0) return
        pass(harness, Math.max(harness.model.now, Math.min(...dueTimers)))
        await fireDueTimers(harness)
      }
    },
  ),
)

const timing = fc.constant(
  command(
    () => 'fire due timers',
    (harness) => fireDueTimers(harness),
  ),
)
const rebuilding = fc.constant(
  command(
    () => 'rebuild',
    (harness) => restart(harness),
  ),
)
const railing = fc.boolean().map((up) =>
  command(
    () => `rail ${up ? 'up' : 'down'}`,
    async (harness) => setRail(harness, up),
    (model) => model.railUp !== up,
  ),
)

const commands = fc.commands<Model, Harness, false>(
  [
    ...Array.from({ length: 8 }, () => single),
    ...Array.from({ length: 3 }, () => batch),
    repeatedPairs,
    ...Array.from({ length: 2 }, () => payment),
    ...Array.from({ length: 2 }, () => createAndScan),
    again,
    ...Array.from({ length: 3 }, () => passing),
    timers,
    timing,
    rebuilding,
    railing,
  ],
  { maxCommands: 30, size: 'max', disableReplayLog: true },
)

const starts: fc.Arbitrary<Start> = fc.record({
  at: fc.constantFrom(
    Date.UTC(2026, 10, 21, 3),
    // A minute before a local midnight, a month's and a year's end, and a leap day.
    Date.UTC(2026, 10, 20, 16, 59),
    Date.UTC(2026, 10, 30, 16, 59),
    Date.UTC(2026, 11, 31, 16, 59),
    Date.UTC(2028, 1, 28, 16, 59),
  ),
  prefund: fc.constantFrom(1_000_000_000n, 1_000_000_000n, 300_000n, 2_500n),
  nearly: fc.constantFrom('none', 'none', 'day', 'month'),
  left: fc.constantFrom(36_000n, 100_000n, 35_999n, 5_000_000n, 5_100_000n, 0n),
})

export interface ModelRunOptions {
  readonly runs: number
  /** Actors are rebuilt from SQLite before every batch. */
  readonly rebuilt: boolean
  /** The seed of a failure to repeat. Default: random. */
  readonly seed?: number | undefined
  /** Milliseconds after which no further case begins. */
  readonly within?: number | undefined
}

/**
 * @returns the number of cases run
 * @throws with the seed and the shortest sequence of commands when the two sides differ
 */
export async function checkRuns(shared: SharedWorld, options: ModelRunOptions): Promise<number> {
  const { runs, rebuilt, seed, within } = options
  const details = await fc.check(
    fc.asyncProperty(starts, commands, async (start, row) => {
      const harness = await openHarness(shared, start, rebuilt)
      await fc.asyncModelRun(() => ({ model: harness.model, real: harness }), row)
      await endRun(harness)
      await auditRun(harness)
    }),
    {
      numRuns: runs,
      ...(seed === undefined ? {} : { seed }),
      ...(within === undefined ? {} : { interruptAfterTimeLimit: within }),
    },
  )
  if (!details.failed) return details.numRuns
  const cause = details.errorInstance
  throw new Error(await fc.asyncDefaultReportMessage(details), { cause })
}
