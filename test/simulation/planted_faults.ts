/**
 * Faults injected into the statements on the owner row or into the order of the start. The
 * simulation must find each of them.
 */

import type { Swarm } from './swarm.js'

export interface PlantedFault {
  readonly name: string
  /** The kinds of simulated fault that reveal it. */
  readonly provokedBy: Partial<Swarm>
  readonly firstSeed: number
  /** The expected error of the simulation. */
  readonly finding: RegExp
  /** Changes the statements that contain the first text: the second one replaces the third. */
  readonly edit?: readonly [of: string, text: string, replacement: string]
  /** Memory is loaded before the take-over. */
  readonly bootsFirst?: true
  /** Reads are answered at once. */
  readonly barrier?: 'none'
  /** Answers with a warning count as answers without one. */
  readonly ignoresWarnings?: true
  /** Decisions ignore the newest moment of the books. */
  readonly machineClock?: true
}

const FENCE = 'SET last_batch'
const TAKE_OVER = 'SET epoch'

const REPEATED = { commitFails: 4, writeFaults: ['repeated'] } as const
const RESTARTS = { crash: 20, disturb: 30, acts: ['pause'] } as const
const RACES = { crash: 60, disturb: 10, acts: ['pause', 'cut'] } as const
const LEASE = /no take-over while the owner may answer reads/

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'no epoch in the fence',
    edit: [FENCE, 'epoch = ?1 AND ', ''],
    firstSeed: 20_261_142,
    provokedBy: RACES,
    finding: /F1: a commit of epoch/,
  },
  {
    name: 'no batch number in the fence',
    edit: [FENCE, ' AND last_batch = ?2 - 1', ''],
    firstSeed: 20_261_122,
    provokedBy: REPEATED,
    finding: /F1: batch/,
  },
  {
    name: 'a batch needs more than its predecessor',
    edit: [FENCE, 'last_batch = ?2', 'last_batch > ?2'],
    firstSeed: 20_261_122,
    provokedBy: {},
    finding: /F3: an owner is refused/,
  },
  {
    name: 'a repeated batch passes the fence',
    edit: [FENCE, 'last_batch = ?2', 'last_batch >= ?2'],
    firstSeed: 20_261_122,
    provokedBy: REPEATED,
    finding: /F1: batch/,
  },
  {
    name: 'a take-over without the seen epoch',
    edit: [TAKE_OVER, 'epoch = ?', '? IS NOT NULL'],
    firstSeed: 20_261_134,
    provokedBy: RACES,
    finding: LEASE,
  },
  {
    name: 'a take-over without the seen beat',
    edit: [TAKE_OVER, 'beat = ?', '? IS NOT NULL'],
    firstSeed: 20_261_142,
    provokedBy: RACES,
    finding: LEASE,
  },
  {
    name: 'memory is loaded before the take-over',
    bootsFirst: true,
    firstSeed: 20_261_194,
    provokedBy: RESTARTS,
    finding: /F2: memory is the books/,
  },
  {
    name: 'reads without a barrier',
    barrier: 'none',
    firstSeed: 20_261_151,
    provokedBy: { disturb: 15, acts: ['pause'], readsOnly: 100 },
    finding: /F5: epoch/,
  },
  {
    name: 'warnings ignored',
    ignoresWarnings: true,
    firstSeed: 20_261_122,
    provokedBy: { commitFails: 6, writeFaults: ['warned and lost'] },
    finding: /F3: an owner is refused|F4: |is on disk before|was accepted and is stored/,
  },
  {
    name: 'decisions at the time of the machine',
    machineClock: true,
    firstSeed: 20_261_133,
    provokedBy: { disturb: 30, acts: ['release'] },
    finding: /moments_of/,
  },
]

/** @throws Error when the fault does not apply to its statement any more */
export function planted(sql: string, fault: PlantedFault | null): string {
  const [of, text, replacement] = fault?.edit ?? ['', '', '']
  if (of === '' || !sql.includes(of)) return sql
  // A take-over sets the epoch, and its condition follows.
  const index = sql.lastIndexOf(text)
  if (index < 0) throw new Error(`"${text}" is not in "${sql}"`)
  return sql.slice(0, index) + replacement + sql.slice(index + text.length)
}
