/** The processor's own counters, from the metrics page of its stack. */

export interface Counters {
  /** Commands that the processor decided. */
  readonly commands: number
  /** Its commits, an fsync each. */
  readonly commits: number
  /** Commands that wait to be decided. */
  readonly waiting: number
}

export async function countersOf(opsUrl: string): Promise<Counters> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return {
    commands: sampleOf(text, 'causeway_commands_total'),
    commits: sampleOf(text, 'causeway_commits_total'),
    waiting: sampleOf(text, 'causeway_waiting'),
  }
}

/** The first sample of a metric, whatever its labels. */
export function sampleOf(metricsText: string, metric: string): number {
  const line = metricsText
    .split('\n')
    .find((text) => text.startsWith(`${metric} `) || text.startsWith(`${metric}{`))
  if (line === undefined) throw new Error(`there is no metric ${metric}`)
  return Number(line.slice(line.lastIndexOf(' ') + 1))
}
