/** Redocly's linter, with its strict rules, finds nothing in the document. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { DOCUMENT_FILE } from '../../gateway/openapi/served.js'
import { projectRoot } from '../../src/base/project_root.js'
import { readDocument } from '../support/documented_answers.js'

const run = promisify(execFile)
const CONFIG = join(projectRoot(), 'gateway/openapi/redocly.yaml')

/** @returns what it prints; rejects when it finds something */
const lint = async (file: string): Promise<string> => {
  const { stdout, stderr } = await run(
    join(projectRoot(), 'node_modules/.bin/redocly'),
    ['lint', file, '--config', CONFIG, '--format', 'summary'],
    {
      cwd: projectRoot(),
      env: {
        PATH: process.env['PATH'],
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    },
  )
  return stdout + stderr
}

void t.test('the document has no finding', async (t) => {
  t.match(await lint(join(projectRoot(), DOCUMENT_FILE)), /is valid/)
})

void t.test('a broken one has', async (t) => {
  const file = join(t.testdir(), 'openapi.json')
  writeFileSync(file, JSON.stringify({ ...readDocument(), tags: [], security: [{ other: [] }] }))
  await t.rejects(lint(file))
})
