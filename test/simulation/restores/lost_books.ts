/**
 * What a restore has lost, as the rail, the bus, the partners and their users know it.
 *
 * Owns: the partner's intention behind each payment, also of lost ones, and the check that the rail
 * pays an intention once. Does not own: the restore (restore), the operator's decisions (operator).
 *
 * - An intention is named by the mark of its request, which a repetition has too.
 */
import assert from 'node:assert/strict'
import type { StoredEvent } from '../../../src/store/store.js'
import type { FaultyRail } from '../faulty_rail.js'
import type { Row } from '../invariant_checker.js'
import type { Accepted, Orphan } from './tables.js'

export interface LostBooks {
  readonly events: ReadonlySet<string>
  /** Submitted by lost commits. */
  readonly instructions: ReadonlySet<string>
  /** Records the intentions of all payments of the books. */
  remember(rows: readonly Row[]): void
  /** @returns the mark of its request */
  intentionOf(id: string): string
  /** Adds what the restored books lack. `kept`: the events that they have. */
  add(events: readonly string[], instructions: readonly string[], kept: readonly string[]): void
  /** A number of an event is never given to another one, and none is below those of lost books. */
  checkNumbers(events: readonly StoredEvent[]): void
  /** Ids of all events that left the processor. */
  published(): readonly string[]
  /** The rail has paid each intention once at most, unless it said otherwise. */
  checkPaidOnce(rail: FaultyRail): void
  /** Nothing was accepted as lost that was not. */
  checkAccepted(accepted: readonly Accepted[]): void
  /** What the rail has executed for lost commits is known to the books. */
  checkRecorded(rail: FaultyRail, orphans: readonly Orphan[], rows: readonly Row[]): void
}

export function createLostBooks(): LostBooks {
  const events = new Set<string>()
  const instructions = new Set<string>()
  const intentions = new Map<string, string>()
  const numbers = new Map<string, string>()
  const published = new Set<string>()
  let highest = 0
  /** New events have higher positions. */
  let above = 0
  return {
    events,
    instructions,
    remember: (rows) => {
      for (const { id, mark } of rows) intentions.set(id, mark)
    },
    intentionOf: (id) => {
      const mark = intentions.get(id)
      assert.ok(mark !== undefined, `${id} was in the books`)
      return mark
    },
    add: (lostEvents, lostInstructions, kept) => {
      for (const id of lostEvents) events.add(id)
      for (const id of lostInstructions) instructions.add(id)
      for (const id of kept) published.add(id)
      above = highest
    },
    checkNumbers: (sent) => {
      for (const { id, position, tenant, sequence } of sent) {
        assert.ok(published.has(id) || position > above, `${id} is above those of lost books`)
        published.add(id)
        highest = Math.max(highest, position)
        for (const number of [`position ${position}`, `${tenant} ${sequence}`]) {
          assert.equal(numbers.get(number) ?? id, id, `${number} is the number of one event`)
          numbers.set(number, id)
        }
      }
    },
    published: () => [...published],
    checkPaidOnce: ({ entries, falselyReported }) => {
      const paid = new Map<string, string>()
      const unclear = new Set([...falselyReported].map((id) => intentions.get(id)))
      for (const { id, state, amount } of entries.values()) {
        const mark = intentions.get(id)
        if (state !== 'executed' || mark === undefined || unclear.has(mark)) continue
        // Of another amount, it is something else that the user has paid.
        const payment = `${mark} of ${amount}`
        const other = paid.get(payment)
        assert.equal(other, undefined, `${payment} was paid as ${other} and as ${id}`)
        paid.set(payment, id)
      }
    },
    checkAccepted: (accepted) => {
      for (const { kind, id } of accepted)
        assert.ok((kind === 'event' ? events : instructions).has(id), `${id} is lost`)
    },
    checkRecorded: ({ entries }, orphans, rows) => {
      const known = new Set(orphans.map(({ instruction }) => instruction))
      const submitted = new Set(rows.flatMap((row) => (row.submittedAt === null ? [] : row.id)))
      for (const { instruction, status } of orphans)
        assert.notEqual(status, 'open', `${instruction} is matched or dismissed`)
      for (const id of instructions) {
        const isPaid = entries.get(id)?.state === 'executed'
        assert.ok(!isPaid || known.has(id) || submitted.has(id), `${id} is an orphan execution`)
      }
    },
  }
}
