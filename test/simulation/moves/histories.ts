/**
 * Compares the answers to the clients of all gateways with the final books.
 *
 * - A key has one entity, at every gateway.
 * - The events of a partner are numbered without a gap, in the order of their commits.
 * - A state never regresses: a call that began after an answer shows no earlier state.
 * - Nothing acknowledged is lost but by a restore, and no call was executed twice.
 * - A restore begins an era: calls are compared with the books of the era that answered them.
 */
import assert from 'node:assert/strict'
import type { EntityRow } from './commits.js'
import type { KeyedCall } from './streams.js'

/** A call and its answer. */
export interface Entry extends KeyedCall {
  readonly gateway: string
  /** The ordinal among all calls and answers. */
  readonly invoked: number
  answered: number | null
  outcome: 'ok' | 'not_found' | 'unknown'
  entity: string
  state: number
  /** The number of restores before the answer. */
  era: number
}

/** What a restore has ended. */
export interface Era {
  /** The events of the books when it ended. */
  readonly rows: readonly EntityRow[]
  /** Those of the restored copy. The others are lost. */
  readonly kept: readonly EntityRow[]
}

/** @param endedOf the eras of a partner that restores have ended, in order */
export function checkHistories(
  history: readonly Entry[],
  events: readonly EntityRow[],
  endedOf: (partner: string) => readonly Era[] = () => [],
): void {
  for (const [partner, of] of groupBy(history, (call) => call.partner))
    checkPartner(of, partner, [...endedOf(partner), { rows: events, kept: [] }])
}

function checkPartner(history: readonly Entry[], partner: string, eras: readonly Era[]): void {
  const own = (rows: readonly EntityRow[]) => rows.filter((row) => row.partner === partner)
  for (const [era, { rows }] of eras.entries()) {
    checkEvents(own(rows))
    const calls = groupBy(
      history.filter((call) => call.outcome === 'unknown' || call.era === era),
      ({ key }) => key,
    )
    const byKey = groupBy(own(rows), ({ key }) => key)
    const before = groupBy(own(eras[era - 1]?.kept ?? []), ({ key }) => key)
    for (const [key, of] of calls) checkKey(key, of, byKey.get(key) ?? [], before.get(key) ?? [])
  }
}

function checkEvents(events: readonly EntityRow[]): void {
  for (const [partner, of] of groupBy(events, (row) => row.partner))
    for (const [index, { sequence }] of of.entries())
      assert.equal(sequence, index + 1, `${partner}: events are numbered without a gap`)
}

/** @param before those of its rows that the era has begun with */
function checkKey(
  key: string,
  calls: readonly Entry[],
  rows: readonly EntityRow[],
  before: readonly EntityRow[],
): void {
  const answered = calls.filter(({ outcome }) => outcome === 'ok')
  const ids = new Set([...answered.map(({ entity }) => entity), ...rows.map(({ id }) => id)])
  assert.ok(ids.size <= 1, `${key} has one entity: ${[...ids].join(' ')}`)
  const last = rows.at(-1)?.state ?? 0
  const first = before.at(-1)?.state ?? 1
  for (const { state } of answered) assert.ok(state <= last, `${key} is lost in state ${state}`)
  for (const one of answered)
    for (const later of calls.filter(({ invoked }) => invoked > (one.answered ?? Infinity))) {
      assert.notEqual(later.outcome, 'not_found', `${key} was answered and is not found`)
      if (later.outcome === 'ok')
        assert.ok(later.state >= one.state, `${key} went from ${one.state} to ${later.state}`)
    }
  // A payout goes on without calls.
  if (calls.some(({ kind }) => kind === 'pay')) return
  const advances = calls.filter(({ kind }) => kind === 'advance')
  const certain = advances.filter(({ outcome }) => outcome === 'ok').length
  assert.ok(last <= first + advances.length, `${key} advanced ${last - first} times`)
  assert.ok(rows.length === 0 || last >= first + certain, `${key} lost an acknowledged advance`)
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
