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

/** @returns the output; rejects when the linter finds a fault */
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

void t.test('the linter finds nothing in the document', async (t) => {
  t.match(await lint(join(projectRoot(), DOCUMENT_FILE)), /is valid/)
})

void t.test('the linter finds the fault of a broken document', async (t) => {
  const file = join(t.testdir(), 'openapi.json')
  writeFileSync(file, JSON.stringify({ ...readDocument(), tags: [], security: [{ other: [] }] }))
  await t.rejects(lint(file))
})
