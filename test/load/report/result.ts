/**
 * What a run leaves behind, as its JSON file has it.
 *
 * Owns: the shapes that the report, the page and later readers share. Does not own: measuring
 * (measurement), telling (report, page).
 */
import type { FinalAccounts } from '../system_under_test/accounts.js'
import type { Machine } from '../measurement/machine.js'
import type { WindowResult } from '../measurement/measurement.js'
import type { JourneyProfile } from '../profile/journey_profile.js'
import type { ScenarioName } from '../scenarios/scenarios.js'

export interface RunResult {
  readonly kind: 'bench' | 'load' | 'soak' | 'spike' | 'compare' | 'scale' | 'profile'
  readonly startedAt: string
  readonly machine: Machine
  /** What the run was asked for, as a line of text each. */
  readonly settings: Readonly<Record<string, string>>
  readonly sections: readonly Section[]
  /** Empty, or why these figures mean nothing. */
  readonly voidBecause: readonly string[]
}

/** One scenario, or one part of it, on one stack. */
export interface Section {
  readonly title: string
  readonly scenario: ScenarioName
  readonly windows: readonly WindowResult[]
  readonly findings: readonly Finding[]
  /** Undefined where nothing was acknowledged that could be counted. */
  readonly finalAccounts: FinalAccounts | undefined
  /** Left out where none was taken. */
  readonly profile?: JourneyProfile
}

/** A figure that the run was made for. */
export interface Finding {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Undefined: there is none. */
  readonly target: Target | undefined
}

export interface Target {
  readonly atLeast?: number
  readonly atMost?: number
}

export const finding = (name: string, value: number, unit: string, target?: Target): Finding => ({
  name,
  value,
  unit,
  target,
})

/** Undefined when there is no target. */
export function isMet({ value, target }: Finding): boolean | undefined {
  if (target === undefined) return undefined
  return value >= (target.atLeast ?? -Infinity) && value <= (target.atMost ?? Infinity)
}

export const isVoid = ({ voidBecause }: RunResult): boolean => voidBecause.length > 0
