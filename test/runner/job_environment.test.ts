/** What the processes of a job find in their environment. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { jobEnvironment } from './job_environment.js'

/** A number that the flags of V8 go into. */
const PRINT_TAG = 'console.log(require("node:v8").cachedDataVersionTag())'

function outputOf(argument: string, environment: NodeJS.ProcessEnv): string {
  const { stdout, stderr } = spawnSync(process.execPath, [argument, PRINT_TAG], {
    env: environment,
    encoding: 'utf8',
  })
  if (stderr !== '') throw new Error(stderr)
  return stdout
}

t.test('its processes have another budget of V8, where there is one', async (t) => {
  const { NODE_OPTIONS: _options, ...environment } = process.env
  const hasBudget = outputOf('--v8-options', environment).includes('--interrupt-budget ')
  const [tag, tagInJob] = [environment, jobEnvironment(environment)].map((each) =>
    outputOf('--eval', each),
  )
  t.equal(tag !== tagInJob, hasBudget)
})

t.test('the options of Node of the run stay', async (t) => {
  const { NODE_OPTIONS } = jobEnvironment({ NODE_OPTIONS: '--no-warnings' })
  t.match(NODE_OPTIONS, /^--no-warnings( --import=file:\S+\.js){1,3}$/)
})

/** Reads a file as the loader does, as other code does, and one that is missing. */
const PRINT_READS = `
  const [, file] = process.argv
  const { readFile } = require('node:fs/promises')
  const { pathToFileURL } = require('node:url')
  const url = pathToFileURL(file)
  const missing = readFile(pathToFileURL(file + '.missing')).catch(({ code }) => code)
  Promise.all([readFile(url).then(String), readFile(url, 'utf8'), readFile(file, 'utf8'), missing])
    .then((reads) => console.log(JSON.stringify(reads)))`

t.test('its processes read files as others do', async (t) => {
  const file = join(t.testdir({ file: 'é' }), 'file')
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', PRINT_READS, file], {
    env: jobEnvironment(process.env),
    encoding: 'utf8',
  })
  t.same(JSON.parse(stdout), ['é', 'é', 'é', 'ENOENT'], stderr)
})

t.test('its processes do not give way to others', async (t) => {
  const print = `
    import { getPriority, setPriority } from 'node:os'
    const before = getPriority()
    setPriority(19)
    console.log(getPriority() - before)`
  const { stdout, stderr } = spawnSync(
    ...([process.execPath, ['--input-type=module', '--eval', print]] as const),
    { env: jobEnvironment(process.env), encoding: 'utf8' },
  )
  t.equal(stdout, '0\n', stderr)
})

t.test('certificates of the machine are left out', async (t) => {
  const { NODE_EXTRA_CA_CERTS, HOME } = jobEnvironment({ NODE_EXTRA_CA_CERTS: '/a', HOME: '/b' })
  t.same({ NODE_EXTRA_CA_CERTS, HOME }, { NODE_EXTRA_CA_CERTS: undefined, HOME: '/b' })
})
