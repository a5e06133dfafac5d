/** The table of processes in the operators' guide matches the code. */
import t from 'tap'
import { SETTINGS_READ_BY, type OwnProgram } from '../../src/supervisor/child_variables.js'
import { guidePage } from '../support/operators_guide.js'

const guide = guidePage('Processes without the supervisor').text

const settingsOf = (entry: string): readonly string[] =>
  SETTINGS_READ_BY[entry.replace(/^\.build\//, '') as OwnProgram] ?? []

t.test('required settings', async (t) => {
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
})
