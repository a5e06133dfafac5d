/**
 * Merges the Prometheus metrics of several processes into one page.
 *
 * - Each metric family has one HELP and TYPE header, followed by the samples of all processes.
 * - Every sample gets a `process` label unless it has one.
 */

interface Family {
  /** HELP and TYPE lines of the first process that has it. */
  readonly head: string[]
  readonly samples: string[]
}

const COMMENT = /^# (?:HELP|TYPE) (\S+)/
/** Name, optional labels in braces, value and optional timestamp. */
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (.+)$/

export function mergeMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>()
  for (const [process, text] of texts) collect(families, process, text)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Samples follow the header of their family; `_bucket` and `_sum` belong to the name above. */
function collect(families: Map<string, Family>, process: string, text: string): void {
  let family: Family | undefined
  let isFirst = false
  let current = ''
  for (const line of text.split('\n')) {
    const comment = COMMENT.exec(line)
    if (comment !== null) {
      const name = comment[1] ?? ''
      if (name !== current) {
        isFirst = !families.has(name)
        current = name
      }
      family = families.get(name) ?? { head: [], samples: [] }
      families.set(name, family)
      if (isFirst) family.head.push(line)
      continue
    }
    const sample = SAMPLE.exec(line)
    if (sample !== null) family?.samples.push(withProcess(process, sample))
  }
}

function withProcess(process: string, [line, name, labels, value]: RegExpExecArray): string {
  const given = labels?.slice(1, -1) ?? ''
  if (/(?:^|,)process="/.test(given)) return line
  const own = `process="${process}"`
  return `${name}{${given === '' ? own : `${given},${own}`}} ${value}`
}
