/**
 * The last line: all that was reported about an instruction is one story.
 *
 * - Only instructions of lines that passed are judged, so a fault is found once.
 */
import type { Reported } from '../check_link.js'
import { demand, type Run, type Sent } from '../context.js'

export const CONTRADICTION = {
  name: 'contradiction',
  sentence: 'No two reports of an instruction contradict each other.',
}

const PER_MESSAGE = 250

/** @throws Violation that names the instruction */
export async function demandOneStory(run: Run, sents: readonly Sent[]): Promise<void> {
  await askForAll(run, sents)
  for (const { id } of sents) {
    const fault = contradictionIn(run.history(id))
    demand(fault === undefined, `${id} ${fault}`)
  }
}

async function askForAll(run: Run, sents: readonly Sent[]): Promise<void> {
  const shards = new Set(sents.map(({ shard }) => shard))
  for (const shard of shards) {
    const link = run.open(shard === undefined ? {} : { shard })
    const its = sents.filter((sent) => sent.shard === shard)
    for (let n = 0; n < its.length; n += PER_MESSAGE) {
      const asked = its.slice(n, n + PER_MESSAGE)
      void link.send(...asked.map(({ id, environment }) => ({ query: { id, environment } })))
      await link.until('the answers to the last queries', () =>
        asked.every(({ id }) => link.about(id).some(isAnswer)),
      )
    }
  }
}

const isAnswer = ({ report_id: reportId }: Reported): boolean => reportId === ''

/** How far an answer says that an instruction has come; it never goes back. */
const PROGRESS: Readonly<Record<string, number>> = {
  not_found: 0,
  accepted: 1,
  refused: 2,
  executed: 2,
  returned: 3,
}

function contradictionIn(reports: readonly Reported[]): string | undefined {
  const executions = reports.filter(({ status }) => status === 'executed' || status === 'returned')
  const isRefused = reports.some(({ status }) => status === 'refused')
  if (isRefused && executions.length > 0) return 'was refused and executed'
  const stories = new Set(executions.map(executionIn))
  if (stories.size > 1) return `was executed as ${[...stories].join(' and ')}`
  let progress = 0
  for (const { status } of reports.filter(isAnswer)) {
    const next = PROGRESS[status] ?? progress
    if (next < progress) return `was further than \`${status}\` before`
    progress = next
  }
  return undefined
}

const executionIn = (report: Reported): string =>
  [report.transaction_id, report.amount, report.currency, report.destination_account].join(' ')
