/** The table of processes in the operators' guide matches the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS_READ_BY, type OwnProgram } from '../../src/supervisor/child_variables.js'

const guide = readFileSync(join(projectRoot(), 'src/operations/README.md'), 'utf8')

const settingsOf = (entry: string): readonly string[] =>
  SETTINGS_READ_BY[entry.replace(/^\.build\//, '') as OwnProgram] ?? []

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
