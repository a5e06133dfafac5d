/** Runs the audit on a stack under test. */
import type { Test } from 'tap'
import { storeSettings } from './books.js'
import { eventually } from './eventually.js'
import { startProgram } from './program.js'

const AUDITED_EVERY_MS = 500

export interface AuditResult {
  readonly clean: boolean
  /** Its output: the checklist, or the violation with its timeline. */
  readonly report: string
}

export async function auditOf(
  dataDir: string,
  settings = storeSettings(dataDir),
  more: readonly string[] = [],
): Promise<AuditResult> {
  const { exitCode, out, err } = await startProgram(
    'audit/main.js',
    ['--data-dir', dataDir, ...more],
    settings,
  ).ended
  return { clean: exitCode === 0, report: out + err }
}

/** Resolves when the audit finds none; each look is a run of it. @throws when the time is over */
export const untilClean = (dataDir: string, withinMs?: number): Promise<AuditResult> =>
  eventually(
    'the audit is clean',
    async () => {
      const result = await auditOf(dataDir)
      return result.clean && result
    },
    withinMs,
    AUDITED_EVERY_MS,
  )

/** Fails the test with the violation when the audit finds one. @returns the report */
export async function assertCleanAudit(t: Test, dataDir: string): Promise<string> {
  const { clean, report } = await auditOf(dataDir)
  t.ok(clean, report)
  return report
}
