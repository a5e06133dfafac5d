/**
 * The profile: where the time of a journey goes.
 *
 * Owns: the windows and what makes a run void. Does not own: recording (recording), a journey's
 * share (journey_profile), how it is told (tables).
 *
 * - A window without samples precedes the recorded one: what recording costs stands beside what
 *   it found.
 * - A run is void when a window is not clean or when counts do not add up, as in the benchmark.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchPart } from '../bench.js'
import type { WindowResult } from '../measurement/measurement.js'
import { ride, type OpenLoadOptions } from '../open_load.js'
import { finding, type Finding } from '../report/result.js'
import { SCENARIOS } from '../scenarios/scenarios.js'
import type { Programs } from '../system_under_test/programs.js'
import type { EndpointPlan } from '../system_under_test/webhook_receivers.js'
import {
  ONE_RECEIVER,
  openSystem,
  type SystemUnderTest,
} from '../system_under_test/system_under_test.js'
import { journeyProfile } from './journey_profile.js'
import { beginRecording, recorderOptions, type Recorded } from './recording.js'
import { isStaged, programOf } from './stages.js'

export interface ProfileOptions extends OpenLoadOptions {
  readonly programs: Programs
  /** Where processes leave their profiles. */
  readonly folder: string
  readonly gateways: number
  readonly measureMs: number
  readonly warmUpMs: number
  /** Undefined: closed loop. */
  readonly ratePerSecond: number | undefined
  /** Between two samples. */
  readonly everyMicros: number
}

const TEN_RECEIVERS: readonly EndpointPlan[] = Array.from({ length: 10 }, () => ({
  manner: 'prompt',
  events: [],
}))

export async function profile(options: ProfileOptions): Promise<BenchPart> {
  const { scenario, programs, client, gateways, everyMicros, progress } = options
  const profiles = join(options.folder, 'profiles')
  mkdirSync(profiles)
  progress(`${scenario}: starting the stack`, undefined)
  const stack = await programs.startStack({
    settings: { GATEWAYS: String(gateways) },
    nodeOptions: recorderOptions(profiles, everyMicros),
  })
  const plans = scenario === 'webhooks' ? TEN_RECEIVERS : ONE_RECEIVER
  const system = await openSystem(stack, client, plans)

  const warmUp = await play(options, system, 'warm-up', options.warmUpMs)
  const plain = await play(options, system, 'plain', options.measureMs)
  const { window, recorded } = await runRecorded(options, system, profiles)
  progress(`${scenario}: adding up`, undefined)
  const finalAccounts = await system.settle()
  await system.close()
  await stack.stop()

  const windows = [plain, window]
  const section = {
    title: SCENARIOS[scenario],
    scenario,
    windows,
    findings: findingsOf(plain, window),
    finalAccounts,
    profile: journeyProfile(recorded, window, everyMicros),
  }
  const faults = [
    ...(options.machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
    ...[warmUp, ...windows].flatMap(faultsOf),
    ...finalAccounts.faults,
  ]
  return { sections: [section], voidBecause: faults.map((fault) => `${scenario}: ${fault}`) }
}

async function play(
  options: OpenLoadOptions & Pick<ProfileOptions, 'ratePerSecond'>,
  system: SystemUnderTest,
  name: string,
  measureMs: number,
): Promise<WindowResult> {
  const { ratePerSecond } = options
  const schedule = ratePerSecond === undefined ? [] : [{ ms: Infinity, ratePerSecond }]
  const { result } = await ride(options, system, { name, schedule, measureMs })
  return result
}

async function runRecorded(
  options: ProfileOptions,
  system: SystemUnderTest,
  folder: string,
): Promise<{ readonly window: WindowResult; readonly recorded: Recorded }> {
  const watched = system.stack.processes().filter(({ name }) => isStaged(programOf(name)))
  const recording = await beginRecording(options.client, watched, folder)
  const { client } = recording
  const window = await play({ ...options, client }, system, 'recorded', options.measureMs)
  return { window, recorded: await recording.finish() }
}

const faultsOf = ({ side, errors, requests, journeys }: WindowResult): string[] => [
  ...Object.entries(errors).map(([code, count]) => `${side}: ${count} × ${code}`),
  ...(requests.sent === requests.answered
    ? []
    : [`${side}: ${requests.sent} sent, ${requests.answered} answered`]),
  ...(journeys.completed === 0 ? [`${side}: nothing was completed`] : []),
]

const findingsOf = (plain: WindowResult, recorded: WindowResult): Finding[] => [
  finding('recorded / plain, rate', recorded.ratePerSecond / plain.ratePerSecond, ''),
  finding('recorded / plain, CPU', stackCpu(recorded) / stackCpu(plain), ''),
]

const stackCpu = ({ cpuMicros }: WindowResult): number =>
  Object.entries(cpuMicros)
    .filter(([name]) => isStaged(programOf(name)))
    .reduce((sum, [, { main, others }]) => sum + main + others, 0)
