/** Faults of an adapter, each by the line of the kit that finds it. */
import { systemClock } from '../../src/base/clock.js'
import type { Report__Output as Report } from '../../protos/types/causeway/rail/v1/Report.js'
import { instructing, type FaultyRun, type WireFault } from './faulty_adapter.js'

/** One that remembers nothing. */
const always =
  (run: FaultyRun): WireFault =>
  () =>
  () =>
    run

const reporting = (change: (report: Report) => Report): WireFault => always({ report: change })

const isAnswer = ({ report_id: reportId }: Report): boolean => reportId === ''

/** Recognizes a repeated instruction by this text alone, and pays each text once. */
const recognizing =
  (textOf: (order: { id: string; amount: string }, link: number) => string): WireFault =>
  (again) => {
    const ids = new Set<string>()
    const texts = new Set<string>()
    return () => ({
      order: (order, link) => {
        const { instruct } = order
        if (instruct == null) return [order]
        const text = textOf(instruct, link)
        const isPaidAgain = ids.has(instruct.id) && !texts.has(text)
        ids.add(instruct.id)
        texts.add(text)
        return [isPaidAgain ? again(instruct) : order]
      },
    })
  }

const inOneRun: WireFault = (again) => {
  const ever = new Set<string>()
  return () => {
    const known = new Set<string>()
    return {
      order: (order) => {
        const { instruct } = order
        if (instruct == null) return [order]
        const isForgotten = ever.has(instruct.id) && !known.has(instruct.id)
        ever.add(instruct.id)
        known.add(instruct.id)
        return [isForgotten ? again(instruct) : order]
      },
    }
  }
}

/** It would be carried out later, and the restart comes before. */
const recallsInMemory: WireFault = () => () => ({
  order: (order) => (order.recall == null ? [order] : []),
})

/** The second answer about an instruction is that it was accepted. */
const goingBack: WireFault = () => {
  const answers = new Map<string, number>()
  return () => ({
    report: (report) => {
      if (!isAnswer(report) || report.status !== 'executed') return report
      const count = (answers.get(report.id) ?? 0) + 1
      answers.set(report.id, count)
      return count < 2 ? report : { ...report, status: 'accepted' }
    },
  })
}

export interface PlantedFault {
  readonly fault: string
  readonly line: string
  readonly plant: WireFault
}

export const WIRE_FAULTS: readonly PlantedFault[] = [
  {
    fault: 'ids are forgotten at a restart: paid twice',
    line: 'restart_then_duplicate',
    plant: inOneRun,
  },
  {
    fault: 'an id is recognized on its own link only: paid twice',
    line: 'lost_answer',
    plant: recognizing(({ id }, link) => `${id} ${link}`),
  },
  {
    fault: 'an id is recognized with the same content only: paid twice',
    line: 'duplicate_other',
    plant: recognizing(({ id, amount }) => `${id} ${amount}`),
  },
  {
    fault: 'not_after is ignored',
    line: 'not_after',
    plant: always({
      order: (order) =>
        order.instruct == null
          ? [order]
          : [instructing({ ...order.instruct, not_after: String(systemClock.now() + 60_000) })],
    }),
  },
  {
    fault: 'what is not known is refused',
    line: 'unknown_inside_window',
    plant: reporting((report) =>
      report.status === 'not_found'
        ? { ...report, status: 'refused', refusal: 'rejected' }
        : report,
    ),
  },
  {
    fault: 'a refused recall refuses the payment',
    line: 'recall_refused',
    plant: reporting((report) =>
      report.status === 'recall_refused'
        ? { ...report, status: 'refused', refusal: 'rejected' }
        : report,
    ),
  },
  {
    fault: 'less comes back than was paid',
    line: 'recall_agreed',
    plant: reporting((report) =>
      report.status === 'returned'
        ? { ...report, amount: String(BigInt(report.amount) - 1n) }
        : report,
    ),
  },
  {
    fault: 'a query is answered with another transaction',
    line: 'query_known',
    plant: reporting((report) =>
      isAnswer(report) && report.status === 'executed'
        ? { ...report, transaction_id: `${report.transaction_id}_2` }
        : report,
    ),
  },
  { fault: 'a recall is kept in memory', line: 'restart_after_recall', plant: recallsInMemory },
  { fault: 'an answer takes an execution back', line: 'contradiction', plant: goingBack },
]
