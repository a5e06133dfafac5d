/**
 * The limit of connections per source.
 *
 * Does not own: closing a connection (http/server.ts), which addresses form one source
 * (base/network.ts).
 *
 * uWebSockets.js reports that a connection ended but not which one. This file therefore counts
 * openings, so the count may be too high but never too low. It reads the kernel's socket table when
 * a count nears the limit.
 *
 * - A source may open a connection while it has fewer than `max` and fewer than are still free. So
 *   one source takes at most half of the connections, two at most a third each. No source is
 *   rejected while it has less than half of its limit and opens less than half of it in a second.
 * - The kernel is read at most once in RECHECK_MS, in the background. While a source is at its
 *   limit the count is refreshed that often, so a source that closes connections is not rejected by
 *   an old count.
 * - Without a readable socket table no connection is rejected.
 * - Closed sources disappear at the next count, which SOURCES_MAX sources trigger.
 */
import type { Logger } from '../../src/base/log.js'
import { SECOND } from '../../src/base/clock.js'

/** Open connections by source. */
export type OpenConnections = ReadonlyMap<string, number>

export interface ConnectionCapOptions {
  readonly max: number
  readonly countOpen: () => Promise<OpenConnections>
  readonly log: Logger
}

/** Whether the source may keep one more connection, when `capacity` more are free. */
export type ConnectionCap = (source: string, capacity: number) => boolean

const RECHECK_MS = SECOND
const SOURCES_MAX = 10_000

export function createConnectionCap({ max, countOpen, log }: ConnectionCapOptions): ConnectionCap {
  let opened = new Map<string, number>()
  /** Opened since the current count began; undefined between counts. */
  let openedDuringCount: Map<string, number> | undefined
  let isCoolingDown = false
  /** The limit of one source: `max`, or less when connections are scarce. */
  let bound = max
  let off = false

  const recount = async (): Promise<void> => {
    if (openedDuringCount !== undefined || isCoolingDown) return
    const since = (openedDuringCount = new Map<string, number>())
    try {
      const counted = new Map(await countOpen())
      for (const [source, count] of since) add(counted, source, count)
      opened = counted
    } catch (error) {
      off = true
      log.warn({ error }, 'connection limit is off: the socket table cannot be read')
    }
    openedDuringCount = undefined
    isCoolingDown = true
    setTimeout(endCooldown, RECHECK_MS).unref()
  }

  const endCooldown = (): void => {
    isCoolingDown = false
    if (off) return
    for (const held of opened.values()) if (held >= bound) return void recount()
  }

  return (source, capacity) => {
    if (off) return true
    bound = Math.min(max, capacity)
    const held = opened.get(source) ?? 0
    if (held >= bound / 2 || opened.size >= SOURCES_MAX) void recount()
    if (held >= bound) return false
    add(opened, source, 1)
    if (openedDuringCount !== undefined) add(openedDuringCount, source, 1)
    return true
  }
}

const add = (counts: Map<string, number>, source: string, count: number): void => {
  counts.set(source, (counts.get(source) ?? 0) + count)
}
