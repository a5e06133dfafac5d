/**
 * Restores of the whole cluster: all shards and the schema `cluster` go back to one earlier copy,
 * while gateways and machines keep their marks. The operator follows the guide: every processor is
 * stopped, one for each shard starts with RECOVERY=yes, each shard is released, the others start.
 *
 * Now and then one shard alone goes back, to a copy since which no partner has moved; the owner of
 * the other one serves on.
 *
 * Owns: the copies, the order of the steps, what was lost. Does not own: recovery mode (recovery).
 *
 * - Outside of a restore no processor refuses its books, unless a crash has interrupted a release.
 * - It draws from a stream of its own: without restores a run is what it was before there were any.
 */
import { MINUTE } from '../../../src/base/clock.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import type { World } from '../../support/world.js'
import { eventsIn } from './commits.js'
import type { Era } from './histories.js'
import { REFUSED, RELEASED, type ClusterProcess } from './processor.js'
import type { ClusterCopy, ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

export interface RestorableMachine {
  readonly name: string
  readonly current: ClusterProcess
  /** An operator has stopped it. */
  isStopped: boolean
  /** It starts with RECOVERY=yes. */
  isRecoveryRequested: boolean
}

export interface RestoresOptions {
  readonly random: SeededRandom
  readonly clock: World['clock']
  readonly server: ClusterServer
  readonly machines: readonly RestorableMachine[]
  readonly gateways: readonly { restart(): void }[]
  readonly count: (what: string) => void
  /** The books of these shards are an older copy, and no process serves them. */
  readonly onRestored: (shards: readonly string[]) => void
  /** The operator compares the shard with the rail, then calls its release. */
  readonly reconcile: (shard: string, owner: ClusterProcess, release: () => void) => void
  readonly onReleased: () => void
  readonly onViolation: (violation: Error) => void
}

export interface Restores {
  /** Those of the partner's books that restores have ended. */
  erasOf(partner: string): readonly Era[]
  isOpen(): boolean
  /** Whether the shard is not released. */
  isRestored(shard: string): boolean
  /** May copy or restore the books. */
  draw(): void
  /** Takes the operator's next step, if there is one. */
  operate(): void
  ended(machine: RestorableMachine, why: string): void
}

const COPY_ONCE_IN = 400
const RESTORE_ONCE_IN = 800
/** If a copy allows it. */
const ALONE_ONCE_IN = 200
const KEPT = 3
/** Until the loss is noticed and a copy is in place. */
const TAKES_MS = 10 * MINUTE
/** The operator reconciles meanwhile. */
const RELEASE_ONCE_IN = 60

export function createRestores(options: RestoresOptions): Restores {
  const { random, clock, server, machines, gateways, count, onViolation } = options
  const { onRestored, reconcile, onReleased } = options
  const copies: ClusterCopy[] = []
  /** By partner. */
  const eras = new Map<string, Era[]>()
  /** Shards that are not released. Empty means that no restore is under way. */
  const restored = new Set<string>()
  /** Their operators have called the release. */
  const called = new Set<string>()
  /**
   * Released, and perhaps in their old epoch: a crash of the restart. A processor with a mark
   * above it refuses the books, and the operator releases them again.
   */
  const interrupted = new Set<string>()
  /** Other shards are served. */
  let isAlone = false

  const restore = (): void => {
    for (const machine of machines) {
      machine.current.end('restored')
      machine.isStopped = true
    }
    clock.pass(TAKES_MS)
    copies.splice(1 + random.int(copies.length))
    const copy = copies.at(-1)!
    const isLoss = putBack(SHARDS, () => server.restore(copy))
    count(isLoss ? 'restored with a loss' : 'restored')
    for (const gateway of gateways) if (random.once(3)) gateway.restart()
    const first = random.once(2) ? 0 : random.int(machines.length - 1)
    for (const machine of machines.slice(first, first + SHARDS.length)) {
      machine.isStopped = false
      machine.isRecoveryRequested = true
    }
    for (const shard of SHARDS) restored.add(shard)
    called.clear()
    interrupted.clear()
    isAlone = false
    onRestored(SHARDS)
  }
  /** @param shards those that go back. @returns whether events are lost */
  const putBack = (shards: readonly string[], run: () => void): boolean => {
    const rows = eventsIn(server)
    run()
    const kept = eventsIn(server)
    const placed = server.tables.all<{ partner: string; shard: string }>(
      'SELECT partner, shard FROM placements',
    )
    for (const { partner, shard } of placed)
      if (shards.includes(shard)) eras.set(partner, [...erasOf(partner), { rows, kept }])
    return kept.length < rows.length
  }
  const erasOf = (partner: string): readonly Era[] => eras.get(partner) ?? []
  /** The first one of the shard's own machines starts with RECOVERY=yes. */
  const restoreAlone = (): void => {
    const shard = random.pick(SHARDS)
    const other = SHARDS.find((each) => each !== shard)!
    const copy = copies.findLast(server.canRestoreAlone)
    const serving = machines.find(
      ({ current }) => current.shard() === other && current.epoch() === server.owner(other).epoch,
    )
    const starting = machines[SHARDS.indexOf(shard)]!
    if (serving === undefined || serving === starting || copy === undefined) return
    for (const machine of machines) {
      machine.isStopped = true
      if (machine !== serving) machine.current.end('restored')
    }
    if (putBack([shard], () => server.restoreAlone(copy, shard))) count('one restored with a loss')
    starting.isStopped = false
    starting.isRecoveryRequested = true
    restored.add(shard)
    called.delete(shard)
    interrupted.delete(shard)
    isAlone = true
    onRestored([shard])
  }
  const ownerOf = (shard: string): ClusterProcess | undefined =>
    machines.find(({ current }) => current.isAlive() && current.shard() === shard)?.current
  const operateOn = (shard: string): void => {
    const owner = ownerOf(shard)
    // A waiting processor with RECOVERY=yes would begin the mode again.
    if (owner === undefined || machines.some((machine) => machine.isRecoveryRequested)) return
    if (!owner.isInRecovery()) {
      if (!called.has(shard)) return onViolation(new Error(`${shard} is served unreleased`))
      restored.delete(shard)
      count('released')
      return onReleased()
    }
    if (!random.once(RELEASE_ONCE_IN)) return
    reconcile(shard, owner, () => {
      called.add(shard)
      interrupted.add(shard)
      owner.release()
    })
  }

  return {
    erasOf,
    isOpen: () => restored.size > 0,
    isRestored: (shard) => restored.has(shard),
    draw: () => {
      if (restored.size > 0) return
      if (random.once(COPY_ONCE_IN)) {
        copies.push(server.copy())
        if (copies.length > KEPT) copies.shift()
      } else if (copies.length > 0 && random.once(RESTORE_ONCE_IN)) restore()
      else if (random.once(ALONE_ONCE_IN)) restoreAlone()
    },
    operate: () => {
      const isBegun = [...restored].every(
        (shard) => called.has(shard) || ownerOf(shard)?.isInRecovery() === true,
      )
      if (isBegun)
        for (const machine of machines) {
          machine.isRecoveryRequested = false
          if (isAlone) machine.isStopped = false
        }
      for (const shard of restored) operateOn(shard)
      if (restored.size > 0) return
      for (const machine of machines) {
        machine.isStopped = false
        machine.isRecoveryRequested = false
      }
    },
    ended: (machine, why) => {
      const shard = machine.current.taken()
      if (shard === undefined) return
      if (why === RELEASED) interrupted.delete(shard)
      if (why !== REFUSED) return
      if (!restored.has(shard) && !interrupted.has(shard))
        return onViolation(new Error(`${machine.name} refuses released books`))
      count('released again')
      restored.add(shard)
      called.delete(shard)
      machine.isRecoveryRequested = true
    },
  }
}
