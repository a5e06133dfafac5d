/**
 * The metrics of several processes as one page.
 *
 * Owns: joining texts in Prometheus' exposition format. Does not own: any metric of a process.
 *
 * - A family is announced once, with the samples of all processes beneath it, as the format
 *   demands.
 * - Every sample carries the name of its process, unless it names one itself.
 */

interface Family {
  /** Its HELP and TYPE lines, as first seen. */
  readonly head: string[]
  readonly samples: string[]
}

const COMMENT = /^# (?:HELP|TYPE) (\S+)/
/** name, labels with their braces if any, value and perhaps a time. */
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (.+)$/

export function joinExpositions(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>()
  for (const [process, text] of texts) collect(families, process, text)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/**
 * Samples follow the head of their family: a histogram's `_bucket` belongs to the name above it.
 */
function collect(families: Map<string, Family>, process: string, text: string): void {
  let family: Family | undefined
  let isFirst = false
  let announced = ''
  for (const line of text.split('\n')) {
    const comment = COMMENT.exec(line)
    if (comment !== null) {
      const name = comment[1] ?? ''
      if (name !== announced) {
        isFirst = !families.has(name)
        announced = name
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
