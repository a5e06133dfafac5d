/** The log lines of a request, found by the time in its id. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { instant, SECOND, toRfc3339 } from '../../src/base/clock.js'
import { instantOf } from '../../src/base/ids.js'
import { linesOfRequest } from '../../src/operations/payments/request_logs.js'
import { tempFolder } from '../support/temp_folder.js'

const ID = 'req_01M8A7DZFCH5A23FV6RGCEPK72'
const AT = instantOf(ID)

const lineAt = (at: number, fields: object): string => {
  const time = toRfc3339(instant(at))
  return `${JSON.stringify({ level: 'info', time, process: 'gateway', ...fields })}\n`
}

/** As many lines before and after as bisecting needs. */
function fill(file: string, own: string): void {
  const lines = (from: number): string =>
    Array.from({ length: 5_000 }, (_, i) =>
      lineAt(from + i * 100, { request_id: `req_${'0'.repeat(26)}`, message: 'request served' }),
    ).join('')
  writeFileSync(file, lines(AT - 501 * SECOND))
  appendFileSync(file, own)
  appendFileSync(file, lines(AT + 10 * SECOND))
}

t.test('each file is looked through around the time of the request', async (t) => {
  const folder = join(tempFolder(t), 'logs')
  t.equal(await linesOfRequest(folder, ID), undefined, 'no folder')
  mkdirSync(folder)
  t.same(await linesOfRequest(folder, ID), [])
  const refused = { request_id: ID, status: 422, code: 'x', nested: { a: 1 }, message: 'refused' }
  fill(join(folder, 'gateway.log'), lineAt(AT + 12, refused))
  fill(
    join(folder, 'processor.log.1'),
    `not JSON ${ID}\n{"broken ${ID}\n${lineAt(AT + 6, { request_id: ID, message: 'transition' })}`,
  )
  writeFileSync(join(folder, 'other.txt'), lineAt(AT, { request_id: ID, message: 'no log' }))
  const cut = lineAt(AT, { request_id: ID, message: 'cut' }).slice(0, -9)
  writeFileSync(join(folder, 'cut.log'), cut)
  writeFileSync(join(folder, 'other.log'), lineAt(AT, { message: `names ${ID}` }))
  const found = await linesOfRequest(folder, ID)
  t.match(found, [
    { at: toRfc3339(instant(AT + 6)), message: 'transition', fields: [] },
    {
      message: 'refused',
      fields: [
        ['status', '422'],
        ['code', 'x'],
        ['nested', '{"a":1}'],
      ],
    },
  ])
  t.equal(found?.length, 2)
})
