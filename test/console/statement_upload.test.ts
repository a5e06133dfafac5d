/** An uploaded statement that cannot be compared. */
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { runStatement } from '../../src/console/actions/statement_upload.js'
import type { Clients } from '../../src/console/session/uplink.js'
import { tempFolder } from '../support/temp_folder.js'

t.test('a full disk ends one upload, and not those after it', async (t) => {
  const { TMPDIR } = process.env
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  })
  const folder = tempFolder(t)
  const upload = (from: string) =>
    runStatement({
      ...{ clients: {} as Clients, clock: systemClock, file: new File([''], 's.csv') },
      ...{ from, to: '', reason: 'a test' },
    })
  process.env['TMPDIR'] = join(folder, 'none')
  await t.rejects(upload('2026-11-01'), { code: 'ENOENT' })
  process.env['TMPDIR'] = folder
  await t.rejects(upload('yesterday'), { message: 'This needs from DAY, e.g. 2026-11-21.' })
  await t.rejects(upload('yesterday'), { message: 'This needs from DAY, e.g. 2026-11-21.' })
})
