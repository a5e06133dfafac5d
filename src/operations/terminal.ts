/**
 * How operators' commands look on a terminal.
 *
 * Owns: colours and tables. T1. Colours only where somebody sees them; NO_COLOR is honored.
 */

const CODES = { good: 32, bad: 31, dim: 2, strong: 1 } as const

export type Paint = (style: keyof typeof CODES, text: string) => string

/** Node itself looks at NO_COLOR when it is asked for the colours of a stream. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (!stream.isTTY || !stream.hasColors()) return (_style, text) => text
  return (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`
}

/** Columns as wide as their widest cell; those named are set to the right. */
export function table(rows: readonly (readonly string[])[], toTheRight: readonly number[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  }
  const pad = (cell: string, i: number): string =>
    toTheRight.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}
