/**
 * The catalog of planted faults fits the sources. `make mutants` runs the tests against them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { CATALOG } from './catalog.js'
import { compiled, mutatedSource, type Mutant } from './mutant.js'

const root = projectRoot()
const MUTANTS: readonly Mutant[] = Object.values(CATALOG).flat()

for (const mutant of MUTANTS) {
  const { fault, file, test, text, replacement } = mutant
  t.test(`${file}: ${fault}`, async (t) => {
    t.not(replacement, text)
    t.ok(compiled(mutatedSource(root, mutant), file))
    t.ok(existsSync(join(root, `${test}.test.ts`)), test)
  })
}

t.test('each fault is named once', async (t) => {
  t.equal(new Set(MUTANTS.map(({ fault }) => fault)).size, MUTANTS.length)
})
