/**
 * Prometheus' text format, and pages of several processes.
 *
 * - Each family has one HELP and TYPE line, followed by all of its samples. A family without
 *   samples is left out.
 * - On the page of a stack every sample has a `process` label: its own, or that of its process.
 */
import type { Buckets } from './buckets.js'
import type { Family } from './family.js'

export interface Sample {
  /** The name's ending: `_bucket`, `_sum`, `_count`; empty for counters and gauges. */
  readonly ending: string
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

export function familyText(name: string, family: Family, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  const lines = samples.map(
    ({ ending, labels, value }) => `${name}${ending}${labelText(labels)} ${valueText(value)}\n`,
  )
  return `# HELP ${name} ${escaped(family.help)}\n# TYPE ${name} ${family.type}\n${lines.join('')}`
}

export function bucketSamples(
  { buckets }: Family,
  labels: Sample['labels'],
  { counts, sum }: Buckets,
): Sample[] {
  let count = 0
  const cumulative = [...counts].map((own, i): Sample => {
    count += own
    const bound = buckets[i] ?? Number.POSITIVE_INFINITY
    return { ending: '_bucket', labels: [...labels, ['le', valueText(bound)]], value: count }
  })
  return [
    ...cumulative,
    { ending: '_sum', labels, value: sum() },
    { ending: '_count', labels, value: count },
  ]
}

const labelText = (labels: Sample['labels']): string =>
  labels.length === 0
    ? ''
    : `{${labels.map(([name, value]) => `${name}="${escapedLabel(value)}"`).join(',')}}`

const valueText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : String(value)

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapedLabel = (text: string): string => escaped(text).replaceAll('"', '\\"')

interface MergedFamily {
  /** HELP and TYPE lines of the first process that has it. */
  readonly head: string[]
  readonly samples: string[]
}

const COMMENT = /^# (?:HELP|TYPE) (\S+)/
/** Name, optional labels in braces, value and optional timestamp. */
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (.+)$/

/** @param texts by process */
export function mergePages(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, MergedFamily>()
  for (const [process, text] of texts) collect(families, process, text)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Samples follow the header of their family; `_bucket` and `_sum` belong to the name above. */
function collect(families: Map<string, MergedFamily>, process: string, text: string): void {
  let family: MergedFamily | undefined
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
