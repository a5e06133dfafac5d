/**
 * Two revisions against each other.
 *
 * Owns: whose turn it is, and the ratios. Does not own: building them
 * (src/scripts/bench_compare.sh).
 *
 * - Each turn is a fresh stack with a warm-up; base and head take turns in the order base head
 *   head base …, so that a drift of the machine falls on both.
 * - What is compared are the ratios of neighbouring turns; their spread tells what a ratio is
 *   worth.
 */
import type { BenchOptions, BenchPart } from './bench.js'
import { median } from './measurement/machine.js'
import { measure, type Measurement } from './measurement/measurement.js'
import { finding, type Finding, type Section } from './report/result.js'
import type { ScenarioName } from './scenarios/scenarios.js'
import {
  ONE_RECEIVER,
  openSystem,
  type SystemUnderTest,
} from './system_under_test/system_under_test.js'

/** Built checkouts. */
export interface Roots {
  readonly base: string
  readonly head: string
}
type Revision = keyof Roots

const SIGNED_AHEAD_RATE = 15_000

export async function compare(
  options: BenchOptions,
  roots: Roots,
  scenario: ScenarioName,
): Promise<BenchPart> {
  const all: Measurement[] = []
  for (let repeat = 1; repeat <= options.settings.repeat; repeat += 1) {
    const order: readonly Revision[] = repeat % 2 === 1 ? ['base', 'head'] : ['head', 'base']
    for (const revision of order) {
      all.push(await runRound(options, scenario, revision, roots[revision], repeat))
    }
  }
  const windows = all.map(({ result }) => result)
  const section: Section = {
    title: `${scenario}: head against base`,
    scenario,
    windows,
    findings: ratiosOf(all, options.settings.repeat),
    finalAccounts: undefined,
  }
  const faults = all.flatMap(({ faults: found, result: { side, repeat } }) =>
    found.map((fault) => `${scenario}, ${side} ${repeat}: ${fault}`),
  )
  return { sections: [section], voidBecause: faults }
}

async function runRound(
  options: BenchOptions,
  scenario: ScenarioName,
  revision: Revision,
  root: string,
  repeat: number,
): Promise<Measurement> {
  const { programs, client, settings, progress } = options
  progress(`${scenario}, ${revision} ${repeat}: starting the stack`, undefined)
  const stack = await programs.startStack({
    settings: { GATEWAYS: String(settings.gateways) },
    root,
  })
  const system = await openSystem(stack, client, ONE_RECEIVER)
  await play(options, system, scenario, { revision, repeat: 0, measureMs: settings.warmUpMs })
  const measureMs = settings.measureMs
  const measurement = await play(options, system, scenario, { revision, repeat, measureMs })
  await system.close()
  await stack.stop()
  return measurement
}

function play(
  { settings, client, machine, progress }: BenchOptions,
  system: SystemUnderTest,
  scenario: ScenarioName,
  turn: { readonly revision: Revision; readonly repeat: number; readonly measureMs: number },
): Promise<Measurement> {
  const { withIdempotencyKey, leadInMs, inFlight, ratePerSecond } = settings
  const ahead = (ratePerSecond ?? SIGNED_AHEAD_RATE) * (leadInMs + turn.measureMs)
  return measure({
    side: turn.revision,
    repeat: turn.repeat,
    order: {
      scenario: system.orderOf(scenario, { withIdempotencyKey, awaitsWebhooks: true }),
      journeys: Math.ceil(ahead / 1_000),
      lasts: true,
      window: {
        address: system.stack.address,
        connections: inFlight,
        schedule: ratePerSecond === undefined ? undefined : [{ ms: Infinity, ratePerSecond }],
        leadInMs,
        measureMs: turn.measureMs,
      },
    },
    client,
    watched: [...system.stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: system.stack.sandbox.ops_url,
    receiver: system.receiver,
    strict: true,
    tell: (intervalSample) =>
      progress(`${scenario}, ${turn.revision} ${turn.repeat}`, intervalSample),
  })
}

/** Of each pair of neighbours; then their median, least and greatest. */
function ratiosOf(all: readonly Measurement[], pairs: number): Finding[] {
  const cpuOf = ({ result }: Measurement): number =>
    Object.values(result.cpuMicros).reduce((sum, { main, others }) => sum + main + others, 0)
  const figures: readonly (readonly [string, (of: Measurement) => number])[] = [
    ['rate', ({ result }) => result.ratePerSecond],
    ['p50', ({ result }) => result.latency.p50],
    ['p99', ({ result }) => result.latency.p99],
    ['CPU a journey', cpuOf],
  ]
  return figures.flatMap(([name, of]) => {
    const ratios = Array.from({ length: pairs }, (_, index) => {
      const ofPair = (revision: Revision): number => {
        const found = all.find(({ result }) => isTurn(result, revision, index + 1))
        return found === undefined ? Number.NaN : of(found)
      }
      return ofPair('head') / ofPair('base')
    })
    return [
      finding(`${name}, head / base`, median(ratios), '×'),
      finding(`${name}, least of ${pairs}`, Math.min(...ratios), '×'),
      finding(`${name}, greatest of ${pairs}`, Math.max(...ratios), '×'),
    ]
  })
}

const isTurn = (
  { side, repeat }: { readonly side: string; readonly repeat: number },
  revision: Revision,
  turn: number,
): boolean => side === revision && repeat === turn
