/** The systemd units and the table of settings in the operators' guide match the code. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/base/settings.js'
import { SETTINGS_READ_BY, type OwnProgram } from '../../src/supervisor/child_variables.js'

/** The operators' commands read every setting. */
const COMMANDS = '.build/src/operations/main.js'
/** Variables read by native libraries. */
const FOREIGN = ['UWS_HTTP_MAX_HEADERS_SIZE']

const guide = readFileSync(join(projectRoot(), 'src/operations/README.md'), 'utf8')
const units = [...guide.matchAll(/```ini\n(.*?)```/gs)].map(([, text = '']) => text)

function settingsOf(entry: string): readonly string[] {
  const program = entry.replace(/^\.build\//, '') as OwnProgram
  if (entry === COMMANDS) return Object.keys(SETTINGS)
  return SETTINGS_READ_BY[program] ?? []
}

t.test('units', (t) => {
  t.ok(units.length >= 2)
  for (const unit of units) {
    const entry = /^ExecStart=.*? (\.build\/\S+)/m.exec(unit)?.[1] ?? ''
    t.ok(existsSync(join(projectRoot(), entry)), entry)
    const names = [...unit.matchAll(/^Environment=([A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
    t.ok(names.length > (entry === COMMANDS ? 0 : 5))
    const known = [...settingsOf(entry), ...FOREIGN]
    t.same(
      names.filter((name) => !known.includes(name)),
      [],
      entry,
    )
  }
  t.end()
})

t.test('required settings', (t) => {
  const rows = [...guide.matchAll(/^\| \w+ \| `(\.build\/\S+)` \| (.*) \|$/gm)]
  t.equal(rows.length, Object.keys(SETTINGS_READ_BY).length)
  for (const [, entry = '', text = ''] of rows) {
    const names = [...text.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name)
    t.ok(names.length > 0, entry)
    t.same(
      names.filter((name) => !settingsOf(entry).includes(name)),
      [],
      entry,
    )
  }
  t.end()
})
