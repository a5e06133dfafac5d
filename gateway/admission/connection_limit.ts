/**
 * How many connections a source may hold.
 *
 * Owns: counting, saying which new one is too many. Does not own: closing it (server), which
 * addresses are one source (client_address).
 *
 * uWS tells that a connection has ended but not whose it was. So what is counted here is openings,
 * which can only be too many; and when they come near the cap, the kernel is asked what is open.
 *
 * - A source never holds more than `max`, nor more than it leaves free: of n sources each gets
 *   one part of n + 1, so one part stays free. It is refused none while it holds less than half
 *   of that and opens less than half of it in a second.
 * - The kernel is asked at most once in RECHECK_MS and is not waited for. While somebody is at
 *   the cap it is asked as often as that: whoever lets go is not refused by an old count.
 * - Where the kernel does not tell, nobody is refused.
 * - Sources that are gone are forgotten at the next count, which their number alone can cause.
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

/** Whether one more connection of this source may stay, with which `room` more are left free. */
export type ConnectionCap = (source: string, room: number) => boolean

const RECHECK_MS = SECOND
const SOURCES_MAX = 10_000

export function createConnectionCap({ max, countOpen, log }: ConnectionCapOptions): ConnectionCap {
  let opened = new Map<string, number>()
  /** Opened since the kernel was asked; undefined while it is not being asked. */
  let meanwhile: Map<string, number> | undefined
  let resting = false
  /** What a source may hold; see D1. */
  let bound = max
  let off = false

  const recount = async (): Promise<void> => {
    if (meanwhile !== undefined || resting) return
    const since = (meanwhile = new Map<string, number>())
    try {
      const counted = new Map(await countOpen())
      for (const [source, count] of since) add(counted, source, count)
      opened = counted
    } catch (error) {
      off = true
      log.warn({ err: error }, 'connections are not capped: the kernel does not tell them')
    }
    meanwhile = undefined
    resting = true
    setTimeout(rested, RECHECK_MS).unref()
  }

  const rested = (): void => {
    resting = false
    if (off) return
    for (const held of opened.values()) if (held >= bound) return void recount()
  }

  return (source, room) => {
    if (off) return true
    bound = Math.min(max, room)
    const held = opened.get(source) ?? 0
    if (held >= bound / 2 || opened.size >= SOURCES_MAX) void recount()
    if (held >= bound) return false
    add(opened, source, 1)
    if (meanwhile !== undefined) add(meanwhile, source, 1)
    return true
  }
}

const add = (counts: Map<string, number>, source: string, count: number): void => {
  counts.set(source, (counts.get(source) ?? 0) + count)
}
