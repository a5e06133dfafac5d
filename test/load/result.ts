/** The result of a run, in the form of its JSON file. */
import type { Accounts } from './accounts.js'
import { median, type Machine } from './machine.js'
import type { WindowResult } from './measured_window.js'

export interface RunResult {
  readonly kind: string
  readonly startedAt: string
  readonly machine: Machine
  readonly settings: Readonly<Record<string, string>>
  readonly sections: readonly Section[]
  /** The reasons why the figures do not count; usually empty. */
  readonly voidBecause: readonly string[]
}

/** One scenario, or one part of it, on one stack. */
export interface Section {
  readonly title: string
  readonly windows: readonly WindowResult[]
  readonly findings: readonly Finding[]
  /** Undefined when no accepted request is countable. */
  readonly accounts?: Accounts
}

/** What a command returns; notes are printed below the report. */
export type Part = Pick<RunResult, 'sections' | 'voidBecause'> & {
  readonly notes?: readonly string[]
  /** What was measured, if that is not a stack as the flags describe it. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A figure that the run was made for. */
export interface Finding {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly target: Target | undefined
}

export type Target = { readonly atLeast: number } | { readonly atMost: number }

export const finding = (name: string, value: number, unit: string, target?: Target): Finding => ({
  ...{ name, value, unit, target },
})

/** The median of ratios, with their spread. */
export const ratioFindings = (
  name: string,
  ratios: readonly number[],
  target?: Target,
): readonly Finding[] => [
  finding(name, median(ratios), '×', target),
  finding(`${name}, least of ${ratios.length}`, Math.min(...ratios), '×'),
  finding(`${name}, greatest of ${ratios.length}`, Math.max(...ratios), '×'),
]

/** What each shard carried in these windows, and how even that was. None without a cluster. */
export function loadOfShards(windows: readonly WindowResult[], side = ''): readonly Finding[] {
  const shards = windows[0]?.shards ?? []
  if (shards.length === 0) return []
  const prefix = side === '' ? '' : `${side}, `
  const of = (shard: string, figure: 'commandsPerSecond' | 'perCommit'): number =>
    median(
      windows.map((window) => window.shards.find((each) => each.shard === shard)?.[figure] ?? 0),
    )
  const cores = (processor: string): number =>
    median(
      windows.map(({ cpuMicros, ratePerSecond }) => {
        const { main = 0, others = 0 } = cpuMicros[processor] ?? {}
        return ((main + others) * ratePerSecond) / 1e6
      }),
    )
  const rates = shards.map(({ shard }) => of(shard, 'commandsPerSecond'))
  const balance = Math.min(...rates) / Math.max(...rates)
  return [
    ...shards.flatMap(({ shard, processor }) => [
      finding(`${prefix}${shard}, commands`, of(shard, 'commandsPerSecond'), '/s'),
      finding(`${prefix}${shard}, commands in a commit`, of(shard, 'perCommit'), ''),
      finding(`${prefix}${shard}, cores used by ${processor}`, cores(processor), ''),
    ]),
    finding(`${prefix}least / most commands of a shard`, balance, ''),
  ]
}

/** Undefined when there is no target. */
export function isMet({ value, target }: Finding): boolean | undefined {
  if (target === undefined) return undefined
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost
}

export const isVoid = ({ voidBecause }: RunResult): boolean => voidBecause.length > 0
