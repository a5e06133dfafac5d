/**
 * A bank network and the wire to it.
 *
 * Owns: the wire, which loses, repeats, delays and reorders, and a network that now and then says
 * what is not so. Does not own: the rules of the bank, which are the sandbox's own, on books that
 * nothing can hurt.
 *
 * R1. The books are the oracle: what they say was paid was paid.
 * R2. A lie is only told beside the truth, and the truth is told until it is acknowledged.
 */
import type { Clock } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { RailOrder, RailReport } from '../../src/rails/rail.js'
import { reportOf, type Entry } from '../../src/rails/sandbox/entry.js'
import { createGroup } from '../../src/rails/sandbox/group.js'
import type { Discrepancy } from '../../src/rails/sandbox/journal.js'
import type { Chance } from '../fuzz/chance.js'

/** Each once in so many times; 0: never. */
export interface WireFaults {
  readonly loss: number
  readonly repeat: number
  readonly lie: number
}

export interface FaultyRail {
  readonly entries: ReadonlyMap<string, Entry>
  /** Instructions that came again with other content. */
  readonly discrepancies: readonly Discrepancy[]
  /** About whom something was said that is not so. */
  readonly liedAbout: ReadonlySet<string>
  readonly isUp: boolean
  /** It speaks of another amount or account than was paid. */
  differs(report: RailReport): boolean
  orders(): number
  reports(): number
  send(orders: readonly RailOrder[]): void
  /** One order arrives. */
  receive(): void
  /** One report arrives. */
  deliver(): RailReport
  /** The bank does what is due. */
  work(): void
  nextDueAt(): number | null
  cut(): void
  join(): void
  /** From now on the wire is good and the network tells the truth. */
  behave(): void
}

const DELAYS = [0, 0, 50, 250, 2_000] as const

export function createFaultyRail(
  clock: Clock,
  random: Random,
  chance: Chance,
  given: WireFaults,
): FaultyRail {
  const entries = new Map<string, Entry>()
  const discrepancies: Discrepancy[] = []
  const liedAbout = new Set<string>()
  let faults = given
  let isUp = true
  let orders: RailOrder[] = []
  let reports: RailReport[] = []
  const happens = (times: number): boolean => times > 0 && chance.once(times)
  const take = <Item>(list: Item[]): Item => list.splice(chance.int(list.length), 1)[0]!

  const put = <Item>(list: Item[], item: Item): void => {
    if (!isUp || happens(faults.loss)) return
    list.push(item)
    if (happens(faults.repeat)) list.push(item)
  }
  const tell = (report: RailReport): void => {
    put(reports, report)
    if (report.reportId === null || !happens(faults.lie)) return
    const lie = lieAbout(report, chance)
    if (lie === null) return
    liedAbout.add(report.id)
    put(reports, lie)
  }
  const moment = () => ({ now: clock.now(), random, delayMs: chance.pick(DELAYS) })

  const decide = (known: Entry | undefined, run: (group: Group) => RailReport | null): void => {
    const group = createGroup(known === undefined ? [] : [known], moment())
    const reply = run(group)
    const changes = group.changes()
    for (const entry of changes.entries) entries.set(entry.id, entry)
    for (const reportId of changes.acknowledged) acknowledge(reportId)
    discrepancies.push(...changes.discrepancies)
    for (const news of group.news()) tell(news)
    if (reply !== null) tell(reply)
  }
  const acknowledge = (reportId: string): void => {
    for (const entry of entries.values()) {
      if (entry.reportId === reportId) entries.set(entry.id, { ...entry, reportId: null })
    }
  }
  const follow = (order: RailOrder): void => {
    const id = order.kind === 'instruct' ? order.instruction.id : 'id' in order ? order.id : ''
    if (order.kind === 'recall' && happens(faults.lie)) {
      return tell({ status: 'recall_refused', id: order.id, reportId: null })
    }
    decide(entries.get(id), (group) => group.decide(order))
  }
  const dueNow = (): Entry[] =>
    [...entries.values()].filter(({ due }) => due !== null && due.at <= clock.now())

  return {
    entries,
    discrepancies,
    liedAbout,
    get isUp() {
      return isUp
    },
    differs: (report) => {
      if (report.status !== 'executed' && report.status !== 'returned') return false
      const entry = entries.get(report.id)
      return report.amount !== entry?.amount || report.destinationAccount !== entry.account
    },
    orders: () => orders.length,
    reports: () => reports.length,
    send: (sent) => {
      for (const order of sent) put(orders, order)
    },
    receive: () => follow(take(orders)),
    deliver: () => take(reports),
    work: () => {
      for (const entry of dueNow()) {
        decide(entry, (group) => {
          group.carryOut(entry)
          return null
        })
      }
    },
    nextDueAt: () => {
      const times = [...entries.values()].flatMap(({ due }) => due?.at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },
    cut: () => {
      isUp = false
      orders = []
      reports = []
    },
    join: () => {
      isUp = true
      for (const entry of entries.values()) {
        if (entry.reportId !== null) tell(reportOf(entry, entry.reportId))
      }
    },
    behave: () => {
      faults = { loss: 0, repeat: 0, lie: 0 }
    },
  }
}

type Group = ReturnType<typeof createGroup>

/** Something else about the same instruction; null where there is nothing to lie about. */
function lieAbout(report: RailReport, chance: Chance): RailReport | null {
  const { id } = report
  switch (report.status) {
    case 'executed':
      return chance.pick<RailReport>([
        { status: 'refused', id, reportId: null, refusal: 'rejected' },
        { ...report, reportId: null, amount: report.amount + 1n },
        { ...report, reportId: null, transactionId: 'sbx_another' },
        { ...report, reportId: null, destinationAccount: '1' },
      ])
    case 'refused':
      return { status: 'not_found', id, reportId: null }
    case 'returned':
      return { status: 'refused', id, reportId: null, refusal: 'account_closed' }
    default:
      return null
  }
}
