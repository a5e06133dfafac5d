import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'
import { startClient } from './client/client.js'
import { describeMachine } from './measurement/machine.js'
import { steadyLoad, type OpenLoadOptions } from './open_load.js'
import { createPrograms } from './system_under_test/programs.js'
import type { RunResult } from './report/result.js'
import { spike } from './spike.js'
import { tempFolder } from '../support/temp_folder.js'

t.test('counts add up after a mixture of all, with several clients and gateways', async (t) => {
  const folder = tempFolder(t)
  const programs = createPrograms(folder)
  const client = startClient(2)
  t.teardown(async () => {
    await client.stop()
    await programs.stop()
  })
  const stack = await programs.startStack({ settings: { GATEWAYS: '2' } })
  const options: Omit<OpenLoadOptions, 'scenario'> = {
    inFlight: 32,
    leadInMs: 100,
    machine: describeMachine(folder),
    client,
    progress: () => undefined,
  }

  const load = { ratePerSecond: 200, seconds: 2 }
  const { section, voidBecause } = await steadyLoad({ ...options, scenario: 'mixed' }, stack, load)
  const [window] = section.windows
  t.same(voidBecause, [])
  t.same(window?.errors, {})
  t.ok(Math.abs((window?.latency.count ?? 0) - 400) <= 4, 'each that was due in it is timed')
  const [accepted, , paid] = section.finalAccounts?.lines ?? []
  t.ok((accepted?.left ?? 0) > 200, 'creates and payments were accepted')
  t.ok((paid?.left ?? 0) > 80, 'payouts and QR payments were paid')
  t.match(section.finalAccounts?.audit, /^audit clean/)

  const plan = { capacityPerSecond: 50, factor: 10, calmMs: 300, spikeMs: 300, afterMs: 300 }
  const surge = await spike({ ...options, scenario: 'creates' }, stack, plan)
  t.same(surge.voidBecause, [])
  const stretches = surge.section.windows[0]?.stretches ?? []
  const [before = 0, during = 0, after = 0] = stretches.map(({ count }) => count)
  t.ok(before > 0 && during > 2 * before && after > 0, 'each stretch has its own latencies')
})

t.test('the command leaves its figures and its page, and no data behind', (t) => {
  const out = join(tempFolder(t), 'out')
  mkdirSync(out)
  const main = join(projectRoot(), '.build/test/load/main.js')
  const flags = ['bench', '--quick', '--scenario', 'creates', '--gateways', '2', '--out', out]
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...flags])
  t.equal(status, 0, stdout.toString() + stderr.toString())
  t.match(stdout.toString(), /service 1 .*\n.*baseline 1 /)
  const files = readdirSync(out).sort()
  t.match(files, [/^bench-.*\.html$/, /^bench-.*\.json$/, 'latest.html'])
  const result = JSON.parse(readFileSync(join(out, files[1] ?? ''), 'utf8')) as RunResult
  const [section] = result.sections
  t.same(
    section?.findings.map(({ name }) => name),
    ['rate', 'service / ceiling', 'service / baseline'],
  )
  const watched = Object.keys(section?.windows[0]?.cpuMicros ?? {})
  const gateways = watched.filter((name) => /^(ceiling|gateway)/.test(name)).sort()
  t.same(gateways, ['ceiling-1', 'ceiling-2', 'gateway-1', 'gateway-2'], 'each side has two')
  t.match(section?.finalAccounts?.audit, /^audit clean/)
  rmSync(out, { recursive: true })
  t.end()
})
