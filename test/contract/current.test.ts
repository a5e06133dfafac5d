/** The committed files of the contract are current, and the document matches the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FAILURE_TEXTS } from '../../actors/failure_texts.js'
import { BALANCE_TRANSACTION_TYPES } from '../../src/api/funding.js'
import { FAILURE_CODES } from '../../src/api/units.js'
import { ROUTES } from '../../gateway/app.js'
import { projectRoot } from '../../src/base/project_root.js'
import { PLANS } from '../../src/ledger/plans.js'
import { generatedFiles } from './generated_files.js'

t.test('the committed files are current (else run make openapi)', async (t) => {
  for (const { path, text } of await generatedFiles()) {
    const committed = readFileSync(join(projectRoot(), path), 'utf8')
    if (committed === text) t.pass(path)
    else t.fail(`${path} is not current: ${firstDifference(committed, text)}`)
  }
})

t.test('make check compares them too', async (t) => {
  const makefile = readFileSync(join(projectRoot(), 'Makefile'), 'utf8')
  const [, recipe = ''] = /^check:.*\n((?:\t.*\n)+)/m.exec(makefile) ?? []
  t.match(recipe, 'contract/current.test.js')
})

function firstDifference(one: string, other: string): string {
  const lines = other.split('\n')
  const at = one.split('\n').findIndex((line, i) => line !== lines[i])
  return `line ${at + 1} should be ${lines[at] ?? 'absent'}`
}

t.test('descriptions are complete', async (t) => {
  const all = ROUTES.map(({ operation }) => operation)
  t.equal(new Set(all.map(({ id }) => id)).size, all.length, 'operationIds are distinct')
  for (const { id, summary, description } of all) {
    t.match(id, /^[a-z][A-Za-z]+$/, id)
    t.match(summary, /^[A-Z].{5,58}[^.]$/, id)
    t.match(description, /^[A-Z][^]{15,}\.$/, id)
  }
})

t.test('enumerations that the gateway cannot import are complete', async (t) => {
  t.same([...FAILURE_CODES].sort(), Object.keys(FAILURE_TEXTS).sort())
  const plans = Object.entries(PLANS)
    .filter(([, lines]) => lines.some(([kind]) => kind === 'prefund' || kind === 'reserved'))
    .map(([plan]) => plan)
  t.same([...BALANCE_TRANSACTION_TYPES].sort(), plans.sort())
})
