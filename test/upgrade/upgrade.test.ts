/** A rolling restart under load, requested as `make restart` does: no request fails. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { credentialsOf } from '../../src/operations/calls/sandbox.js'
import { RESTART_FILE, type RestartProgress } from '../../src/supervisor/rolling_restart.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { startProgram } from '../support/program.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { tableOf, upgradeDrill } from './drill.js'

t.setTimeout(0)

const PROCESSES = ['nats', 'rail', 'processor', 'webhooks', 'gateway']

t.test('every process is replaced under load, and no request fails', async (t) => {
  const dataDir = tempFolder(t)
  const stack = await startStack({
    t,
    dataDir,
    settings: { RATE_LIMIT: 'off', RAIL_DELAY_MS: '50' },
  })
  const before = PROCESSES.map(stack.pidOf)
  let restarted: ReturnType<typeof restartProgram> | undefined
  const restartProgram = () =>
    startProgram('supervisor/restart_main.js', [], { DATA_DIR: dataDir }).ended
  const result = await upgradeDrill({
    ...{ dataDir, perSecond: 40, rounds: 1 },
    tenants: [[credentialsOf(stack.sandbox, 'Service')]],
    restart: () => void (restarted = restartProgram()),
  })
  t.same(
    result.failures.map(({ what }) => what),
    [],
  )
  t.ok(result.requests > 100, `${result.requests} requests`)
  t.same(
    result.replaced.map(({ name }) => name),
    PROCESSES,
  )
  t.equal(tableOf(result).length, 1 + PROCESSES.length)
  const after = PROCESSES.map(stack.pidOf)
  for (const [index, name] of PROCESSES.entries()) t.not(after[index], before[index], name)
  t.match(await stack.metrics(), 'causeway_process_restarts_total{process="gateway"} 0')

  const { exitCode, out } = (await restarted)!
  t.equal(exitCode, 0)
  for (const name of PROCESSES) t.match(out, new RegExp(`^${name} +replaced in \\d`, 'm'))
  t.match(out, /every process is replaced\n$/)

  const first = restartProgram()
  const file = join(dataDir, RESTART_FILE)
  const progress = () => JSON.parse(readFileSync(file, 'utf8')) as RestartProgress
  await eventually('it has begun', () => {
    const { state, replaced } = progress()
    return state === 'running' && replaced.length > 0
  })
  const second = await restartProgram()
  t.match(
    second,
    { exitCode: 1, err: /^The stack does not begin a restart/ },
    'it follows no other',
  )
  t.match(await first, { exitCode: 0, out: /every process is replaced\n$/ })

  t.equal(await stack.stop(), 0)
  t.notOk(existsSync(join(dataDir, 'run.json')))
  const none = await restartProgram()
  t.same([none.exitCode, none.err], [1, `No stack runs in ${dataDir}.\n`])
  await assertCleanAudit(t, dataDir)
})
