/** The smallest adapter of the guide: it compiles as it stands, runs, and passes every line. */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { callerEntry } from '../../src/auth/callers.js'
import { projectRoot } from '../../src/base/project_root.js'
import { freePort } from '../../src/supervisor/ports.js'
import { LINES } from '../../src/rails/check/run.js'
import { check, namesOf } from './check_harness.js'
import { anExampleBank, EXAMPLE_BEHAVIORS } from './example_bank.js'
import { shortFolder, TOKEN } from './harness.js'

t.setTimeout(0)
const root = projectRoot()
const readFile = (file: string): string | undefined => ts.sys.readFile(file)
const config: unknown = ts.readConfigFile(join(root, 'tsconfig.json'), readFile).config
const OPTIONS: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(config, ts.sys, root).options,
  ...{ noEmit: true, skipLibCheck: true, incremental: false },
}

function programOfGuide(): string {
  const page = readFileSync(join(root, 'src/rails/README.md'), 'utf8')
  const [, code] = /<!-- smallest adapter -->\s+```ts\n(.*?)^```/ms.exec(page) ?? []
  if (code === undefined) throw new Error('the guide has no smallest adapter')
  return code
}

/** The faults of programs beside the place that the guide names, without writing them there. */
function faultsOf(programs: Readonly<Record<string, string>>): readonly string[] {
  const fileOf = (name: string): string => join(root, 'src/rails/example', name)
  const texts = new Map(Object.entries(programs).map(([name, code]) => [fileOf(name), code]))
  const host = ts.createCompilerHost(OPTIONS)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => texts.has(name) || fileExists(name)
  host.getSourceFile = (name, ...rest) => {
    const code = texts.get(name)
    if (code === undefined) return getSourceFile(name, ...rest)
    return ts.createSourceFile(name, code, ts.ScriptTarget.ES2023)
  }
  const program = ts.createProgram([...texts.keys()], OPTIONS, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ')
    return `${basename(file?.fileName ?? '')}: ${text}`
  })
}

/** The program as it is built, beside our modules. @returns its file */
function built(folder: string, code: string): string {
  const example = join(folder, 'src/rails/example')
  mkdirSync(example, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  for (const linked of ['base', 'rails/adapter']) {
    symlinkSync(join(root, '.build/src', linked), join(folder, 'src', linked))
  }
  const main = join(example, 'main.js')
  writeFileSync(
    main,
    ts.transpileModule(code, { compilerOptions: { ...OPTIONS, module: ts.ModuleKind.ESNext } })
      .outputText,
  )
  return main
}

/** The adapter as a process that can be killed and started. */
async function anAdapter(t: Test, main: string, env: Readonly<Record<string, string>>) {
  let child: ChildProcess
  const start = (): Promise<void> => {
    child = fork(main, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    return new Promise((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('exit', (code) => reject(new Error(`the adapter exits with ${code}`)))
    })
  }
  await start()
  t.teardown(() => child.kill('SIGKILL'))
  const restart = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    await start()
  }
  return { restart }
}

t.test('it is strict TypeScript', async (t) => {
  const code = programOfGuide()
  const faults = faultsOf({ 'main.ts': code, 'broken.ts': code.replace('finality', 'final') })
  t.equal(faults.length, 1)
  t.match(faults[0], /^broken.ts: .*finalWindowMs/)
})

t.test('it passes every line of the kit', async (t) => {
  const folder = shortFolder(t)
  const port = await freePort('127.0.0.1')
  const bank = await anExampleBank(t, `http://127.0.0.1:${port}`)
  const address = `unix:${join(folder, 'rail.sock')}`
  const { restart } = await anAdapter(t, built(folder, programOfGuide()), {
    ...{ DATA_DIR: folder, DOT_ENV: '', LOG_LEVEL: 'error', RAIL_LISTEN: address },
    ...{ BANK_URL: bank.url, MESSAGES_PORT: String(port) },
    CALLERS: callerEntry('processor', 'processor', TOKEN),
  })
  const results = await check(t, { address, restart, behaviors: EXAMPLE_BEHAVIORS })
  t.same(
    results.filter(({ result }) => result !== 'pass'),
    [],
  )
  t.equal(namesOf(results, 'pass').length, LINES.length)
})
