/** The supervisor with real processes: start, failures, restarts, stop. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { terminateStaleRun, writePidFile } from '../../src/supervisor/pid_file.js'
import { isOnPostgres, sqliteOnly, storeFiles } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { listen } from '../support/listen.js'
import { partnerOf } from '../support/partner.js'
import { isAlive } from '../support/program.js'
import { sendOnce } from '../support/raw_requests.js'
import { tempFolder } from '../support/temp_folder.js'
import { runUntilExit, startStack, type RunningStack } from '../support/stack.js'

t.setTimeout(0)

const UNSIGNED = { method: 'GET', path: '/v1/balances', headers: [] }
const NOBODY = 65_534
const PROCESSES = ['nats', 'rail', 'processor', 'webhooks', 'gateway']

interface Run {
  readonly supervisor: { readonly pid: number }
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

const runIn = (dataDir: string): Run =>
  JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as Run

const pidsOf = (stack: RunningStack): number[] => PROCESSES.map((name) => stack.pidOf(name))

/** One DATA_DIR through several starts; each step continues the previous one. */
t.test('a stack keeps its data over several starts', async (t) => {
  const dataDir = tempFolder(t)
  const MASTER_KEY_FILE = join(tempFolder(t), 'master.key')
  const first = await startStack({ t, dataDir, settings: { MASTER_KEY_FILE } })

  await t.test('all processes start and report their addresses', (t) => startsAll(t, first))
  await t.test('a second stack with its DATA_DIR does not start', async (t) => {
    t.match(await startErrorOf(t, {}, dataDir), 'is in use by a running stack')
  })
  await t.test('a killed process restarts at the same address', (t) => restartsEach(t, first))
  await t.test('a stop leaves no process', async (t) => {
    const pids = pidsOf(first)
    t.equal(await first.stop('SIGINT'), 0)
    assertSupervisorLog(t, first)
    t.strictSame(pids.filter(isAlive), [], 'no process is left')
    t.notOk(existsSync(join(dataDir, 'run.json')))
  })

  const second = await startStack({
    t,
    dataDir,
    settings: {
      ...{ BRAND: 'Acme', PRODUCTION_HOSTS: 'api.example', WEBHOOK_ALLOW_PRIVATE: 'false' },
      ...{ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes', MASTER_KEY_FILE },
    },
  })
  await t.test('a start in production without an age of rates warns', async (t) => {
    const warnings = readFileSync(join(dataDir, 'logs/processor.log'), 'utf8').split(
      '"RATE_MAX_AGE_S is 0: production quotes rates of any age"',
    )
    t.equal(warnings.length, 2, 'once: the first start was not of production')
  })
  await t.test('a second start keeps the credentials', async (t) => {
    t.match(first.sandbox, { brand: 'Service', serves_production: false })
    t.match(second.sandbox, { brand: 'Acme', serves_production: true })
    t.equal(second.sandbox.signing_secret, first.sandbox.signing_secret)
    t.equal(second.sandbox.internal_token, first.sandbox.internal_token)
  })
  const pids = pidsOf(second)
  await second.stop('SIGKILL')
  const third = await startStack({
    t,
    dataDir,
    settings: {
      ...{ MASTER_KEY_FILE, SOMETHING_ELSE: 'a value' },
      ...{ WEBHOOK_POOLS: '4', GATEWAYS: '4' },
    },
  })
  await t.test('the processes of a killed supervisor stop, and the next start waits', async (t) => {
    t.strictSame(pids.filter(isAlive), [])
  })
  await t.test('each process has only the variables that it needs', async (t) => {
    assertVariables(t, third)
  })
  await t.test('gateways share one port', async (t) => {
    t.not(third.pidOf('gateway-1'), third.pidOf('gateway-2'))
    const pid = third.pidOf('gateway-1')
    third.kill('gateway-1')
    await eventually('another process runs', () => third.pidOf('gateway-1') !== pid)
    await third.untilServing()
    t.equal((await sendOnce(third.baseUrl, UNSIGNED)).status, 401)
  })
  await t.test('a stack without its lock file, or with a copied run file, keeps running', (t) =>
    keepsRunning(t, third),
  )
  await t.test('failed writes do not stop the supervisor', (t) => cannotWrite(t, third))
})

/** So the first request after `ready:` finds its key. */
async function createsPartnerFirst(t: Test, { dataDir, sandbox }: RunningStack): Promise<void> {
  const { body } = await partnerOf(sandbox).request('GET', '/v1/balance_transactions')
  const { data } = body as { readonly data: readonly { readonly created_at: string }[] }
  const [funded = ''] = data.map(({ created_at: at }) => at).sort()
  const start = supervisorRecords(dataDir).find(
    ({ program, message }) => program === 'gateway' && message === 'process starts',
  )
  t.ok(Date.parse(funded) <= Date.parse(String(start?.['time'])), 'before the gateway starts')
}

async function startsAll(t: Test, stack: RunningStack): Promise<void> {
  const { dataDir, sandbox } = stack
  t.match(stack.output(), `documentation: ${sandbox.base_url}/docs\nready: ${sandbox.base_url}\n`)
  t.match(sandbox, {
    environment: 'sandbox',
    host: 'api.localhost',
    partner_id: 'demo',
    key_id: /^demo_sandbox_\d{4}q[1-4]$/,
    signing_secret: /.{20}/,
    internal_token: /.{20}/,
    grpc_address: /^127\.0\.0\.1:\d+$/,
  })
  await createsPartnerFirst(t, stack)
  for (const file of ['sandbox.json', 'nats.conf', 'nats.password', ...storeFiles()]) {
    t.equal(
      statSync(join(dataDir, file)).mode & 0o077,
      0,
      `${file} is accessible to its owner only`,
    )
  }
  const { status, body } = await stack.readyz()
  t.equal(status, 200)
  const processes = Object.fromEntries(PROCESSES.map((name) => [name, true]))
  t.match(body, { ready: true, mode: 'normal', processes, integrity: /^(pending|ok)$/, disk: 'ok' })
  const checked = await eventually('the databases are checked, and every link is up', async () => {
    const { body: now } = await stack.readyz()
    const isLinked = !/down|away|arrive/.test(JSON.stringify(now['degraded'] ?? {}))
    return now['integrity'] !== 'pending' && isLinked && now
  })
  const { degraded, ...served } = checked
  t.strictSame(served, { ready: true, mode: 'normal', processes, integrity: 'ok', disk: 'ok' })
  if (isOnPostgres()) t.match(degraded, { processor: /wait for no standby/ }, 'a single server')
  else t.equal(degraded, undefined)
  const integrityLog = () => readFileSync(join(dataDir, 'logs/integrity.log'), 'utf8')
  for (const file of ['rail.db', ...storeFiles()]) {
    await eventually(`the check of ${file} is logged`, () => integrityLog().includes(file))
  }
  t.equal((await fetch(`${sandbox.ops_url}/healthz`)).status, 200)
  const metrics = await stack.metrics()
  t.match(metrics, 'causeway_process_up{process="processor"} 1')
  t.match(metrics, /^causeway_disk_free_bytes\S* [1-9]\d*$/m)
  t.match(metrics, /^causeway_disk_low\S* 0$/m)
  t.match(
    metrics,
    /^causeway_\w+\{.*process="gateway"/m,
    'the metrics of the children are included',
  )
}

async function restartsEach(t: Test, stack: RunningStack): Promise<void> {
  for (const name of PROCESSES) {
    const before = stack.pidOf(name)
    stack.kill(name)
    await eventually(`${name} is another process`, () => stack.pidOf(name) !== before)
    await stack.untilServing()
  }
  t.match(stack.output(), 'processor ended (signal SIGKILL); restarting in 0.2 s')
  t.match(await stack.metrics(), 'causeway_process_restarts_total{process="gateway"} 1')
  const answer = await sendOnce(stack.baseUrl, UNSIGNED)
  t.equal(answer.status, 401, 'the gateway answers at its first address')
}

const supervisorRecords = (dataDir: string): readonly Record<string, unknown>[] =>
  readFileSync(join(dataDir, 'logs/supervisor.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Each start and end of a process, with its time and reason. */
function assertSupervisorLog(t: Test, { dataDir }: RunningStack): void {
  const records = supervisorRecords(dataDir)
  for (const record of records) t.match(record, { time: /Z$/, process: 'supervisor' })
  for (const program of PROCESSES) {
    const own = records.filter((record) => record['program'] === program)
    t.same(
      own.map(({ message, reason }) => [message, reason]),
      [
        ['process starts', undefined],
        ['process is ready', undefined],
        ['process ended', 'signal SIGKILL'],
        ['process is ready', undefined],
        ['process ended', 'the stack stops'],
      ],
      program,
    )
  }
  const processorLog = readFileSync(join(dataDir, 'logs/processor.log'), 'utf8')
  t.match(processorLog, /"reason":"SIGTERM","message":"stopping"/)
}

async function cannotWrite(t: Test, stack: RunningStack): Promise<void> {
  const { dataDir } = stack
  const natsPid = stack.pidOf('nats')
  const { supervisor } = runIn(dataDir)
  mkdirSync(join(dataDir, `run.json.${supervisor.pid}.new`))
  rmSync(join(dataDir, 'nats.conf'))
  mkdirSync(join(dataDir, 'nats.conf'))
  process.kill(natsPid, 'SIGKILL')
  await eventually('the end of nats is reported', () =>
    /nats ended \(.*nats\.conf is not a regular file/.test(stack.output()),
  )
  rmdirSync(join(dataDir, 'nats.conf'))
  await eventually('nats serves again', () => stack.output().includes('nats is ready again'))
  await stack.untilServing()
  t.match(stack.output(), /run\.json cannot be written \(.*EISDIR/)
}

async function keepsRunning(t: Test, stack: RunningStack): Promise<void> {
  const pids = Object.values(runIn(stack.dataDir).processes).map(({ pid }) => pid)
  rmSync(join(stack.dataDir, 'supervisor.lock'))
  const { exitCode, output } = await runUntilExit(stack.dataDir, {})
  t.equal(exitCode, 1)
  t.match(output, /is in use by the stack of process \d+, whose lock file was deleted/)
  t.ok(existsSync(join(stack.dataDir, 'run.json')))

  const copy = join(stack.dataDir, 'copy')
  mkdirSync(copy, { mode: 0o700 })
  copyFileSync(join(stack.dataDir, 'run.json'), join(copy, 'run.json'))
  const second = await startStack({ t, dataDir: copy })
  t.notMatch(second.output(), 'waiting for processes of the previous run')
  t.ok(pids.every(isAlive), 'no process was killed')
  t.equal((await stack.readyz()).status, 200)
}

function assertVariables(t: Test, stack: RunningStack): void {
  const variablesOf = (name: string): string[] =>
    readFileSync(`/proc/${stack.pidOf(name)}/environ`, 'utf8')
      .split('\0')
      .map((text) => text.slice(0, text.indexOf('=')))
  for (const name of ['gateway-1', 'gateway-4', 'rail', 'nats']) {
    const variables = variablesOf(name)
    t.ok(variables.includes('PATH'), name)
    for (const secret of ['NATS_URL', 'MASTER_KEY_FILE', 'SOMETHING_ELSE']) {
      t.notOk(variables.includes(secret), `${name} has no ${secret}`)
    }
  }
  const settings = new Set(Object.keys(SETTINGS))
  t.same(
    variablesOf('nats').filter((name) => settings.has(name)),
    [],
  )
  t.notOk(variablesOf('webhooks-2').includes('MASTER_KEY_FILE'))
  t.ok(variablesOf('webhooks-2').includes('NATS_URL'))
  t.ok(['NATS_URL', 'MASTER_KEY_FILE'].every((each) => variablesOf('processor').includes(each)))
  t.notMatch(stack.output(), 'Warning', 'no listener leaks with many processes')
}

/** Asserts that a start fails with one line. @returns the line */
async function startErrorOf(
  t: Test,
  settings: Readonly<Record<string, string>>,
  dataDir: string,
): Promise<string> {
  const { exitCode, output } = await runUntilExit(dataDir, settings)
  t.equal(exitCode, 1)
  t.equal(output.trimEnd().split('\n').length, 1, output)
  return output
}

t.test('production hosts do not start with the sandbox rail unless that is allowed', async (t) => {
  const dataDir = tempFolder(t)
  const { exitCode, output } = await runUntilExit(dataDir, {
    ...{ PRODUCTION_HOSTS: 'api.example', WEBHOOK_ALLOW_PRIVATE: 'false' },
  })
  t.equal(exitCode, 1)
  t.equal(
    output.trim(),
    'PRODUCTION_HOSTS is set, but the only rail is the sandbox, which moves no real money: unset ' +
      'PRODUCTION_HOSTS, or set ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes to try production out.',
  )
  t.same(readdirSync(dataDir), [], 'nothing was started or written')
})

t.test('a DATA_DIR or a file in it that others could have written is refused', async (t) => {
  const dataDir = tempFolder(t)
  const startError = (): Promise<string> => startErrorOf(t, {}, dataDir)
  writeFileSync(join(dataDir, 'processor.db'), '', { mode: 0o600 })
  chmodSync(dataDir, 0o755)
  t.match(await startError(), `DATA_DIR=${dataDir} is open to others (mode 755): chmod 700 it`)
  chmodSync(dataDir, 0o700)
  const token = join(dataDir, 'operator.token')
  writeFileSync(token, 'op_planted_by_another_user_0123456789', { mode: 0o644 })
  t.match(await startError(), `${token} is accessible to others (mode 644): chmod 600 it`)
  if (process.getuid?.() === 0) {
    chmodSync(token, 0o600)
    chownSync(token, NOBODY, NOBODY)
    t.match(await startError(), `${token} belongs to user ${NOBODY}, not to root`)
  }
  rmSync(token)
  const [target, configuration] = [join(tempFolder(t), 'target'), join(dataDir, 'nats.conf')]
  writeFileSync(target, 'of another file')
  symlinkSync(target, configuration)
  const { exitCode, output } = await runUntilExit(dataDir, {})
  t.equal(exitCode, 1)
  t.match(output, `${configuration} is a symbolic link, which is not followed`)
  t.equal(readFileSync(target, 'utf8'), 'of another file')
})

t.test(
  'a stale process that does not stop is killed, another process with its id is not',
  async (t) => {
    const file = join(tempFolder(t), 'run.json')
    const script = 'trap "" TERM; while :; do sleep 1; done'
    const env = { PATH: process.env['PATH'], DATA_DIR: dirname(file) }
    const stubborn = spawn('/bin/sh', ['-c', script], { env })
    const configured = spawn('/bin/sh', ['-c', script, `${dirname(file)}/nats.conf`])
    const other = spawn('/bin/sleep', ['60'], { env })
    const elsewhere = spawn('/bin/sleep', ['60'], { env: { ...env, DATA_DIR: tmpdir() } })
    const nameless = spawn('/bin/sleep', ['60'], { env: {} })
    t.teardown(() => [other, elsewhere, nameless].map((child) => child.kill()))
    await once(nameless, 'spawn')
    const gone = once(stubborn, 'exit')
    writePidFile(
      file,
      new Map([
        ['a', stubborn.pid ?? 0],
        ['b', other.pid ?? 0],
        ['c', configured.pid ?? 0],
        ['of another folder', elsewhere.pid ?? 0],
        ['of none', nameless.pid ?? 0],
      ]),
    )
    const text = readFileSync(file, 'utf8')
    const run = JSON.parse(text) as { processes: { b: { started: string } } }
    run.processes.b.started = '1'
    writeFileSync(file, JSON.stringify(run))

    // Each reading of the clock is a second later, so ten seconds pass at once.
    let now = systemClock.now()
    const clock = { now: () => (now = (now + 1_000) as typeof now) }
    const reported: string[] = []
    await terminateStaleRun(file, clock, (line) => reported.push(line))
    await gone
    for (const child of [other, elsewhere, nameless]) t.ok(isAlive(child.pid ?? 0))
    t.strictSame(reported, ['waiting for processes of the previous run: a, c'])
  },
)

t.test('an incomplete run file after a power cut is ignored', async (t) => {
  const file = join(tempFolder(t), 'run.json')
  for (const text of ['', '{ "supervisor": {', 'null']) {
    writeFileSync(file, text)
    await terminateStaleRun(file, systemClock, () => t.fail('it waits for no process'))
    t.notOk(existsSync(file))
  }
})

t.test('an ephemeral stack stops when its starting program ends', async (t) => {
  const dataDir = tempFolder(t)
  const module = join(projectRoot(), '.build/src/operations/demo/ephemeral_stack.js')
  const program = `import { startEphemeralStack } from ${JSON.stringify(module)}
    await startEphemeralStack(${JSON.stringify(dataDir)}).ready
    console.log('up')`
  const starter = spawn(process.execPath, ['--input-type=module', '-e', program])
  const gone = once(starter, 'exit')
  await once(starter.stdout, 'data')
  const run = runIn(dataDir)
  starter.kill('SIGKILL')
  await gone
  const pids = [run.supervisor, ...Object.values(run.processes)].map(({ pid }) => pid)
  t.equal(pids.length, 1 + PROCESSES.length)
  await eventually('no process is left', () => !pids.some(isAlive))
})

t.test('a failed start prints one sentence', async (t) => {
  const one = (settings: Readonly<Record<string, string>>, dataDir = tempFolder(t)) =>
    startErrorOf(t, settings, dataDir)

  await t.test('a port in use', async (t) => {
    const port = await listen(t, createServer())
    for (const name of ['HTTP_PORT', 'GRPC_PORT', 'OPS_PORT', 'NATS_PORT']) {
      t.match(await one({ [name]: String(port) }), `${name}=${port} is taken by another program`)
    }
    const second = await listen(t, createServer())
    const both = await one({ GRPC_PORT: String(port), OPS_PORT: String(second) })
    t.match(both, `GRPC_PORT=${port}, OPS_PORT=${second} are taken by other programs: stop them`)
  })
  await t.test('two settings with one port', async (t) => {
    t.match(await one({ HTTP_PORT: '18080', OPS_PORT: '18080' }), 'are both 18080')
  })
  await t.test('a DATA_DIR that is a file', async (t) => {
    const folder = t.testdir({ file: '' })
    t.match(await one({}, join(folder, 'file')), 'cannot be used')
  })
  await t.test('a DATA_DIR that cannot be created', async (t) => {
    t.match(await one({}, '/proc/nowhere/books'), '/proc/nowhere/books cannot be used')
  })
  await t.test('an unreachable nats-server', async (t) => {
    const url = 'nats://user:word@127.0.0.1:1'
    const output = await one({ NATS_URL: url })
    t.match(output, 'Nothing answers at NATS_URL, 127.0.0.1:1')
    t.notMatch(output, 'word')
  })
  await t.test('a setting that is not allowed', async (t) => {
    t.match(await one({ GATEWAYS: '99' }), 'GATEWAYS=99 is not allowed')
  })
})

t.test(
  'the message of a program that does not start is printed, and no process is left',
  { skip: sqliteOnly('a file without its master key') },
  async (t) => {
    const dataDir = tempFolder(t)
    writeFileSync(join(dataDir, 'processor.db'), '')
    const { exitCode, output } = await runUntilExit(dataDir, {})
    t.equal(exitCode, 1)
    t.match(output, /processor does not start: master key file .* is missing/)
    t.notOk(existsSync(join(dataDir, 'run.json')))
  },
)

t.test('a stop during the start leaves no process', async (t) => {
  const dataDir = tempFolder(t)
  const starting = runUntilExit(dataDir, {})
  const runFile = join(dataDir, 'run.json')
  const supervisor = await eventually('the rail process is started', () => {
    if (!existsSync(runFile)) return undefined
    const run = runIn(dataDir)
    return 'rail' in run.processes ? run : undefined
  })
  process.kill(supervisor.supervisor.pid, 'SIGTERM')
  const { exitCode, output } = await starting
  t.equal(exitCode, 0, output)
  t.notMatch(output, 'ready: ')
  t.strictSame(
    Object.values(supervisor.processes)
      .map(({ pid }) => pid)
      .filter(isAlive),
    [],
  )
})
