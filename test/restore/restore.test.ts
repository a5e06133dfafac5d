/** The restore drill: what a backup lacks is named, retried and paid once. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../support/temp_folder.js'
import { restoreDrill } from './drill.js'

t.setTimeout(0)

/** Each lost payment is matched by hand; a few dozen are enough. */
const PAYERS_PAUSE_MS = 750

for (const [rail, before, after] of [
  ['sandbox', 40, 30],
  ['iso20022', 10, 10],
] as const) {
  t.test(`a machine is lost under load and its backup restored: ${rail}`, async (t) => {
    const folder = tempFolder(t)
    const lines: string[] = []
    const result = await restoreDrill({
      ...{ folder, rail, store: 'sqlite' },
      ...{ before, after, pauseMs: PAYERS_PAUSE_MS },
      now: () => Date.now(),
      print: (line) => lines.push(line),
    })
    const { acknowledged, lost, unanswered, matched, notOnce, audit, seconds } = result
    t.ok(lost.length >= after, `${lost.length} lost`)
    t.ok(acknowledged.size >= before + after)
    t.equal(lines.filter((line) => line.startsWith('  lost: payer ')).length, lost.length)
    t.ok(matched.length > 0 && matched.length <= lost.length + unanswered.length)
    t.same(notOnce, [], 'every payment was executed once')
    t.ok(audit.clean, audit.report)
    t.ok(seconds.lost > 0 && seconds.untilReads > 0 && seconds.untilPayments > seconds.untilReads)
    t.notOk(readdirSync(join(folder, 'new')).includes('restored.json'), 'the mark is used up')
    const log = readFileSync(join(folder, 'new', 'logs', 'processor.log'), 'utf8')
    t.match(log, /recovery mode: reads only/)
  })
}
