/** Generated tables in the guides. */

/** The guide with these rows in the table that has this head. */
export function withTable(
  guide: string,
  head: string,
  rows: readonly (readonly string[])[],
): string {
  const start = guide.indexOf(head)
  if (start < 0) throw new Error(`the guide has no table ${head}`)
  const rest = guide.slice(start)
  const end = /\n(?!\|)/.exec(rest)?.index ?? rest.length
  const rule = head.replaceAll(/[^|]+/g, '---')
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  return [guide.slice(0, start), [head, rule, ...lines].join('\n'), rest.slice(end)].join('')
}
