/** Builders of results for tests. */
import { createLatencies, latencyMs } from './client/latency.js'
import type { SampleResult, WindowResult } from './measured_window.js'
import { finding, type RunResult, type Section } from './result.js'

const LATENCY = { ...latencyMs(createLatencies()), count: 1_000, p50: 18.04, p99: 40.06, max: 61.2 }

export const aSample = (given: Partial<SampleResult> = {}): SampleResult => ({
  ...{ at: 0, perSecond: 100, failedPerSecond: 0, abandonedPerSecond: 0 },
  ...{ p99: 10, p99FromSent: 5, clientDelayMs: 1 },
  ...given,
})

export const aWindow = (given: Partial<WindowResult> = {}): WindowResult => ({
  ...{ side: 'service', repeat: 1, seconds: 10, ratePerSecond: 15_000, perCommit: 90 },
  ...{ latency: LATENCY, phases: [], rejections: LATENCY, arrivals: undefined },
  journeys: { begun: 200_000, completed: 199_990, overdue: 0, abandoned: 0 },
  errors: { '503 configuration_error': 10 },
  cpuMicros: { gateway: { main: 27.3, others: 1 }, client: { main: 0.1, others: 12 } },
  ...{ rssMiB: { gateway: 113, client: 160 }, elsewhere: 0.02, samples: [], resources: [] },
  ...given,
})

export const aRun = (section: Partial<Section> = {}, given: Partial<RunResult> = {}): RunResult => {
  const machine = { cpu: 'a processor', cores: 2, memoryMiB: 8_000, node: 'v20', kernel: '6.1' }
  const line = { what: 'accepted = stored', left: 10, right: 10, holds: true }
  return {
    ...{ kind: 'bench', startedAt: '2026-11-21T05:30:12.000Z', voidBecause: [] },
    machine: { ...machine, fileSystem: 'ext4', fsyncMicros: 400 },
    settings: { load: 'closed loop, 512 connections' },
    sections: [
      {
        title: 'signed durable creates of intents',
        windows: [aWindow()],
        findings: [
          finding('rate', 15_000, '/s', { atLeast: 15_000 }),
          finding('service / ceiling', 0.75, '', { atLeast: 0.8 }),
        ],
        accounts: { lines: [line], audit: 'audit clean: 43 checks over 100 rows', faults: [] },
        ...section,
      },
    ],
    ...given,
  }
}
