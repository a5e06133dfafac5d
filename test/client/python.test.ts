/** The Python client alone: signing vectors, retries, errors, lists, webhooks. */
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { runPython, skipsPython } from './python_suite.js'

t.test('the unit tests of the Python client pass', { skip: skipsPython }, async (t) => {
  const vectors = join(projectRoot(), 'test/golden/signatures.json')
  const { stderr } = await runPython('test_unit.py', { SIGNATURE_VECTORS: vectors })
  t.match(stderr, /^Ran (?:1\d|[2-9]\d) tests in .*\n\nOK$/m)
})
