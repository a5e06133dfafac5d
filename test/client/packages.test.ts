/**
 * The built packages, installed into empty folders without a network: they load, their types
 * compile under strict rules, and no link of their pages leads nowhere. A sandbox offers them.
 */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { VERSION } from '../../src/client/index.js'
import { createDocs } from '../../gateway/docs/site.js'
import { startGateway } from '../gateway/running_gateway.js'
import { programOf } from './page_program.js'
import { skipsPython } from './python_suite.js'

t.setTimeout(0)
const run = promisify(execFile)
const root = projectRoot()
const script = (name: string): string => join(root, 'src/scripts', name)

function assertLiving(t: Test, page: string, folder: string): void {
  const titles = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )
  for (const [, link = ''] of page.matchAll(/\]\(([^)]+)\)/g)) {
    if (link.startsWith('#')) t.ok(titles.includes(link.slice(1)), link)
    else if (!/^https?:/.test(link)) t.ok(existsSync(join(folder, link)), link)
  }
  t.match(page, '`/docs`', 'it says where the guide is')
}

const PAGE = 'src/client/README.md'
const EVENTS = programOf(PAGE, 'events')

/** Each line after an expected error must be one. */
const STRICT = `
import { ApiError, createClient, type CreatePayout, type ErrorCode } from '@causeway/client'
const client = createClient({ baseUrl: 'http://x', keyId: 'k', secret: 's' })
const common = { amount: '1', currency: 'VND', reference: 'r' }
const beneficiary = {
  type: 'bank_account',
  name: 'a',
  destination_country: 'VN',
  currency: 'VND',
  account_number: '1',
  bank_code: '1',
} as const
export const byId: CreatePayout = { ...common, beneficiary_id: 'ben_1' }
export const inline: CreatePayout = { ...common, beneficiary }
// @ts-expect-error both forms
export const both: CreatePayout = { ...common, beneficiary, beneficiary_id: 'ben_1' }
// @ts-expect-error no form
export const none: CreatePayout = { ...common }
// @ts-expect-error not a code
export const code: ErrorCode = 'duplicate_scans'
export const isDuplicate = (error: unknown) =>
  error instanceof ApiError && error.code === 'duplicate_scan'
export const aborted = client.payouts.get('p', { signal: AbortSignal.timeout(1), timeoutMs: 1 })
`
const INCOMPLETE = EVENTS.replace("    case 'payout.reversed':\n", '')

t.test('the npm package', async (t) => {
  const folder = t.testdir({
    'package.json': '{"private": true, "type": "module"}',
    'events.ts': EVENTS,
    'receiver_test.ts': programOf(PAGE, 'receiver test'),
    'strict.ts': STRICT,
    'incomplete.ts': INCOMPLETE,
  })
  const tarball = (await run(script('client_package.sh'), [folder])).stdout.trim()
  const options = ['--offline', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...options, tarball], { cwd: folder })
  const load = "import { VERSION } from '@causeway/client'; console.log(VERSION)"
  const loaded = await run(process.execPath, ['--input-type=module', '-e', load], { cwd: folder })
  t.equal(loaded.stdout.trim(), VERSION)

  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const files = ['events.ts', 'receiver_test.ts', 'strict.ts', 'incomplete.ts']
  const compiled = await run(process.execPath, [tsc, ...flags, ...types, ...files], {
    cwd: folder,
  }).catch((fault: unknown) => fault as { stdout: string })
  // The only fault of all: an event type without its case.
  const faults = compiled.stdout.match(/^\S+\.ts.*$/gm)
  t.match(faults, [/^incomplete\.ts.* does not satisfy the expected type 'never'/])
  t.equal(faults?.length, 1)
  const installed = join(folder, 'node_modules/@causeway/client')
  assertLiving(t, readFileSync(join(installed, 'README.md'), 'utf8'), installed)
})

const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0
const skip = skipsPython !== false ? skipsPython : !hasPip && 'there is no pip on this machine'

t.test('the wheel and the source archive', { skip }, async (t) => {
  const folder = t.testdir()
  const built = (await run(script('python_package.sh'), [folder])).stdout.trim().split('\n')
  t.equal(built.length, 2)
  for (const [number, file] of built.entries()) {
    const target = join(folder, String(number))
    const options = ['--no-index', '--no-deps', '--quiet', '--no-cache-dir', '--target', target]
    await run('python3', ['-m', 'pip', 'install', ...options, file])
    const load = 'import causeway, causeway.types; print(causeway.__version__, causeway.__file__)'
    const env = { PATH: process.env['PATH'], PYTHONPATH: target }
    const { stdout } = await run('python3', ['-B', '-c', load], { env })
    t.match(stdout, `${VERSION} ${target}/`, file)
    t.ok(existsSync(join(target, 'causeway/py.typed')), 'with its type hints')
    const metadata = join(target, `causeway_client-${VERSION}.dist-info/METADATA`)
    assertLiving(t, readFileSync(metadata, 'utf8'), target)
  }
})

/** Without any other server. */
const ALONE = { ...process.env, npm_config_registry: 'http://127.0.0.1:1', PIP_NO_INDEX: '1' }

/** The address of a package that the first page of a sandbox links to. */
async function linkedPackage(baseUrl: string, end: string): Promise<string> {
  const page = await (await fetch(`${baseUrl}/docs`)).text()
  const path = [...page.matchAll(/ href="([^"]+)"/g)].find(([, href]) => href?.endsWith(end))?.[1]
  if (path === undefined) throw new Error(`/docs has no link to a ${end}`)
  return baseUrl + path
}

t.test('npm and pip install from a sandbox, one click from /docs', async (t) => {
  const { port } = await startGateway(t, { docs: createDocs('Service') })
  const baseUrl = `http://127.0.0.1:${port}`
  const cwd = t.testdir({ 'package.json': '{"private": true, "type": "module"}' })
  const options = { cwd, env: ALONE }
  const tarball = await linkedPackage(baseUrl, '.tgz')
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball], options)
  const load = "import { VERSION } from '@causeway/client'; console.log(VERSION)"
  const loaded = await run(process.execPath, ['--input-type=module', '-e', load], options)
  t.equal(loaded.stdout.trim(), VERSION)
  t.match(readFileSync(join(root, PAGE), 'utf8'), new URL(tarball).pathname)
  if (skip !== false) return
  const wheel = await linkedPackage(baseUrl, '.whl')
  const into = ['--no-deps', '--quiet', '--no-cache-dir', '--target', 'python']
  await run('python3', ['-m', 'pip', 'install', ...into, wheel], options)
  const python = ['-B', '-c', 'import causeway; print(causeway.__version__)']
  const env = { PATH: process.env['PATH'], PYTHONPATH: join(cwd, 'python') }
  t.equal((await run('python3', python, { cwd, env })).stdout.trim(), VERSION)
  t.match(readFileSync(join(root, 'src/client/python/README.md'), 'utf8'), new URL(wheel).pathname)
})
