/** A renamed setting is read under its old name for one version, with a warning. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RENAMED, SETTINGS } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'

const NO_FILE = ''

t.test('the old name is read, and the new name takes precedence', async (t) => {
  const warnings: string[] = []
  const read = (environment: Record<string, string>, file = NO_FILE) =>
    readSettings(environment, file, (line) => warnings.push(line))
  t.equal(read({ HANDOVER_TTL_S: '77' }).RAIL_SUBMIT_TTL_S, 77)
  t.match(warnings, [/HANDOVER_TTL_S is now RAIL_SUBMIT_TTL_S/])
  t.equal(read({ HANDOVER_TTL_S: '77', RAIL_SUBMIT_TTL_S: '78' }).RAIL_SUBMIT_TTL_S, 78)
  const file = join(t.testdir({}), '.env')
  writeFileSync(file, 'HANDOVER_TTL_S=79\n')
  t.equal(read({}, file).RAIL_SUBMIT_TTL_S, 79, 'the old name is read from .env too')
  t.throws(() => read({ HANDOVER_TTL_S: '0' }), /HANDOVER_TTL_S=0 is not allowed/)
})

t.test('no old name is also a current name', async (t) => {
  for (const [old, name] of Object.entries(RENAMED)) {
    t.notOk(Object.hasOwn(SETTINGS, old), old)
    t.ok(Object.hasOwn(SETTINGS, name), name)
  }
})
