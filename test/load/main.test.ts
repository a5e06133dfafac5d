/** The load tool: its flags, and short runs on real stacks. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { noPostgres } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import type { RunResult } from './result.js'

const MAIN = join(projectRoot(), '.build/test/load/main.js')
const run = (...flags: string[]) =>
  spawnSync(process.execPath, [MAIN, ...flags], { encoding: 'utf8' })

/** Runs a command and returns its result; the data is removed, the result stays. */
function load(t: Test, ...flags: string[]) {
  const out = tempFolder(t)
  const { status, stdout, stderr } = run(...flags, '--quick', '--out', out)
  t.equal(status, 0, `${flags.join(' ')}: ${stdout}${stderr}`)
  const file = readdirSync(out).find((name) => name.startsWith(`${flags[0]}-`)) ?? ''
  t.notOk(readdirSync(out).some((name) => name.startsWith('run-')))
  return (JSON.parse(readFileSync(join(out, file), 'utf8')) as RunResult).sections
}

t.test('wrong flags start nothing', async (t) => {
  const wrong = [
    ['none'],
    ['bench', '--secnds', '1'],
    ['load', '--rate', '1e9'],
    ['soak', '--scenario', 'creates,reads'],
    ['compare', '--base', '/tmp'],
    ['seed', '--what', 'partners'],
  ]
  for (const flags of wrong) {
    const { status, stdout, stderr } = run(...flags)
    t.equal(status, 2, flags.join(' '))
    t.equal(stdout, '', 'nothing was started')
    t.match(stderr, /^error: .+\n/)
  }
})

t.test('the accounts of a mix of all scenarios add up, with several gateways', async (t) => {
  const [section] = load(t, 'load', '--gateways', '2', '--rate', '200', '--seconds', '2')
  const [window] = section?.windows ?? []
  t.same(window?.errors, {})
  const due = 200 * (window?.seconds ?? 0)
  t.ok(Math.abs((window?.latency.count ?? 0) - due) <= 4, 'every due journey is timed')
  const [accepted, , paid] = section?.accounts?.lines ?? []
  t.ok((accepted?.left ?? 0) > 200, 'creates and payments were accepted')
  t.ok((paid?.left ?? 0) > 60, 'payouts and QR payments were paid')
  t.match(section?.accounts?.audit, /^audit clean/)
})

t.test('a soak fills the caches first, and names what grows in each program', async (t) => {
  const [section] = load(t, 'soak', '--rate', '100', '--seconds', '2')
  t.equal(section?.windows.length, 1, 'the filling is not measured')
  t.same(section?.windows[0]?.errors, {})
  const names = section?.findings.map(({ name }) => name) ?? []
  const programs = ['supervisor', 'rail', 'processor', 'webhooks', 'gateway']
  for (const program of programs) {
    t.ok(names.includes(`${program}: memory`))
    t.ok(names.includes(`${program}: in use after a collection`))
  }
  const [, , paid] = section?.accounts?.lines ?? []
  t.ok((paid?.left ?? 0) > 2 * 20, 'payments of the filling are in the accounts')
  t.match(section?.accounts?.audit, /^audit clean/)
})

t.test('a benchmark has a ceiling with as many gateways', async (t) => {
  const [section] = load(t, 'bench', '--scenario', 'creates', '--gateways', '2')
  const names = section?.findings.map(({ name }) => name)
  t.same(names, ['rate', 'service / ceiling'])
  const watched = Object.keys(section?.windows[0]?.cpuMicros ?? {})
  const gateways = watched.filter((name) => /^(ceiling|gateway)/.test(name)).sort()
  t.same(gateways, ['ceiling-1', 'ceiling-2', 'gateway-1', 'gateway-2'])
  t.match(section?.accounts?.audit, /^audit clean/)
})

t.test('the accounts add up on both stores', { skip: noPostgres }, async (t) => {
  const sections = load(t, 'bench', '--store', 'postgres', '--scenario', 'creates')
  const [sqlite, postgres] = sections
  t.equal(sections.length, 2)
  for (const section of sections) {
    const [accepted] = section.accounts?.lines ?? []
    t.ok((accepted?.left ?? 0) > 0, 'creates were accepted')
    t.equal(accepted?.left, accepted?.right, 'accepted creates are stored')
    t.match(section.accounts?.audit, /^audit clean/)
  }
  t.same(sqlite?.windows, [])
  const [one, other] = postgres?.windows ?? []
  t.same([one?.side, other?.side], ['SQLite', 'PostgreSQL'])
  t.notOk(one && 'postgres' in one.cpuMicros)
  t.ok(other && 'postgres' in other.cpuMicros, 'the server is measured')
  t.ok(postgres?.findings.some(({ name }) => name === 'rate, PostgreSQL / SQLite'))
})

t.test('refusals of all causes are timed', async (t) => {
  const [sandbox, production, ...absent] = load(t, 'refusals')
  t.equal(sandbox?.findings.length, 1 + 2 * 5)
  t.equal(production?.findings.length, 1 + 2 * 6)
  t.equal(absent.length, 3)
  for (const { findings } of absent) t.ok((findings[0]?.value ?? 0) > 0, 'in microseconds')
})
