/** Builders of results, for tests of what is told about them. */
import type { WindowResult } from '../measurement/measurement.js'
import { finding, type RunResult, type Section } from './result.js'

const LATENCY = {
  count: 1_000,
  mean: 20,
  p50: 18.04,
  p90: 30,
  p95: 35,
  p99: 40.06,
  p999: 50,
  max: 61.2,
}

export const aWindow = (given: Partial<WindowResult> = {}): WindowResult => ({
  side: 'ceiling',
  repeat: 1,
  seconds: 10,
  ratePerSecond: 20_000,
  latency: LATENCY,
  curve: [
    [0, 1],
    [50, 18],
    [99, 40],
  ],
  stretches: [],
  refusals: LATENCY,
  refusalsFromDue: LATENCY,
  requests: { sent: 200_000, answered: 200_000 },
  journeys: { begun: 200_000, completed: 200_000, overdue: 0, givenUp: 0 },
  errors: {},
  perCommit: 0,
  arrivals: undefined,
  cpuMicros: { gateway: { main: 0, others: 0 }, client: { main: 0.1, others: 14 } },
  rssMiB: { gateway: 80, client: 150 },
  elsewhere: 0.02,
  intervalSamples: [1_000, 2_000].map((at) => ({
    at,
    perSecond: 20_000,
    failedPerSecond: 0,
    givenUpPerSecond: 0,
    p50: 18,
    p90: 30,
    p99: 40,
    max: 61,
    p99FromSent: 40,
    clientDelay: 2,
  })),
  samples: [1_000, 2_000].map((at) => ({
    at,
    cpu: { gateway: 0.5, client: 0.25 },
    rssMiB: { gateway: 80, client: 150 },
    handles: { gateway: 600, client: 520 },
    commands: 20_000,
    commits: 200,
    waiting: 0,
    arrivals: undefined,
  })),
  ...given,
})

const SERVICE = aWindow({
  side: 'service',
  ratePerSecond: 15_000,
  perCommit: 90,
  journeys: { begun: 200_000, completed: 199_990, overdue: 0, givenUp: 0 },
  errors: { '503 configuration_error': 10 },
  cpuMicros: { gateway: { main: 27.3, others: 1 }, client: { main: 0.1, others: 12 } },
  rssMiB: { gateway: 113, client: 160 },
})

export const aSection = (given: Partial<Section> = {}): Section => ({
  title: 'signed durable creates of intents',
  scenario: 'creates',
  windows: [aWindow(), SERVICE],
  findings: [
    finding('rate', 15_000, '/s', { atLeast: 15_000 }),
    finding('service / ceiling', 0.75, '', { atLeast: 0.8 }),
  ],
  finalAccounts: {
    lines: [{ what: 'accepted = there', left: 10, right: 10, holds: true }],
    audit: 'audit clean: 43 checks over 100 rows',
    faults: [],
  },
  ...given,
})

export const aRun = (given: Partial<RunResult> = {}): RunResult => ({
  kind: 'bench',
  startedAt: '2026-11-21T05:30:12.000Z',
  machine: {
    cpu: 'a processor',
    cores: 2,
    memoryMiB: 8_000,
    node: 'v20.20.2',
    kernel: '6.1',
    fileSystem: 'ext4',
    fsyncMicros: 400,
  },
  settings: { load: 'closed loop, 512 in flight' },
  sections: [aSection()],
  voidBecause: [],
  ...given,
})
