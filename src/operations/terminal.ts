/**
 * Terminal output of operator commands: colors, tables and records.
 *
 * - Colors only on a terminal; NO_COLOR is honored.
 */
import type { TimelineEntry__Output as TimelineEntry } from '../../protos/types/causeway/operator/v1/TimelineEntry.js'

const CODES = { good: 32, bad: 31, dim: 2, strong: 1 } as const

export type Paint = (style: keyof typeof CODES, text: string) => string

/** `hasColors` honors NO_COLOR. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (!stream.isTTY || !stream.hasColors()) return (_style, text) => text
  return (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`
}

/** Columns as wide as their widest cell; `rightAligned` are column indexes. */
export function table(
  rows: readonly (readonly string[])[],
  rightAligned: readonly number[],
): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  }
  const pad = (cell: string, i: number): string =>
    rightAligned.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
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
