/**
 * Compares a statement that an operator uploads, as `reconcile` does.
 *
 * - The file is in a private folder while it is compared, and deleted then.
 * - One statement is compared at a time, because each is in memory while it arrives.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.js'
import { CommandFault } from '../../operations/calls/command_fault.js'
import {
  compareStatement,
  periodIn,
  statementAt,
  valueOf,
} from '../../operations/money/statement_comparison.js'
import type { Finding } from '../../reconciliation/compare.js'
import { FINDINGS_HEAD, findingLine } from '../../reconciliation/findings_csv.js'
import type { BadLine } from '../../reconciliation/statement.js'
import type { StatementRun } from '../session/statement_run.js'
import type { Clients } from '../session/uplink.js'

export const STATEMENT_MAX_BYTES = 32 * 1_024 * 1_024
const FINDINGS_SHOWN_MAX = 200
const CSV_MAX = 4 * 1_024 * 1_024

export interface Upload {
  readonly clients: Clients
  readonly clock: Clock
  readonly file: File
  readonly from: string
  readonly to: string
  readonly reason: string
}

let isComparing = false

/** @throws CommandFault when the period or the file is none, Refused, or Error when a call fails */
export async function runStatement({ file, from, to, ...upload }: Upload): Promise<StatementRun> {
  if (isComparing) throw new CommandFault('Another statement is being compared. Try again later.')
  isComparing = true
  let folder = ''
  try {
    folder = await mkdtemp(join(tmpdir(), 'causeway-statement-'))
    const period = periodIn({ from, ...(to === '' ? {} : { until: to }) })
    const name = file.name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(-80) || 'statement.csv'
    const path = join(folder, name)
    await writeFile(path, Buffer.from(await file.arrayBuffer()), { mode: 0o600 })
    const findings = createFindings()
    const { access } = upload.clients
    const actor = { name: '', reason: upload.reason }
    const operation = { access, actor, clock: upload.clock }
    const outcome = await compareStatement(operation, period, statementAt(path), findings)
    return { file: name, ...period, outcome: valueOf(outcome), ...findings.kept() }
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    throw new CommandFault(error.message.replace(`${folder}/`, '').replaceAll('--', ''))
  } finally {
    isComparing = false
    if (folder !== '') await rm(folder, { recursive: true, force: true })
  }
}

function createFindings() {
  const shown: (Finding | BadLine)[] = []
  const lines: string[] = []
  let size = 0
  let left = 0
  return {
    add: (finding: Finding | BadLine): Promise<void> => {
      const isMatch = 'status' in finding && finding.status === 'matched'
      if (!isMatch && shown.length < FINDINGS_SHOWN_MAX) shown.push(finding)
      const line = findingLine(finding)
      size += line.length
      if (size <= CSV_MAX) lines.push(line)
      else left += 1
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    kept: () => ({ findings: shown, csv: FINDINGS_HEAD + lines.join(''), left }),
  }
}
