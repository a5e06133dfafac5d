/**
 * The open links of an adapter: which of them gets a report.
 *
 * - A report goes to the newest link that names its instruction's shard, or no shard. An
 *   instruction without a shard counts as one of the lowest shard, unless a link names none.
 * - When a link closes, the link that replaces it gets the unacknowledged reports again: a peer
 *   that no longer owns its books cannot acknowledge reports.
 */
import type { RailReport } from '../rail.js'
import type { Link } from './link.js'

export interface Links {
  readonly size: number
  add(link: Link): void
  remove(link: Link): void
  /** Whether this link gets the report. */
  takes(link: Link, report: RailReport): boolean
  send(reports: readonly RailReport[]): void
  all(): readonly Link[]
}

export function createLinks(): Links {
  /** In the order of their opening. */
  const links = new Set<Link>()

  const linkOf = (shard: string | undefined): Link | undefined => {
    const inOrder = [...links]
    if (shard !== undefined) return inOrder.findLast((link) => isOf(link, shard))
    const unnamed = inOrder.findLast(({ shards }) => shards.length === 0)
    const [first] = inOrder.flatMap(({ shards }) => shards).sort()
    return unnamed ?? inOrder.findLast(({ shards }) => shards.some((each) => each === first))
  }

  const takes = (link: Link, { shard }: RailReport): boolean => linkOf(shard) === link

  return {
    get size() {
      return links.size
    },
    add: (link) => void links.add(link),
    remove: (link) => {
      links.delete(link)
      const successors = link.shards.length === 0 ? [...links] : link.shards.map(linkOf)
      for (const successor of new Set(successors)) successor?.repeat()
    },
    takes,
    send: (reports) => {
      const byShard = new Map<string | undefined, RailReport[]>()
      for (const report of reports) {
        const its = byShard.get(report.shard)
        if (its === undefined) byShard.set(report.shard, [report])
        else its.push(report)
      }
      for (const [shard, its] of byShard) linkOf(shard)?.send(its)
    },
    all: () => [...links],
  }
}

const isOf = ({ shards }: Link, shard: string): boolean =>
  shards.length === 0 || shards.includes(shard)
