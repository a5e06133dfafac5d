/** The trace of a run: its digest and the count of each kind of line. */
import { createHash } from 'node:crypto'

export interface Trace {
  add(what: string): void
  /** Counted, not written to the trace. */
  count(what: string): void
  readonly counts: ReadonlyMap<string, number>
  digest(): string
}

export function createTrace(now: () => number, onLine: (line: string) => void): Trace {
  const hash = createHash('sha256')
  const counts = new Map<string, number>()
  let lines = 0
  return {
    add: (what) => {
      lines += 1
      const line = `${lines} ${now()} ${what}`
      hash.update(`${line}\n`)
      onLine(line)
    },
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    counts,
    digest: () => hash.copy().digest('hex'),
  }
}
