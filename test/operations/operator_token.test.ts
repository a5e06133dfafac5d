/** The file with the operator's token. */
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readSettings } from '../../src/settings/settings_reader.js'
import { operatorAccess } from '../../src/operations/calls/operator_token.js'
import type { Sandbox } from '../../src/operations/calls/sandbox.js'
import { tempFolder } from '../support/temp_folder.js'

const dataDir = tempFolder(t)
const file = join(dataDir, 'operator.token')
const FIRST = 'op_first_operator_of_these_tests_only'
const NID = 'op_nid_operator_of_these_tests_only_1'
const sandbox = { grpc_address: '127.0.0.1:1' } as Sandbox
const tokenWith = (given: Record<string, string>): string =>
  operatorAccess(sandbox, readSettings({ DATA_DIR: dataDir, ...given }, '')).token()

t.test('a missing file is reported with its path', async (t) => {
  t.throws(() => tokenWith({}), { message: new RegExp(`No operator token in ${file}: make run`) })
})

t.test('a file that others can read is refused', async (t) => {
  writeFileSync(file, `${FIRST}\n`, { mode: 0o600 })
  t.equal(tokenWith({}), FIRST)
  for (const mode of [0o640, 0o604, 0o620, 0o644]) {
    chmodSync(file, mode)
    t.throws(() => tokenWith({}), /accessible to others \(mode \d+\): chmod 600/, mode.toString(8))
  }
})

t.test('OPERATOR_TOKEN_FILE names another file', async (t) => {
  const other = join(dataDir, 'nid.token')
  writeFileSync(other, `${NID}\n`, { mode: 0o600 })
  t.equal(tokenWith({ OPERATOR_TOKEN_FILE: other }), NID)
  const link = join(dataDir, 'mounted.token')
  symlinkSync('nid.token', link)
  t.equal(tokenWith({ OPERATOR_TOKEN_FILE: link }), NID, 'a named file may be a link')
})
