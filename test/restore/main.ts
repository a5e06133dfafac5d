/**
 * The restore drill with figures: `make restore-drill PAYMENTS=500 STORE=postgres`, or
 * `node .build/test/restore/main.js --payments 500`.
 *
 * It exits with 1 unless every payment was executed once and the audit is clean.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOptions } from '../../src/process/program_options.js'
import { restoreDrill } from './drill.js'

const { payments, rail, store } = programOptions(
  'restore-drill',
  'Loses a machine and restores its backup.',
  {
    payments: {
      value: 'N',
      about: 'before the backup, and again between backup and loss',
      kind: 'number',
      fallback: 300,
    },
    rail: { value: 'NAME', about: 'sandbox or iso20022', fallback: 'sandbox' },
    store: { value: 'NAME', about: 'sqlite or postgres', fallback: 'sqlite' },
  },
)
const print = (line: string): void => console.log(line)
const folder = mkdtempSync(join(tmpdir(), 'causeway-drill-'))
try {
  const result = await restoreDrill({
    ...{ folder, rail: rail === 'iso20022' ? rail : 'sandbox' },
    store: store === 'postgres' ? store : 'sqlite',
    before: payments,
    after: payments,
    now: () => Date.now(),
    print,
  })
  const { acknowledged, lost, unanswered, matched, notOnce, audit, seconds } = result
  print(`acknowledged ${acknowledged.size}, lost with the machine ${lost.length}, all named above`)
  print(`calls without an answer: ${unanswered.length}`)
  print(`retried with their keys: ${lost.length + unanswered.length}; the bank had executed`)
  print(`  ${matched.length} of them: held and matched, not paid again`)
  print(`payments not executed exactly once: ${notOnce.length}`)
  for (const key of notOnce) print(`  ${key}`)
  print(audit.report.trimEnd().split('\n').at(-1) ?? '')
  print(`RPO: ${seconds.lost.toFixed(1)} s of acknowledged payments lost from the books`)
  print(`RTO: reads after ${seconds.untilReads.toFixed(1)} s, payments after`)
  print(`  ${seconds.untilPayments.toFixed(1)} s; an operator adds the time to think`)
  if (notOnce.length > 0 || !audit.clean || lost.length === 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
