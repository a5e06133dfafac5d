/**
 * CPU profiles of a stack's processes over one window, one `.cpuprofile` file each.
 *
 * - A window without profiling precedes the profiled one, to report the cost of profiling.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.js'
import { cpuOf, finish, startSystem, TEN_ENDPOINTS, windowOptions } from './bench.js'
import { measureWindow, type Measured, type Tools } from './measured_window.js'
import { finding, type Part } from './result.js'
import { SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'

type Settings = Parameters<typeof windowOptions>[0] & Readonly<{ scenario: ScenarioName }>

const PROFILED = /^(gateway|processor|rail|webhooks)/

export async function profile(tools: Tools, settings: Settings): Promise<Part> {
  const { scenario } = settings
  const folder = join(tools.out, 'profile')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const recorder = new URL('./cpu_profile_recorder.js', import.meta.url)
  recorder.search = String(new URLSearchParams({ folder }))
  const plans = scenario === 'webhooks' ? TEN_ENDPOINTS : undefined
  const withRecorder = { NODE_OPTIONS: `--import=${recorder.href}` }
  const system = await startSystem(tools, { settings: withRecorder }, { plans })
  const profiled = system.stack.processes().filter(({ name }) => PROFILED.test(name))
  const signal = (): void => profiled.forEach(({ pid }) => process.kill(pid, 'SIGUSR2'))
  const play = (side: string, repeat: number) =>
    measureWindow(tools, system, { ...windowOptions(settings, scenario, repeat), side })
  const warmUp = await play('plain', 0)
  const plain = await play('plain', 1)
  signal() // Starting a profile stalls a process briefly, during the lead-in.
  const recorded = await play('profiled', 1)
  signal()
  const notes = ['Open a profile at https://www.speedscope.app or with npx speedscope FILE:']
  for (const { name, pid } of profiled) {
    const written = join(folder, `${pid}.cpuprofile`)
    const file = join(folder, `${name}.cpuprofile`)
    await eventually(`the ${name} has written its profile`, () => existsSync(written), 30_000)
    renameSync(written, file)
    notes.push(`  ${file}`)
  }
  const cpu = ({ result }: Measured): number => cpuOf(result, (name) => PROFILED.test(name))
  const rate = recorded.result.ratePerSecond / plain.result.ratePerSecond
  const findings = [
    finding('profiled / plain, rate', rate, '×'),
    finding('profiled / plain, CPU', cpu(recorded) / cpu(plain), '×'),
  ]
  const all = [warmUp, plain, recorded]
  return { ...(await finish(tools, system, all, { title: SCENARIOS[scenario], findings })), notes }
}
