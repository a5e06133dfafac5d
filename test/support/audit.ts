/** Runs the audit on a stack under test. */
import type { Test } from 'tap'
import { storeSettings } from './books.js'
import { startProgram } from './program.js'

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

/** Fails the test with the violation when the audit finds one. @returns the report */
export async function assertCleanAudit(t: Test, dataDir: string): Promise<string> {
  const { clean, report } = await auditOf(dataDir)
  t.ok(clean, report)
  return report
}
