/**
 * What a journey costs, by stage of each process.
 *
 * Owns: a journey's share of what was recorded. Does not own: recording, which code is which stage.
 *
 * - A stage has of its thread's CPU time, as the system counts it, what it has of the samples:
 *   what a thread waits for a core or for work is in no stage.
 */
import type { WindowResult } from '../measurement/measurement.js'
import { attribute, type Attribution } from './attribution.js'
import type { Recorded, RecordedProcess } from './recording.js'
import { IDLE, OTHER, programOf, stagesOf, UNSEEN } from './stages.js'
import { ENGINES, FILES, SAMPLES, type ThreadKind } from './threads.js'

export interface JourneyProfile {
  /** Between two samples, as it was asked for. */
  readonly everyMicros: number
  readonly journeys: number
  readonly processes: readonly ProcessProfile[]
  /** CPU microseconds a journey of the processes that were not recorded. */
  readonly unrecorded: Readonly<Record<string, number>>
}

export interface ProcessProfile {
  readonly name: string
  /** CPU microseconds a journey of the main thread. The longest stage first. */
  readonly stages: readonly Cost[]
  /** The same of the other threads. */
  readonly threads: readonly Cost[]
  /** What taking the samples took beside that. */
  readonly samplesMicros: number
  /** The longest of the main thread, and all that no stage has; the longest first. */
  readonly functions: readonly FunctionCost[]
  /** Of the window, for the main thread. */
  readonly idleShare: number
  readonly unseenShare: number
}

export interface Cost {
  readonly what: string
  readonly micros: number
}

export interface FunctionCost extends Cost {
  readonly place: string
  readonly stage: string
}

const FUNCTIONS_MAX = 60

export function journeyProfile(
  { span, processes }: Recorded,
  window: WindowResult,
  everyMicros: number,
): JourneyProfile {
  const journeys = Math.max(1, Math.round(window.ratePerSecond * window.seconds))
  const recorded = new Set(processes.map(({ name }) => name))
  const costs = Object.entries(window.cpuMicros)
  return {
    everyMicros,
    journeys,
    processes: processes.map((one) => {
      const { name, profile } = one
      const found = attribute(profile, span, everyMicros, stagesOf(programOf(name)))
      return processProfile(one, found, window.cpuMicros[name]?.main ?? 0, journeys)
    }),
    unrecorded: Object.fromEntries(
      costs
        .filter(([name]) => !recorded.has(name))
        .map(([name, { main, others }]) => [name, main + others]),
    ),
  }
}

function processProfile(
  { name, threads }: RecordedProcess,
  { stages, functions }: Attribution,
  mainMicros: number,
  journeys: number,
): ProcessProfile {
  const all = [...stages.values()].reduce((sum, micros) => sum + micros, 0)
  const [idle, unseen] = [stages.get(IDLE) ?? 0, stages.get(UNSEEN) ?? 0]
  const ofThreads = (kind: ThreadKind): number =>
    ((threads.after[kind] - threads.before[kind]) * 1_000) / journeys
  const scale = mainMicros / Math.max(1, all - idle - unseen)
  return {
    name,
    stages: [...stages]
      .filter(([stage]) => stage !== IDLE && stage !== UNSEEN)
      .map(([what, micros]) => ({ what, micros: micros * scale }))
      .toSorted((one, two) => two.micros - one.micros),
    threads: ([FILES, ENGINES] as const).map((what) => ({ what, micros: ofThreads(what) })),
    samplesMicros: ofThreads(SAMPLES),
    functions: functions
      .filter(({ stage }, index) => index < FUNCTIONS_MAX || stage === OTHER)
      .map(({ name: what, micros, ...rest }) => ({ what, micros: micros * scale, ...rest })),
    idleShare: idle / Math.max(1, all),
    unseenShare: unseen / Math.max(1, all),
  }
}

export const sumOf = (costs: readonly Cost[]): number =>
  costs.reduce((sum, { micros }) => sum + micros, 0)
