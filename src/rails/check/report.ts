/** The kit's report: a table for people, JSON for programs. */
import type { LineResult } from './run.js'

const WORDS = { pass: 'pass', fail: 'FAIL', skip: 'skip' } as const
const WIDTH = 96

export interface Checked {
  readonly address: string
  readonly rail: string
  readonly finalityWindowMs: number
}

export const headLine = ({ address, rail, finalityWindowMs }: Checked): string =>
  `rail ${rail} at ${address}, finality window ${finalityWindowMs} ms\n`

/** A line of the table: the result, the name, the sentence, and below it what was seen. */
export function tableLine(line: LineResult, nameWidth: number): string {
  const { result, name, sentence } = line
  const indent = ' '.repeat(nameWidth + 8)
  const text = wrapped(sentence, WIDTH - indent.length).join(`\n${indent}`)
  const row = `${WORDS[result]}  ${name.padEnd(nameWidth)}  ${text}`
  if (line.result === 'pass') return row
  return `${row}\n${wrapped(`→ ${line.reason}`, WIDTH - indent.length)
    .map((each) => indent + each)
    .join('\n')}`
}

export function totalLine(results: readonly LineResult[]): string {
  const { passed, failed, skipped } = countsOf(results)
  return `\n${passed} passed, ${failed} failed, ${skipped} skipped`
}

export const jsonReport = (checked: Checked, results: readonly LineResult[]): string =>
  JSON.stringify({
    address: checked.address,
    rail: checked.rail,
    finality_window_ms: checked.finalityWindowMs,
    ...countsOf(results),
    lines: results,
  })

export function countsOf(results: readonly LineResult[]) {
  const count = (wanted: LineResult['result']): number =>
    results.filter(({ result }) => result === wanted).length
  return { passed: count('pass'), failed: count('fail'), skipped: count('skip') }
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
