/**
 * The operator of restored shards, who does what the guide says: a statement of the rail, the
 * orphan executions that no other shard has as payments, the release; later a decision on each
 * orphan execution and each payout that is held, with the product's own calls to all shards.
 *
 * Does not own: restores (restores), what has to be right (orphan_checks).
 *
 * - Decisions are right: the partner is asked whose payment an execution was.
 * - One decision at a time. What had no answer, or not of all shards, is repeated.
 */
import { Refused } from '../../../src/operations/calls/calls.js'
import { answerOf, type ShardCall } from '../../../src/operations/calls/calls_to_shards.js'
import type { Message } from '../../../src/operations/calls/shard_policies.js'
import { paymentsOf } from '../../../src/operations/payments/other_shards.js'
import { isUnderReview, payoutContextIn } from '../../../actors/payout/context.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { answer, refuse } from '../../../src/processor/cycle/answer.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { addOrphans } from '../../../src/processor/commands/operators/orphan_add.js'
import { resolveOrphan } from '../../../src/processor/commands/operators/orphan_resolve.js'
import {
  approvePayout,
  rejectPayout,
} from '../../../src/processor/commands/payouts/payout_review.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import type { MoveFault } from './faults.js'
import type { StoredOrphan, StoredPayout } from './payments.js'
import type { ClusterProcess } from './processor.js'
import { intentionOf, lineOf, type RailEntry, type SharedRail } from './rail.js'
import type { ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

export interface OrphanOperator {
  /** Compares a restored shard with the rail, and calls its release. Ends early to be repeated. */
  reconcile(shard: string, owner: ClusterProcess, release: () => void): void
  /** May decide on an orphan execution or a held payout. */
  act(): void
  /** Partners repeat nothing any more: an execution without a payment has none. */
  finish(): void
  /** Whether an orphan execution is open or a payout is held. */
  hasWork(): boolean
  /** Shards are older copies. */
  restored(): void
}

export interface OrphanOperatorOptions {
  readonly random: SeededRandom
  readonly server: ClusterServer
  readonly rail: SharedRail
  readonly ownerOf: (shard: string) => ClusterProcess | undefined
  readonly fault: MoveFault | undefined
  readonly count: (what: string) => void
}

const ACTOR = { name: 'operator', reason: 'restored' }
const EVIDENCE = 'statement'
const ACTS_ONCE_IN = 40
/** One of so many held payouts that no execution has paid is rejected. */
const REJECTED_ONCE_IN = 6

const SERVICE = '/causeway.operator.v1'
const RESOLVE = `${SERVICE}.Recovery/ResolveOrphan`
const APPROVE = `${SERVICE}.Operator/ApprovePayout`
const REJECT = `${SERVICE}.Operator/RejectPayout`
/** Sent to the shard that has the entity, and to no other one. */
const HERE_ALONE = APPROVE

interface Orphan extends StoredOrphan {
  readonly shard: string
}

export function createOrphanOperator(options: OrphanOperatorOptions): OrphanOperator {
  const { random, server, rail, ownerOf, fault, count } = options
  /** Shards that are being reconciled. */
  const reconciled = new Set<string>()
  let restores = 0
  let isDeciding = false
  let isEnding = false
  /** The orphan executions that an approval has to name, by payout. */
  const equalTo = new Map<string, readonly string[]>()

  const orphansIn = (): readonly Orphan[] =>
    SHARDS.flatMap((shard) =>
      server.tables
        .all<StoredOrphan>(`SELECT * FROM ${shard}.orphan_executions ORDER BY instruction`)
        .map((orphan) => ({ ...orphan, shard })),
    )
  const heldIn = (): readonly StoredPayout[] =>
    SHARDS.flatMap((shard) =>
      server.tables.all<StoredPayout>(
        `SELECT * FROM ${shard}.payouts WHERE state IN ('created', 'processing') ORDER BY id`,
      ),
    ).filter(({ state, context }) => {
      const known = payoutContextIn(JSON.parse(context))!
      return isUnderReview(state as 'created', known)
    })

  const asked = async (shard: string, command: Command): Promise<Message> => {
    const owner = ownerOf(shard)
    if (owner === undefined) throw new Error(`${shard} is not served`)
    const given = await owner.ask(command)
    if (!given.ok) throw refusalIn(given)
    return given.view as Message
  }
  const refusalIn = (given: Answer & { ok: false }): Refused =>
    new Refused(given.code, 'orphans' in given ? JSON.stringify(given.orphans) : '')
  const callShards = (
    path: string,
    request: Message,
    commandOf: (request: Message) => Command,
  ): Promise<Message> => {
    const calls = new Map<string, ShardCall>()
    const missing: string[] = []
    for (const shard of SHARDS)
      if (ownerOf(shard) === undefined) missing.push(shard)
      else calls.set(shard, (given) => asked(shard, commandOf(given)))
    return answerOf(path, request, calls, { reached: new Map(), missing, isCluster: true })
  }

  /** The release's check: it asks each other shard. */
  const elsewhere = (shard: string, ids: readonly string[]): Promise<ReadonlySet<string>> =>
    fault?.asksNoOther === true
      ? Promise.resolve(new Set())
      : paymentsOf(
          SHARDS.filter((other) => other !== shard),
          ids,
          (other) => ({
            call: (_, request) =>
              asked(other, show((request as { payout_id: string }).payout_id)) as never,
            close: () => undefined,
          }),
        )
  const reconcile = async (
    shard: string,
    owner: ClusterProcess,
    release: () => void,
  ): Promise<void> => {
    const since = restores
    const statement = [...rail.entries.values()].filter(
      (entry) => entry.state !== 'refused' && (fault?.addsOwn !== true || entry.shard === shard),
    )
    const ids = statement.map(({ instruction }) => instruction.id)
    const unpaid = (await asked(shard, compare(ids))) as { missing: readonly string[] }
    // The ledgers of all shards are compared: one has what it has matched.
    const matched = new Set(
      orphansIn().flatMap((each) => (each.matched_to ? each.instruction : [])),
    )
    const missing = unpaid.missing.filter((id) => !matched.has(id))
    const others = await elsewhere(shard, missing)
    const lines = statement
      .filter(({ instruction: { id } }) => missing.includes(id) && !others.has(id))
      .map(lineOf)
      .filter(({ state }) => fault?.addsExecuted !== true || state === 'executed')
    const { added } = (await asked(shard, addOrphans(ACTOR, lines))) as { added: number }
    for (let times = 0; times < added; times++) count('orphan added')
    if (others.size > 0) count('left to another shard')
    if (since !== restores || !owner.isAlive()) return
    if (isOutdated(shard, statement)) return count('statement refused')
    release()
  }
  /** As the rail's figures say at the release. */
  const isOutdated = (shard: string, statement: readonly RailEntry[]): boolean =>
    statement.some((each) => {
      const { id } = each.instruction
      return each.shard === shard && rail.entries.get(id)!.state !== each.state
    })

  const resolve = async (instruction: string, payment?: string): Promise<void> => {
    const isMatch = payment !== undefined
    const request = {
      instruction_id: instruction,
      resolution: isMatch ? 'matched' : 'dismissed',
      evidence: EVIDENCE,
      ...(isMatch ? { payment_id: payment } : {}),
    }
    const path = isMatch && fault?.matchesHere === true ? HERE_ALONE : RESOLVE
    await callShards(path, request, (given) =>
      resolveOrphan(ACTOR, instruction, {
        resolution: String(given['resolution']),
        evidence: String(given['evidence']),
        paymentId: given['payment_id'] as string | undefined,
      }),
    )
    count(isMatch ? 'orphan matched' : 'orphan dismissed')
  }
  const reject = async (id: string): Promise<void> => {
    await callShards(REJECT, { payout_id: id }, () => rejectPayout(ACTOR, id))
    count('held payout rejected')
  }
  const approve = async (id: string): Promise<void> => {
    try {
      const otherThan = equalTo.get(id) ?? []
      await callShards(APPROVE, { payout_id: id }, () => approvePayout(ACTOR, id, otherThan))
      count('held payout approved')
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'orphan_execution_equal') throw error
      const named = JSON.parse(error.message) as readonly string[]
      equalTo.set(
        id,
        named.map((each) => each.split(' ')[0]!),
      )
    }
  }
  type Decision = () => Promise<void>
  const onHeld = ({ id }: StoredPayout, orphans: readonly Orphan[]): readonly Decision[] => {
    const isOwn = (other: string): boolean => intentionOf(other) === intentionOf(id)
    const own = orphans.filter(({ instruction }) => isOwn(instruction))
    const open = own.find(({ status }) => status === 'open')
    if (open?.state === 'executed') return [() => resolve(open.instruction, id)]
    const others = [...rail.entries.values()].filter(({ instruction }) => isOwn(instruction.id))
    if (others.some(({ state }) => state === 'accepted')) return []
    if (others.some(({ state }) => state === 'executed'))
      return open === undefined ? [() => reject(id)] : []
    return [() => (random.once(REJECTED_ONCE_IN) ? reject(id) : approve(id))]
  }
  const onOpen = (
    { instruction, state }: Orphan,
    orphans: readonly Orphan[],
    held: readonly StoredPayout[],
  ): readonly Decision[] => {
    const elsewhere = orphans.find(
      (other) => other.instruction === instruction && other.status !== 'open',
    )
    if (elsewhere?.matched_to != null) return [() => resolve(instruction, elsewhere.matched_to!)]
    const isClaimed = held.some(({ id }) => intentionOf(id) === intentionOf(instruction))
    const isUnclaimed = isEnding && state === 'executed' && !isClaimed
    const isEnded = state === 'refused' || elsewhere !== undefined || isUnclaimed
    return isEnded ? [() => resolve(instruction)] : []
  }
  const decide = async (): Promise<void> => {
    const orphans = orphansIn()
    const held = heldIn()
    const open = orphans.filter(({ status }) => status === 'open')
    const possible = [
      ...held.flatMap((payout) => onHeld(payout, orphans)),
      ...open.flatMap((orphan) => onOpen(orphan, orphans, held)),
    ]
    if (possible.length > 0) await random.pick(possible)()
  }

  return {
    reconcile: (shard, owner, release) => {
      if (reconciled.has(shard)) return
      reconciled.add(shard)
      reconcile(shard, owner, release)
        .catch(() => count('reconciled again'))
        .finally(() => reconciled.delete(shard))
    },
    act: () => {
      if (isDeciding || restores === 0 || !random.once(ACTS_ONCE_IN)) return
      isDeciding = true
      decide()
        .catch(() => count('decision without an answer'))
        .finally(() => (isDeciding = false))
    },
    finish: () => (isEnding = true),
    hasWork: () => heldIn().length > 0 || orphansIn().some(({ status }) => status === 'open'),
    restored: () => (restores += 1),
  }
}

/** `ShowPayout`: what a shard has. */
const show = (id: string): Command => ({
  name: 'show_payout',
  allowedInRecovery: true,
  needs: (needs) => needs.payout(id),
  decide: ({ memory }) => (memory.payouts.get(id) ? answer({}) : refuse('payout_not_found')),
})

/** The reconciliation: what the ledger of a shard does not have as paid. */
const compare = (ids: readonly string[]): Command => ({
  name: 'compare_statement',
  allowedInRecovery: true,
  needs: (needs) => ids.forEach((id) => needs.payout(id)),
  decide: ({ memory }) =>
    answer({ missing: ids.filter((id) => memory.payouts.get(id)?.state !== 'completed') }),
})
