/** The check of licenses, and that every locked package passes it. */
import t from 'tap'
import { checkLicenses, lockedPackages } from '../../src/deploy/licenses.js'

const faultsOf = (license: string | undefined, dev = false): readonly string[] =>
  checkLicenses({
    '': { version: '1.0.0', license: 'UNLICENSED' },
    'node_modules/a/node_modules/@b/c': {
      ...{ version: '1.2.3', dev },
      ...(license === undefined ? {} : { license }),
    },
  }).faults

t.test('every locked package has an accepted license', async (t) => {
  const { counts, faults } = checkLicenses(lockedPackages())
  t.strictSame(faults, [])
  t.ok((counts.get('MIT')?.shipped ?? 0) > 50)
})

t.test('a license that is not listed is a fault, and so is none', async (t) => {
  t.strictSame(faultsOf('GPL-3.0'), ['@b/c@1.2.3 (shipped): GPL-3.0 is not accepted'])
  t.strictSame(faultsOf(undefined, true), ['@b/c@1.2.3 (a tool): none is not accepted'])
  for (const license of ['', 'SEE LICENSE IN x', 'MIT AND GPL-3.0', '(GPL-2.0 OR AGPL-3.0)', 'mit'])
    t.equal(faultsOf(license).length, 1, license)
  for (const license of ['MIT', '(GPL-2.0 OR MIT)', 'MIT OR GPL-2.0', '(MIT AND ISC)'])
    t.strictSame(faultsOf(license), [], license)
})

t.test('a license for tools is not enough for what is shipped', async (t) => {
  t.strictSame(faultsOf('MPL-2.0', true), [])
  t.equal(faultsOf('MPL-2.0').length, 1)
})
