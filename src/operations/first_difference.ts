/**
 * Where two texts part, for a person who must see it: line, column, and both lines with what is
 * invisible in them escaped.
 */
export interface FirstDifference {
  /** Both from 1, in characters. */
  readonly line: number
  readonly column: number
  /** The whole line with its end, as `shown`; empty: that text has ended before. */
  readonly theirs: string
  readonly ours: string
}

export function firstDifference(theirs: string, ours: string): FirstDifference | undefined {
  const theirLines = linesOf(theirs)
  const ourLines = linesOf(ours)
  const count = Math.max(theirLines.length, ourLines.length)
  for (let i = 0; i < count; i++) {
    const [their, our] = [theirLines[i] ?? '', ourLines[i] ?? '']
    if (their === our) continue
    return { line: i + 1, column: columnOf(their, our), theirs: shown(their), ours: shown(our) }
  }
  return undefined
}

/** Each with its line feed: a last one that is missing is a difference too. */
const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/)

function columnOf(their: string, our: string): number {
  const [one, other] = [[...their], [...our]]
  let at = 0
  while (one[at] === other[at]) at += 1
  return at + 1
}

/** JSON text, in which every character but printable ASCII is an escape. */
export const shown = (line: string): string =>
  JSON.stringify(line).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
