/**
 * The collection in the terminal tools of Bruno and Postman, on a real stack: every request is
 * answered as its assertion expects, and a wrong secret fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROUTES } from '../../gateway/app.js'
import { projectRoot } from '../../src/base/project_root.js'
import { COLLECTION_FOLDER } from '../../src/client/collection/files.js'
import { startStack } from '../support/stack.js'

const root = projectRoot()
const TOOLS = join(root, 'node_modules/.cache/collection_tools/node_modules/.bin')
const COLLECTION = join(root, COLLECTION_FOLDER)
/** Longer than a request usually takes, so that a run asks for an outcome more than once. */
const RAIL_DELAY_MS = '1500'
/** They need no signature, so a wrong secret does not matter to them. */
const UNSIGNED = ROUTES.filter(({ auth }) => auth === 'none').length

/** Under CI nothing is skipped: without the tools the test fails. */
const skip =
  !existsSync(join(TOOLS, 'newman')) && process.env['CI'] === undefined
    ? 'the tools are not installed: src/scripts/collection_tools.sh'
    : false

interface Totals {
  readonly requests: number
  readonly passed: number
  readonly failed: number
}

interface Run {
  readonly exitCode: number | null
  readonly totals: Totals
  readonly output: string
}

type Variables = Readonly<Record<string, string>>

const flags = (name: string, variables: Variables): string[] =>
  Object.entries(variables).flatMap(([key, value]) => [name, `${key}=${value}`])

async function run(
  tool: string,
  args: readonly string[],
  cwd: string,
  home: string,
): Promise<Omit<Run, 'totals'>> {
  const child = spawn(join(TOOLS, tool), args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, output }
}

interface BrunoReport {
  readonly results: readonly { readonly assertionResults: readonly { readonly status: string }[] }[]
}
interface NewmanReport {
  readonly run: {
    readonly stats: { readonly requests: { readonly total: number } }
    readonly executions: readonly {
      readonly assertions?: readonly { readonly error?: unknown }[]
    }[]
  }
}

const totalsOf = (requests: number, results: readonly boolean[]): Totals => ({
  requests,
  passed: results.filter((passed) => passed).length,
  failed: results.filter((passed) => !passed).length,
})

const RUNS: Readonly<Record<string, (folder: string, variables: Variables) => Promise<Run>>> = {
  Bruno: async (folder, variables) => {
    const report = join(folder, 'bruno.json')
    const args = ['run', '-r', '--env', 'sandbox', '--reporter-json', report]
    const cwd = join(COLLECTION, 'bruno')
    const ended = await run('bru', [...args, ...flags('--env-var', variables)], cwd, folder)
    const [iteration] = JSON.parse(readFileSync(report, 'utf8')) as BrunoReport[]
    const results = iteration?.results ?? []
    const assertions = results.flatMap(({ assertionResults }) => assertionResults)
    const passed = assertions.map(({ status }) => status === 'pass')
    return { ...ended, totals: totalsOf(results.length, passed) }
  },
  Postman: async (folder, variables) => {
    const report = join(folder, 'newman.json')
    const file = join(COLLECTION, 'causeway.postman_collection.json')
    const reporters = ['--reporters', 'cli,json', '--reporter-json-export', report]
    const args = ['run', file, ...reporters, ...flags('--env-var', variables)]
    const ended = await run('newman', args, folder, folder)
    const { stats, executions } = (JSON.parse(readFileSync(report, 'utf8')) as NewmanReport).run
    const assertions = executions.flatMap((execution) => execution.assertions ?? [])
    const passed = assertions.map(({ error }) => error === undefined)
    return { ...ended, totals: totalsOf(stats.requests.total, passed) }
  },
}

t.setTimeout(0)

t.test('the collection', { skip }, async (t) => {
  const stack = await startStack({ t, settings: { RAIL_DELAY_MS } })
  const { base_url, key_id, signing_secret } = stack.sandbox

  for (const [tool, runCollection] of Object.entries(RUNS)) {
    await t.test(`every request of it succeeds in ${tool}`, async (t) => {
      const folder = t.testdir()
      const variables = { base_url, key_id, signing_secret }
      const { exitCode, totals, output } = await runCollection(folder, variables)
      t.equal(exitCode, 0, output)
      t.ok(totals.requests >= ROUTES.length, `${totals.requests} requests`)
      t.same(totals, { requests: totals.requests, passed: totals.requests, failed: 0 })
    })

    await t.test(`a wrong secret fails in ${tool}`, async (t) => {
      const folder = t.testdir()
      const variables = { base_url, key_id, signing_secret: 'sk_wrong' }
      const { exitCode, totals } = await runCollection(folder, variables)
      t.not(exitCode, 0)
      const { length: requests } = ROUTES
      t.same(totals, { requests, passed: UNSIGNED, failed: requests - UNSIGNED })
    })
  }
})
