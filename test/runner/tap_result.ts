/**
 * Reads the TAP output of a test file: assertions at every depth, skipped tests, failures.
 *
 * - A test names lines of compiled files: it reads no source map, and this does when it fails.
 */
import { inspect } from 'node:util'
import { Parser, type Result } from 'tap-parser'
import { inSources } from '../../src/process/source_positions.js'
import { SQLITE_ONLY_REASON } from './not_applicable.js'

const DIAGNOSIS_LINES_MAX = 60

export interface TapResult {
  /** Passed assertions, without the closing lines of subtests. */
  readonly passed: number
  /** Name and reason of each skipped test or assertion. */
  readonly skipped: readonly string[]
  /** Name and reason of each test that the store of the run has no subject for. */
  readonly notApplicable: readonly string[]
  /** One text per failed assertion, and one for truncated output. */
  readonly failures: readonly string[]
}

export function readTap() {
  let passed = 0
  const skipped: string[] = []
  const notApplicable: string[] = []
  const failures: string[] = []
  let finish: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const parser = new Parser((results) => {
    if (!results.ok && failures.length === 0) failures.push('the output is truncated')
    finish()
  })
  parser.on('pass', (result: Result) => {
    if (result.closingTestPoint !== true) passed += 1
  })
  parser.on('skip', ({ fullname, skip }: Result) => {
    const why = typeof skip === 'string' ? skip : ''
    const list = why.startsWith(SQLITE_ONLY_REASON) ? notApplicable : skipped
    list.push(why === '' ? fullname : `${fullname}: ${why}`)
  })
  parser.on('fail', (result: Result) => {
    if (result.closingTestPoint !== true) failures.push(diagnosisOf(result))
  })
  return {
    write: (text: string) => void parser.write(text),
    end: async (): Promise<TapResult> => {
      parser.end()
      await finished
      return { passed, skipped, notApplicable, failures }
    },
  }
}

interface CallSite {
  readonly fileName: string
  readonly lineNumber: number
  readonly columnNumber: number
}

interface Diagnosis extends Readonly<Record<string, unknown>> {
  readonly at?: CallSite
}

function diagnosisOf({ fullname, diag }: Result): string {
  const lines = [`not ok: ${fullname}`]
  const { diff, stack, at, source: _source, ...rest } = (diag ?? {}) as Diagnosis
  if (at !== undefined) lines.push(`at ${at.fileName}:${at.lineNumber}:${at.columnNumber}`)
  if (Object.keys(rest).length > 0) lines.push(inspect(rest, { depth: 4, breakLength: 100 }))
  for (const text of [diff, stack]) if (typeof text === 'string') lines.push(text.trimEnd())
  return inSources(lines.join('\n'))
    .split('\n')
    .slice(0, DIAGNOSIS_LINES_MAX)
    .map((line) => `    ${line}`)
    .join('\n')
}
