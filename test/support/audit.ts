/** Runs the audit on a stack under test. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/protos.js'

export interface AuditResult {
  readonly clean: boolean
  /** Its output: the checklist, or the violation with its timeline. */
  readonly report: string
}

export function auditOf(dataDir: string): Promise<AuditResult> {
  const main = join(projectRoot(), '.build/src/audit/main.js')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, '--data-dir', dataDir], (error, stdout, stderr) => {
      resolve({ clean: error === null, report: stdout + stderr })
    })
  })
}
