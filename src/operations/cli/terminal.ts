/**
 * Terminal output of operator commands: colors, tables and records.
 *
 * - Colors only on a terminal; NO_COLOR is honored.
 * - Texts of people and partners are written with their control and format characters escaped: they
 *   cannot move the cursor, add a line or turn the direction of what is beside them.
 */
import type { Readable, Writable } from 'node:stream'
import { toVisibleText } from '../../base/visible_text.js'
import type { TimelineEntry__Output as TimelineEntry } from '../../../protos/types/causeway/operator/v1/TimelineEntry.js'

const CODES = { good: 32, bad: 31, dim: 2, strong: 1 } as const

export type Paint = (style: keyof typeof CODES, text: string) => string

/** Where a call prints. */
export interface Output {
  readonly paint: Paint
  /** A person who can answer questions. Absent if the command runs in a script. */
  readonly terminal?: Readable
  readonly out: Writable
  readonly err: Writable
}

/** `hasColors` honors NO_COLOR. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (!stream.isTTY || !stream.hasColors()) return (_style, text) => text
  return (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`
}

/** Between the rows of a table; no stored text contains NUL (base/text). */
const ROW_END = '\0'
/** A line that is painted as a whole. */
const PAINTED = /^(\u001b\[(?:1|2|31|32)m)(.*)(\u001b\[0m)$/s

/** The lines of a report as they are written, without the last line feed. */
export const terminalText = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => line.split(ROW_END))
    .map(terminalLine)
    .join('\n')

function terminalLine(line: string): string {
  const [, begin, text, end] = PAINTED.exec(line) ?? []
  return text === undefined ? toVisibleText(line) : `${begin}${toVisibleText(text)}${end}`
}

/** A message of several lines. */
export const terminalMessage = (message: string): string => terminalText(message.split('\n'))

/** Columns as wide as their widest cell; `rightAligned` are column indexes. */
export function table(
  given: readonly (readonly string[])[],
  rightAligned: readonly number[],
): string {
  const rows = given.map((row) => row.map(toVisibleText))
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  }
  const pad = (cell: string, i: number): string =>
    rightAligned.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join(ROW_END)
}

/** A label and its value; an empty value is omitted. */
export type Fact = readonly [label: string, value: string]

/** An intent or payout: a headline, its facts, its history. */
export const recordLines = (
  head: string,
  facts: readonly Fact[],
  timeline: readonly TimelineEntry[],
): string[] => [
  head,
  table(
    facts.filter(([, value]) => value !== '').map(([label, value]) => [`  ${label}`, value]),
    [],
  ),
  table(
    timeline.map(({ at, kind, text }) => [at, kind, text]),
    [],
  ),
]
