/**
 * Two processors beside one in the running trial cluster: two partners whose books are in one
 * shard, and two with a shard each, in closed loops.
 *
 * - The sides alternate on the same cluster: one, two, two, one and so on. The result is the ratio
 *   of neighbors.
 */
import { cpuOf, finish, measureSides, pairRatios, type BenchSettings } from './bench.js'
import { median } from './machine.js'
import { windowsOf, type Tools, type WindowResult } from './measured_window.js'
import { finding, loadOfShards, type Finding, type Part } from './result.js'
import type { RunningStack } from './running_stack.js'
import { SCENARIOS } from './scenarios/scenarios.js'
import { openSystem } from './system_under_test.js'

const SIDES = ['one shard', 'two shards'] as const

/** The shards of three partners. */
export function clusterShards(shards: readonly string[]): readonly string[] {
  const [first, second] = shards
  return first === undefined || second === undefined ? [] : [first, first, second]
}

export async function benchCluster(
  tools: Tools,
  settings: BenchSettings,
  stack: RunningStack,
): Promise<Part> {
  if (stack.partners.length < 3) throw new Error('it needs two shards: make cluster')
  const [scenario = 'creates'] = settings.scenarios
  const system = await openSystem(stack)
  const measured = await measureSides(tools, settings, scenario, {
    'one shard': { system, partners: [0, 1] },
    'two shards': { system, partners: [0, 2] },
  })
  const windows = windowsOf(measured)
  const ratios = pairRatios(windows, SIDES).filter(({ value }) => !Number.isNaN(value))
  const findings = [
    ...SIDES.flatMap((side) => [
      ...coresUsed(windows, side),
      ...loadOfShards(
        windows.filter((window) => window.side === side),
        side,
      ),
    ]),
    ...ratios,
  ]
  return finish(tools, system, measured, { title: `${SCENARIOS[scenario]}; both shards`, findings })
}

function coresUsed(windows: readonly WindowResult[], side: string): Finding[] {
  const ofSide = windows.filter((window) => window.side === side)
  return ['', 'processor', 'postgres'].map((name) => {
    const isChosen = (process: string): boolean => process.startsWith(name)
    const cores = ofSide.map((each) => (cpuOf(each, isChosen) * each.ratePerSecond) / 1e6)
    return finding(`${side}, cores used by ${name || 'all'}`, median(cores), '')
  })
}
