/** The first difference of two texts, with invisible characters escaped. */
export interface FirstDifference {
  /** Both from 1, in characters. */
  readonly line: number
  readonly column: number
  /** The whole line with its line feed, escaped. Empty means that this text is shorter. */
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

/** Each with its line feed: a missing last one is a difference too. */
const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/)

function columnOf(their: string, our: string): number {
  const [one, other] = [[...their], [...our]]
  let at = 0
  while (one[at] === other[at]) at += 1
  return at + 1
}

/** A JSON string with everything but printable ASCII escaped. */
export const shown = (line: string): string =>
  JSON.stringify(line).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
