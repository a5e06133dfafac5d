/**
 * How often each fault was caused, the pauses of the partners that it affected, and the webhooks
 * that were posted again.
 */
import type { Fault, FaultKind } from './faults.js'

export const inSeconds = (ms = 0): string => (ms / 1_000).toFixed(1).padStart(5)

export function createFaultTable() {
  const pausesOf = new Map<Fault, number[]>()
  const repeatedBy = new Map<Fault, number>()
  const total = (kind: FaultKind): number =>
    [...pausesOf].reduce((sum, [fault, { length }]) => sum + (fault.kind === kind ? length : 0), 0)
  return {
    /** @param pause milliseconds without a success, of the partner that was affected most */
    add: (fault: Fault, pause: number) =>
      pausesOf.set(fault, [...(pausesOf.get(fault) ?? []), pause]),
    /** Posts of webhooks beyond one for each event, from the fault until the next one. */
    posted: (fault: Fault, repeated: number) =>
      void repeatedBy.set(fault, (repeatedBy.get(fault) ?? 0) + repeated),
    lines: (takeOvers: number): readonly string[] => [
      '   times  pause: median, worst  posts again',
      ...[...pausesOf].map(([fault, pauses]) => {
        const { name } = fault
        const sorted = [...pauses].sort((one, other) => one - other)
        const median = inSeconds(sorted[Math.floor(sorted.length / 2)])
        const times = String(sorted.length).padStart(8)
        const again = String(repeatedBy.get(fault) ?? 0).padStart(11)
        return `${times}  ${median} s, ${inSeconds(sorted.at(-1))} s     ${again}  ${name}`
      }),
      `${total('kill')} kills, ${total('pause')} pauses, ${total('partition')} partitions, ` +
        `${total('clock')} steps of clocks, ${total('move')} moves, ` +
        `${total('restore')} restores, ${takeOvers} take-overs`,
    ],
  }
}
