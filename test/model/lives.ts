/**
 * The property: whatever happens to a tenant's intents, in whatever order, the system does what the
 * model says.
 *
 * Owns: the commands fast-check puts in a row, and the run of one life. Does not own: what
 * operations mean (draw), how the two sides are compared (bench), the last look at the books
 * (final_audit).
 */
import fc from 'fast-check'
import { openBench, pass, restart, setRail, step, wakeDue, type Bench } from './bench.js'
import { pick, picked, type Draw } from './draw.js'
import { draws } from './draws.js'
import { auditLife, endLife } from './final_audit.js'
import type { Model } from './model.js'
import { instantOf, moments } from './moments.js'
import { confirmOf, createOf, newsOf, payments, scanAgain, scanOf } from './payments.js'
import type { SharedWorld } from './shared_world.js'
import type { Start } from './tenant.js'

type LifeCommand = fc.AsyncCommand<Model, Bench>

function command(
  name: () => string,
  run: (bench: Bench) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): LifeCommand {
  return { check, run: (_, bench) => run(bench), toString: name }
}

const together = (drawn: readonly Draw[]): LifeCommand =>
  command(
    () => drawn.join(' | '),
    async (bench) => {
      await step(
        bench,
        drawn.flatMap((draw) => draw.resolve(bench.model) ?? []),
      )
    },
    (model) => drawn.some((draw) => draw.resolve(model) !== null),
  )

const single = draws.map((draw) => together([draw]))
const group = fc.array(draws, { minLength: 2, maxLength: 6 }).map(together)
const twins = draws.map((draw) => together([draw, draw]))

const payment = payments.map((paid) =>
  command(
    () => `pay ${fc.stringify(paid)}`,
    async (bench) => {
      await step(bench, [createOf(paid)])
      const intent = bench.model.intents.at(-1)!
      await step(bench, [scanOf(paid, intent, bench.model)])
      await step(bench, [confirmOf(intent)])
      if (paid.outcome === 'unknown' || intent.handedOverAt === null) return
      await step(bench, [newsOf(intent, paid.outcome, 'first')])
    },
  ),
)

/** Scanned, and then left to what comes. */
const offer = payments.map((offered) =>
  command(
    () => `offer ${fc.stringify(offered)}`,
    async (bench) => {
      await step(bench, [createOf(offered)])
      await step(bench, [scanOf(offered, bench.model.intents.at(-1)!, bench.model)])
    },
  ),
)

const again = pick.map((age) =>
  command(
    () => `again ${age}`,
    async (bench) => {
      const paid = picked(bench.model, age)!
      await step(bench, [createOf(paid)])
      const intent = bench.model.intents.at(-1)!
      await step(bench, [scanAgain(paid, intent)])
      await step(bench, [confirmOf(intent)])
    },
    (model) => (picked(model, age)?.quotes.length ?? 0) > 0,
  ),
)

const passing = moments.map((moment) =>
  command(
    () => `pass ${JSON.stringify(moment)}`,
    async (bench) => pass(bench, instantOf(moment, bench.model) ?? bench.model.now),
    (model) => instantOf(moment, model) !== null,
  ),
)

/** One timer after another, each at its moment. */
const timers = fc.integer({ min: 1, max: 4 }).map((count) =>
  command(
    () => `timers ${count}`,
    async (bench) => {
      for (let number = 0; number < count; number++) {
        const wakes = bench.model.intents.flatMap(({ wakeAt }) => wakeAt ?? [])
        if (wakes.length === 0) return
        pass(bench, Math.max(bench.model.now, Math.min(...wakes)))
        await wakeDue(bench)
      }
    },
  ),
)

const waking = fc.constant(
  command(
    () => 'wake all',
    (bench) => wakeDue(bench),
  ),
)
const rebuilding = fc.constant(
  command(
    () => 'rebuild',
    (bench) => restart(bench),
  ),
)
const railing = fc.boolean().map((up) =>
  command(
    () => `rail ${up ? 'up' : 'down'}`,
    async (bench) => setRail(bench, up),
    (model) => model.railUp !== up,
  ),
)

const commands = fc.commands<Model, Bench, false>(
  [
    ...Array.from({ length: 8 }, () => single),
    ...Array.from({ length: 3 }, () => group),
    twins,
    ...Array.from({ length: 2 }, () => payment),
    ...Array.from({ length: 2 }, () => offer),
    again,
    ...Array.from({ length: 3 }, () => passing),
    timers,
    waking,
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

export interface LivesOptions {
  readonly runs: number
  /** Actors are rebuilt from SQLite before every group. */
  readonly rebuilt: boolean
  /** Of a failure that is to be seen again; else drawn. */
  readonly seed: number | undefined
  /** No further life begins after so many milliseconds. */
  readonly within: number | undefined
}

/**
 * Returns how many were told; throws with the seed and the shortest row of commands when the two
 * sides differ.
 */
export async function checkLives(shared: SharedWorld, options: LivesOptions): Promise<number> {
  const { runs, rebuilt, seed, within } = options
  const details = await fc.check(
    fc.asyncProperty(starts, commands, async (start, row) => {
      const bench = await openBench(shared, start, rebuilt)
      await fc.asyncModelRun(() => ({ model: bench.model, real: bench }), row)
      await endLife(bench)
      await auditLife(bench)
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
