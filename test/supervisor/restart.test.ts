/** `make restart` of a supervisor that ends in the middle. A whole restart: test/upgrade. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { startProgram } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'

/** Replaces one process, then ends without a further word, as one that is killed. */
const SUPERVISOR = `
  const { writePidFile } = await import(process.argv[1])
  const { writeFileSync } = await import('node:fs')
  process.on('SIGUSR2', () => {
    const begun_at = new Date(Date.now() + 1).toISOString()
    const replaced = [{ name: 'rail', seconds: 0.5 }]
    writeFileSync('restart.json', JSON.stringify({ state: 'running', begun_at, replaced }))
    process.kill(process.pid, 'SIGKILL')
  })
  writePidFile('run.json', new Map())
  console.log('ready')
  setInterval(() => undefined, 60_000)`

t.test('it ends when the supervisor has ended', async (t) => {
  const dataDir = tempFolder(t)
  const pidFile = pathToFileURL(join(projectRoot(), '.build/src/supervisor/pid_file.js')).href
  const supervisor = spawn(
    process.execPath,
    ['--input-type=module', '--eval', SUPERVISOR, pidFile],
    { cwd: dataDir, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.teardown(() => supervisor.kill('SIGKILL'))
  await once(supervisor.stdout, 'data')
  const restart = startProgram('supervisor/restart_main.js', [], { DATA_DIR: dataDir })
  t.teardown(() => restart.child.kill('SIGKILL'))
  const { exitCode, out, err } = await restart.ended
  t.equal(out, 'rail         replaced in 0.5 s\n')
  t.equal(err, 'Not all: the supervisor has ended. Start the stack.\n')
  t.equal(exitCode, 1)
})
