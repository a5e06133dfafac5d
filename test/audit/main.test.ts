/** The audit program: its output and exit codes. */
import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { AuditReport } from '../../src/audit/audit.js'
import { CHECKLIST } from '../../src/audit/checklist.js'
import { projectRoot } from '../../src/base/project_root.js'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { copyBooks, writeSmallBooks } from './small_books.js'

const MAIN = join(projectRoot(), '.build/src/audit/main.js')

const small = await writeSmallBooks(t)
const run = (folder: string, ...flags: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, '--data-dir', folder, ...flags],
    { encoding: 'utf8' },
  )
  return { status, out: stdout.trimEnd().split('\n'), err: stderr }
}

t.test('clean books exit with 0', async (t) => {
  const { status, out, err } = run(small.folder)
  t.equal(status, 0)
  t.equal(err, '')
  t.equal(out.length, CHECKLIST.length + 1)
  for (const [index, { name }] of CHECKLIST.entries()) {
    t.match(out[index], new RegExp(`^ok +${name} +\\(\\d+ rows, \\d+ ms\\)$`))
  }
  t.match(out.at(-1), new RegExp(`^audit clean: ${CHECKLIST.length} checks over \\d+ rows$`))
})

t.test('--live skips checks that compare databases', async (t) => {
  const { status, out } = run(small.folder, '--live')
  t.equal(status, 0)
  t.ok(out.includes('--      paid_exactly_once'))
  t.ok(out.includes('not audited: rail.db'))
  t.match(out.at(-1), / left out$/)
})

t.test('--webhooks-replaced-at accepts missing deliveries', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const pool = await openDatabase(join(folder, 'webhooks.db'))
  await pool.exec('DELETE FROM attempts; DELETE FROM deliveries; DELETE FROM events')
  await pool.close()
  t.match(run(folder).out.join('\n'), /^BROKEN {2}settled_events_are_final/m)
  const at = (ms: number) => new Date(small.world.clock.now() + ms).toISOString()
  const early = run(folder, '--webhooks-replaced-at', at(-86_400_000))
  t.match(early.out.join('\n'), /^BROKEN {2}settled_events_are_final/m)
  const { status, out } = run(folder, '--webhooks-replaced-at', at(1))
  t.equal(status, 0)
  t.match(out.at(-2), `not audited: deliveries settled until ${at(1)}`)
  t.match(run(folder, '--webhooks-replaced-at', 'yesterday'), {
    status: 2,
    err: /yesterday is not a time/,
  })
})

t.test('--webhooks-replaced-at accepts deliveries that ended later', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const books = await openDatabase(join(folder, FILES.processorDatabase))
  await books.exec(`UPDATE events SET settled_at = created_at WHERE position =
    (SELECT max(position) FROM events WHERE settled_at IS NULL
       AND type <> 'payment_intent.authorized')`)
  await books.close()
  t.match(run(folder).out.join('\n'), /^BROKEN {2}settled_events_are_final/m)
  const after = new Date(small.world.clock.now() + 1).toISOString()
  const { status, out } = run(folder, '--webhooks-replaced-at', after)
  t.equal(status, 0, out.join('\n'))
})

t.test('broken books exit with 1 and print the violation', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const { failed } = small.payouts
  const rail = await openDatabase(join(folder, 'rail.db'))
  await rail.exec(`UPDATE instructions SET state = 'executed', executions = 1,
    transaction_id = 'sbx_1' WHERE id = '${failed}'`)
  await rail.close()

  const { status, out } = run(folder)
  t.equal(status, 1)
  const text = out.join('\n')
  t.match(text, /^BROKEN {2}never_paid/m)
  t.match(text, `entity    ${failed}`)
  t.match(text, /found {5}executed, executed 1 times/)
  t.match(text, /expected {2}failed, so executed 0 times/)
  t.match(text, /^ {4}\d{4}-\d\d-\d\dT[\d:.]+Z {2}rail {8}payout of VND 12500000 received/m)

  const json = run(folder, '--json')
  t.equal(json.status, 1)
  const report = JSON.parse(json.out.join('\n')) as AuditReport
  t.match(report, { clean: false, broken: { name: 'never_paid', entity: failed } })
  t.ok((report.broken?.timeline.length ?? 0) > 5)
})

t.test('a folder without databases exits with 2', async (t) => {
  const { status, err } = run(t.testdir())
  t.equal(status, 2)
  t.match(err, /^nothing to audit: there is no processor.db/)
  t.match(run(t.testdir(), '--no-such').err, /unknown option/)
})

t.test('a file that is not a database exits with 1', async (t) => {
  const folder = t.testdir()
  writeFileSync(join(folder, 'processor.db'), 'x'.repeat(9_000))
  const { status, err } = run(folder)
  t.equal(status, 1)
  t.match(err, /^cannot be read: /)
})

t.test('the write-ahead log of a killed stack is audited', async (t) => {
  const folder = t.testdir()
  copyBooks(small, folder)
  const writer = await openDatabase(join(folder, 'processor.db'))
  await writer.exec("UPDATE ledger_accounts SET balance = 7 WHERE id = 'demo_sandbox:VND:fees'")
  const killed = join(folder, 'killed')
  for (const name of ['processor.db', 'processor.db-wal', 'rail.db', 'webhooks.db']) {
    cpSync(join(folder, name), join(killed, name))
  }
  await writer.close()
  const { status, out } = run(killed)
  t.equal(status, 1)
  t.match(out.join('\n'), /^BROKEN {2}balances_recompute/m)
})
