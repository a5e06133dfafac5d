import t from 'tap'
import type { BenchResult } from './bench.js'
import type { WindowResult } from './measurement.js'
import { report } from './report.js'

const latency = { count: 1_000, mean: 20, p50: 18.04, p90: 30, p99: 40.06, p999: 50, max: 61.2 }

const aWindow = (given: Partial<WindowResult>): WindowResult => ({
  side: 'ceiling',
  repeat: 1,
  seconds: 10,
  ratePerSecond: 20_000,
  latency,
  requests: { sent: 200_000, answered: 200_000 },
  journeys: { begun: 200_000, completed: 200_000 },
  errors: {},
  perCommit: 0,
  cpuMicros: { gateway: { main: 0, others: 0 }, client: { main: 0.1, others: 14 } },
  rssMiB: { gateway: 80, client: 150 },
  elsewhere: 0.02,
  ...given,
})

const aResult = (given: Partial<BenchResult> = {}): BenchResult => ({
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
  settings: {
    seconds: 10,
    inFlight: 512,
    repeat: 1,
    ratePerSecond: undefined,
    withIdempotencyKey: true,
  },
  windows: [
    aWindow({}),
    aWindow({
      side: 'creates',
      ratePerSecond: 15_000,
      perCommit: 90,
      cpuMicros: { gateway: { main: 27.3, others: 1 }, client: { main: 0.1, others: 12 } },
      rssMiB: { gateway: 113, client: 160 },
    }),
  ],
  summary: {
    ceiling: { ratePerSecond: 20_000, latency, cpuMicros: 36.4 },
    creates: { ratePerSecond: 15_000, latency, cpuMicros: 80.2 },
  },
  ratio: 0.75,
  readBack: 100,
  voidBecause: [],
  ...given,
})

t.test('a run is told with its machine, its settings, its windows and the ratio', (t) => {
  const text = report(aResult())
  t.match(text, /2026-11-21T05:30:12/)
  t.match(text, /a processor, 2 cores.*v20\.20\.2/)
  t.match(text, /closed loop, 512 in flight; 1 × 10 s/)
  t.match(text, /creates 1 +15,000 +18\.0 +40\.1 +61\.2 +200,000 +90 +2 %/)
  t.match(text, /gateway +0\.0 +0\.0 +27\.3 +1\.0 +113/)
  t.match(text, /all together +36\.4 +80\.2\n/)
  t.match(text, /400,000 answers, all 201; 100 intents read back/)
  t.match(text, /creates \/ ceiling = 0\.75$/)
  t.notMatch(text, /not quiet/)
  t.end()
})

t.test('a void run has reasons and no ratio', (t) => {
  const text = report(aResult({ voidBecause: ['creates 1: 3 × 503 configuration_error'] }))
  t.match(text, /VOID.*\n {2}creates 1: 3 × 503 configuration_error/)
  t.notMatch(text, /ceiling =/)
  t.end()
})

t.test('at a given rate both sides are as fast: there is no ratio', (t) => {
  const text = report(aResult({ settings: { ...aResult().settings, ratePerSecond: 5_000 } }))
  t.match(text, /open loop, 5000\/s on at most 512 connections/)
  t.notMatch(text, /ceiling =/)
  t.end()
})

t.test('a busy machine is told', (t) => {
  t.match(report(aResult({ windows: [aWindow({ elsewhere: 0.4 })] })), /not quiet/)
  t.end()
})
