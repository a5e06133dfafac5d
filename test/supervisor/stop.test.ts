/** `make stop`: a whole stack, nothing that runs, and what it must leave alone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { findRun, writePidFile } from '../../src/supervisor/pid_file.js'
import { stopRun } from '../../src/supervisor/stop_run.js'
import { isAlive, startProgram, type CliResult } from '../support/program.js'
import { processesIn, startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

t.setTimeout(0)

interface PidFile {
  readonly processes: Readonly<Record<'as', object>>
}

const makeStop = (dataDir: string): Promise<CliResult> =>
  startProgram('supervisor/stop_main.js', [], { DATA_DIR: dataDir }).ended

t.test('it stops a stack in order, and says what has ended', async (t) => {
  const dataDir = tempFolder(t)
  const stack = await startStack({ t, dataDir })
  const processes = Object.entries(processesIn(join(dataDir, 'run.json')))
  const { exitCode, out, err } = await makeStop(dataDir)
  t.same({ exitCode, err }, { exitCode: 0, err: '' })
  t.strictSame(
    processes.filter(([, { pid }]) => isAlive(pid)),
    [],
    'no process is left',
  )
  const [begun = '', ...lines] = out.trimEnd().split('\n')
  t.match(begun, `stopping the stack in ${dataDir}: `)
  for (const [name, { pid }] of processes) {
    t.match(begun, `${name} (${pid})`)
    t.match(out, new RegExp(`^ {2}${name} \\(${pid}\\) ended after \\d`, 'm'))
  }
  t.match(lines.slice(-2), [/^ {2}supervisor \(\d+\) ended after \d/, 'stopped'])
  t.equal(await stack.stop(), 0, 'the supervisor exits as after Ctrl-C')
  t.notOk(existsSync(join(dataDir, 'run.json')))

  const again = await makeStop(dataDir)
  t.same([again.exitCode, again.out, again.err], [0, `No stack runs in ${dataDir}.\n`, ''])
})

t.test('a folder that does not exist has no stack, and is not made', async (t) => {
  const dataDir = join(tempFolder(t), 'none')
  const { exitCode, out } = await makeStop(dataDir)
  t.same([exitCode, out], [0, `No stack runs in ${dataDir}.\n`])
  t.notOk(existsSync(dataDir))
})

t.test('a stack that run.json does not name is left alone', async (t) => {
  const dataDir = tempFolder(t)
  const data = await openDataFolder(dataDir)
  const { exitCode, out, err } = await makeStop(dataDir)
  t.same([exitCode, out], [1, ''])
  t.match(err, /^A stack runs in DATA_DIR=\S+, and run.json does not name it: if it starts/)
  await data.release()
})

t.test('a copied file stops no stack of another folder', async (t) => {
  const parent = tempFolder(t)
  const [folder, copy] = [join(parent, 'own'), join(parent, 'copy')]
  for (const path of [folder, copy]) mkdirSync(path)
  const supervisor = spawn('/bin/sleep', ['600'])
  t.teardown(() => supervisor.kill('SIGKILL'))
  await once(supervisor, 'spawn')
  writePidFile(join(folder, 'run.json'), new Map([['as', supervisor.pid!]]))
  const written = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as PidFile
  for (const path of [folder, copy]) {
    const text = JSON.stringify({ ...written, supervisor: written.processes.as, processes: {} })
    writeFileSync(join(path, 'run.json'), text)
  }
  t.same(findRun(join(folder, 'run.json'))?.running(), [`supervisor (${supervisor.pid})`])
  t.equal(findRun(join(copy, 'run.json')), undefined)
})

t.test('processes of a killed supervisor are waited for, and named after a minute', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'run.json')
  const child = spawn('/bin/sleep', ['600'], { env: { DATA_DIR: folder } })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  writePidFile(file, new Map([['rail', child.pid!]]))
  const run = findRun(file)!
  t.same(run.running(), [`rail (${child.pid})`], 'a supervisor is never itself a stale run')

  let now = 0
  const lines: string[] = []
  const options = {
    elapsed: () => now,
    pause: (ms: number) => ((now += ms), Promise.resolve()),
    print: (line: string) => void lines.push(line),
  }
  await t.rejects(stopRun(run, options), {
    message: `After 60.1 s these still run: rail (${child.pid}).`,
  })
  t.same(lines, [])

  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  now = 0
  await stopRun(run, options)
  t.same(lines, ['stopped'])
})

t.test('a process that ends at the signal is named too', async (t) => {
  const left = ['rail (1)', 'supervisor (2)']
  const lines: string[] = []
  await stopRun(
    { running: () => [...left], requestStop: () => void left.shift() },
    {
      elapsed: () => 0,
      pause: () => Promise.resolve(void left.shift()),
      print: (line) => void lines.push(line),
    },
  )
  const ended = ['rail (1)', 'supervisor (2)'].map((name) => `  ${name} ended after 0.0 s`)
  t.same(lines, [...ended, 'stopped'])
})
