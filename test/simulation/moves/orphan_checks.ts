/**
 * Checks of orphan executions in both shards, when the rail or the books have changed and at the
 * end.
 *
 * - What the rail has accepted or executed is a submitted payout of a shard, a payout of another
 *   one, or an orphan execution of each shard that has lost it or may have, once that is released:
 *   but for one that another shard has matched, until it goes back to before that, and later.
 * - An orphan execution of one shard is no payment of another one.
 * - None is lost but by a restore. One that is matched is in the shard of its payout, and both are
 *   of one intention.
 * - At the end each is decided on in all shards, and what is paid was executed once.
 */
import assert from 'node:assert/strict'
import type { StoredOrphan } from './payments.js'
import { intentionOf, type SharedRail } from './rail.js'
import type { ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

export interface OrphanChecks {
  /** @throws AssertionError */
  check(): void
  /** @throws AssertionError */
  checkEnd(): void
  /** The books of these shards are an older copy. */
  restored(shards: readonly string[]): void
}

export interface OrphanChecksOptions {
  readonly server: Pick<ClusterServer, 'tables' | 'seen'>
  readonly rail: Pick<SharedRail, 'entries'>
  /** Whether the shard is not released. */
  readonly isRestored: (shard: string) => boolean
}

interface Payout {
  readonly id: string
  readonly state: string
  readonly submittedAt: number | null
}

interface Shard {
  readonly name: string
  readonly payouts: ReadonlyMap<string, Payout>
  readonly orphans: ReadonlyMap<string, StoredOrphan>
}

export function createOrphanChecks(options: OrphanChecksOptions): OrphanChecks {
  const { server, rail, isRestored } = options
  /** By shard. */
  const known = new Map<string, ReadonlySet<string>>()
  /** The shards that were restored without it, by id of an instruction. */
  const lost = new Map<string, Set<string>>()
  const matched = new Set<string>()

  const read = (): readonly Shard[] =>
    SHARDS.map((name) => {
      const payouts = server.tables.all<Payout>(
        server.seen(`SELECT id, state, context ->> '$.handedOverAt' AS "submittedAt"
          FROM ${name}.payouts`),
      )
      const orphans = server.tables.all<StoredOrphan>(`SELECT * FROM ${name}.orphan_executions`)
      return {
        name,
        payouts: new Map(payouts.map((payout) => [payout.id, payout])),
        orphans: new Map(orphans.map((orphan) => [orphan.instruction, orphan])),
      }
    })
  const checkComplete = (shard: Shard, all: readonly Shard[]): void => {
    const { name, payouts, orphans } = shard
    for (const { state, instruction } of rail.entries.values()) {
      const { id } = instruction
      if (state === 'refused') continue
      const other = all.find((each) => each !== shard && each.payouts.has(id))
      const isOwn = (payouts.get(id)?.submittedAt ?? null) !== null
      const isLost = lost.get(id)?.has(name) !== false && !matched.has(id)
      const isElsewhere = other !== undefined || !isLost
      assert.ok(orphans.has(id) || isOwn || isElsewhere, `${id} is no orphan execution of ${name}`)
      const isTwice = orphans.has(id) && other !== undefined
      assert.ok(!isTwice, `${id} is an orphan execution of ${name}, and a payment of another shard`)
    }
  }
  const checkKept = ({ name, payouts, orphans }: Shard): void => {
    for (const id of known.get(name) ?? []) assert.ok(orphans.has(id), `${name} has lost ${id}`)
    known.set(name, new Set(orphans.keys()))
    for (const { instruction, matched_to: payment } of orphans.values()) {
      if (payment === null) continue
      const state = payouts.get(payment)?.state
      assert.equal(state, 'completed', `${payment}, which ${instruction} has paid, is in ${name}`)
      assert.equal(intentionOf(payment), intentionOf(instruction), `${instruction} is its payment`)
    }
  }
  const checkPaid = (all: readonly Shard[]): void => {
    const payouts = all.flatMap((shard) => [...shard.payouts.values()])
    const orphans = all.flatMap((shard) => [...shard.orphans.values()])
    const completed = payouts.filter(({ state }) => state === 'completed')
    const paidBy = new Map(orphans.map((orphan) => [orphan.matched_to, orphan.instruction]))
    const intentions = new Set<string>()
    for (const { id } of completed) {
      assert.ok(!intentions.has(intentionOf(id)), `${intentionOf(id)} is completed once`)
      intentions.add(intentionOf(id))
      const execution = rail.entries.get(paidBy.get(id) ?? id)
      assert.equal(execution?.state, 'executed', `${id} is executed`)
    }
    for (const { instruction, state } of rail.entries.values()) {
      if (state !== 'executed' || intentions.has(intentionOf(instruction.id))) continue
      const isUnderWay = payouts.some(({ id }) => id === instruction.id)
      const isDismissed = orphans.some(
        (orphan) => orphan.instruction === instruction.id && orphan.status === 'resolved',
      )
      assert.ok(isUnderWay || isDismissed, `${instruction.id} is paid, or dismissed`)
    }
    for (const { instruction, status } of orphans)
      assert.notEqual(status, 'open', `${instruction} is decided on in all shards`)
  }
  const check = (): readonly Shard[] => {
    const all = read()
    for (const { orphans } of all)
      for (const { instruction, matched_to: payment } of orphans.values())
        if (payment !== null) matched.add(instruction)
    for (const shard of all)
      if (!isRestored(shard.name)) {
        checkComplete(shard, all)
        checkKept(shard)
      }
    return all
  }
  return {
    check: () => void check(),
    checkEnd: () => checkPaid(check()),
    restored: (shards) => {
      const all = read()
      for (const id of rail.entries.keys()) {
        if (all.some(({ payouts }) => payouts.has(id))) continue
        lost.set(id, new Set([...(lost.get(id) ?? []), ...shards]))
      }
      for (const shard of shards) known.delete(shard)
    },
  }
}
