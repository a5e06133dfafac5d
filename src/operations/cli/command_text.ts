/** Command lines that an operator copies into a shell: it reads every word as it is meant. */

const PLAIN = /^[\w@%+=:,./-]+$/

/** A word that a shell would split or expand is in single quotes. */
export const shellWord = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** Within double quotes, a shell expands these, and `!` where it is interactive. */
const EXPANDED = /[\\"$`!]/

/** `make ops ARGS="…"`: make expands `$`, then its shell reads the words once more. */
export function opsLine(...words: readonly string[]): string {
  const args = words.map(shellWord).join(' ')
  if (!EXPANDED.test(args)) return `make ops ARGS="${args}"`
  return `make ops ARGS=${shellWord(args.replaceAll('$', () => '$$'))}`
}
