/**
 * Redocly's linter finds nothing in the document: with its recommended rules, which partners run,
 * but for what .redocly.lint-ignore.yaml excuses one by one.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { DOCUMENT_FILE } from '../../gateway/openapi/served.js'
import { projectRoot } from '../../src/base/project_root.js'
import { readDocument } from '../support/documented_answers.js'

const run = promisify(execFile)
const CONFIG = join(projectRoot(), 'gateway/openapi/redocly.yaml')

/** @returns the output; rejects when the linter finds a fault */
const lint = async (
  file: string,
  flags = ['--config', CONFIG, '--format', 'summary'],
  cwd = projectRoot(),
): Promise<string> => {
  const { stdout, stderr } = await run(
    join(projectRoot(), 'node_modules/.bin/redocly'),
    ['lint', file, ...flags],
    {
      cwd,
      env: {
        PATH: process.env['PATH'],
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    },
  )
  return stdout + stderr
}

t.test('the linter finds nothing in the document', async (t) => {
  t.match(await lint(join(projectRoot(), DOCUMENT_FILE)), /is valid/)
})

interface Report {
  readonly problems: readonly {
    readonly ruleId: string
    readonly location: readonly { readonly pointer: string }[]
  }[]
}

t.test('each excuse is for something that the linter reports by default', async (t) => {
  const folder = t.testdir({ 'openapi.json': JSON.stringify(readDocument()) })
  const output = await lint('openapi.json', ['--format', 'json'], folder)
  const { problems } = JSON.parse(
    output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1),
  ) as Report
  const excuses = readFileSync(join(dirname(CONFIG), '.redocly.lint-ignore.yaml'), 'utf8')
  t.same(
    [...excuses.matchAll(/- '(.+)'/g)].map(([, pointer]) => pointer),
    problems.map(({ location }) => location[0]?.pointer),
  )
})

t.test('the linter finds the fault of a broken document', async (t) => {
  const file = join(t.testdir(), 'openapi.json')
  writeFileSync(file, JSON.stringify({ ...readDocument(), tags: [], security: [{ other: [] }] }))
  await t.rejects(lint(file))
})
