/**
 * Faults injected into moves; the simulation must find each of them.
 *
 * A fault has the first seed to try; code changes may move it to a later seed.
 */
export interface MoveFault {
  readonly name: string
  readonly firstSeed: number
  /** The expected error of the simulation. */
  readonly finding: RegExp
  /** Without other faults than moves. */
  readonly isCalm?: true
  /** Rows of partners are set apart before they move. */
  readonly copies?: true
  /** Each replaces a text in the statements that contain the first one. */
  readonly edits?: readonly (readonly [of: string, text: string, replacement: string])[]
  /** The shard is released before the drain has ended. */
  readonly releasesFirst?: true
  /** `gone` is not announced. */
  readonly keepsAnnouncing?: true
  /** A gateway sends calls in flight again, to the next owner. */
  readonly repeats?: true
  /** A release begins the next epoch, whatever others have seen. */
  readonly raisesByOne?: true
  /** The books are set back to copies. */
  readonly restores?: true
  /** A process forgets the orphan executions of its shard when it ends. */
  readonly forgetsOrphans?: true
  /** A release asks no other shard which payments it has. */
  readonly asksNoOther?: true
  /** A release keeps the executions that its shard has sent. */
  readonly addsOwn?: true
  /** A release keeps no accepted instructions. */
  readonly addsExecuted?: true
  /** A match is told to no other shard. */
  readonly matchesHere?: true
  /** The owners that a partner moves between go on. */
  readonly goesOn?: true
  /** The named processor does not wait for the release. */
  readonly takesEarly?: true
}

const LEASE = /no take-over of .* while its owner may answer reads/
const FIRST = 20_261_122

export const MOVE_FAULTS: readonly MoveFault[] = [
  {
    name: 'a release before the drain has ended',
    firstSeed: FIRST + 290,
    isCalm: true,
    releasesFirst: true,
    finding: /a move without other faults fails no call/,
  },
  {
    name: 'withdrawn partners are not announced',
    firstSeed: FIRST + 1,
    isCalm: true,
    keepsAnnouncing: true,
    finding: /a move without other faults fails no call/,
  },
  {
    name: 'a gateway repeats calls in flight',
    firstSeed: FIRST,
    repeats: true,
    finding: /a call that arrived is never sent again/,
  },
  {
    name: 'a take-over without the seen epoch and beat',
    firstSeed: FIRST,
    edits: [
      [
        'SET epoch = epoch + 1, holder',
        'WHERE epoch = ? AND beat = ?',
        'WHERE ? IS NOT NULL AND ? IS NOT NULL',
      ],
    ],
    finding: LEASE,
  },
  {
    name: 'the named processor does not wait for the release',
    firstSeed: FIRST + 2,
    takesEarly: true,
    finding: LEASE,
  },
  {
    name: 'a release begins the next epoch of the restored books',
    firstSeed: FIRST,
    raisesByOne: true,
    finding: /has the number of a lost one|refuses released books/,
  },
  {
    name: 'owners go on while the rows of a partner move, and their batches are not compared',
    firstSeed: FIRST,
    goesOn: true,
    edits: [['.owner WHERE epoch = ?', 'last_batch = ?', '? IS NOT NULL']],
    finding: /commits for .*, which it does not have|UNIQUE constraint failed/,
  },
  {
    name: 'the rows of a partner move, and its placement does not',
    firstSeed: FIRST,
    edits: [['UPDATE cluster.placements', 'shard = ?,', 'shard = coalesce(shard, ?),']],
    finding: /is in books_\d, its partners in books_\d/,
  },
  {
    name: 'events of a partner stay behind',
    firstSeed: FIRST,
    edits: [['.events AS x', 'FROM positions)', 'FROM positions WHERE position > 9)']],
    finding: /is in books_\d, its events in books_\d,books_\d|UNIQUE constraint failed/,
  },
  {
    name: 'keys of a partner stay behind',
    firstSeed: FIRST,
    edits: [['CREATE TEMP TABLE keys', 'sequence > 0', 'sequence > 5']],
    finding: /each intent of .* has its key/,
  },
  {
    name: 'a balance grows by the move, and is not compared with its entries',
    firstSeed: FIRST,
    edits: [
      ['.ledger_accounts (', 'SELECT id, balance', 'SELECT id, balance + 1'],
      ['a.balance <>', 'a.balance <>', 'a.balance + 1 <'],
    ],
    finding: /is what its events say/,
  },
  {
    name: 'the next move of a partner is taken for the one that has ended',
    firstSeed: FIRST + 14,
    edits: [
      [' AS pending', 'from_shard = ?2 AND to_shard = ?3', '?2 <> ?3'],
      [' AS pending', 'held_epoch = ?4 AND held_batch = ?5', '?4 + ?5 >= 0'],
    ],
    finding: /UNIQUE constraint failed|a partner is not served/,
  },
]

/** While rows are set apart. */
export const COPY_FAULTS: readonly MoveFault[] = [
  {
    name: 'an intent that changes again stays set apart, too',
    firstSeed: FIRST + 7,
    copies: true,
    edits: [[' intents touched"() RETURNS', 'WHERE id = NEW.id', 'WHERE id <> id']],
    finding: /has each intent once|has its key/,
  },
  {
    name: 'events are set apart with other numbers than those of the move',
    firstSeed: FIRST + 1,
    copies: true,
    edits: [['twin_outcomes', 'SELECT position +', 'SELECT position + 1 +']],
    finding: /each row of events that is set apart has its twin/,
  },
  {
    name: 'entries that are set apart do not move',
    firstSeed: FIRST + 2,
    copies: true,
    edits: [[' new ledger_entries" INHERIT', 'ALTER TABLE', 'ANALYZE']],
    finding: /postings are in the order of events|is what its events say/,
  },
  {
    name: 'a step that puts rows in place leaves the first one',
    firstSeed: FIRST + 1,
    copies: true,
    edits: [['ctid >=', 'ctid >=', 'ctid >']],
    finding: /a posting is what it was|is delivered, or will be|has each intent once/,
  },
  {
    name: 'a step of an owner that is cut off rests',
    firstSeed: 31_003,
    copies: true,
    edits: [["idle_in_transaction_session_timeout = '3s'", "'3s'", "'3600s'"]],
    finding: /waits for a step that rests/,
  },
]

/** Books go back to copies, and the rail does not. */
export const ORPHAN_FAULTS: readonly MoveFault[] = [
  {
    name: 'a process that starts forgets the orphan executions of its shard',
    firstSeed: FIRST + 1,
    restores: true,
    forgetsOrphans: true,
    finding: /was paid as .* and as/,
  },
  {
    name: 'a release asks no other shard which payments it has',
    firstSeed: FIRST,
    restores: true,
    asksNoOther: true,
    finding: /is an orphan execution of .*, and a payment of another shard/,
  },
  {
    name: 'a release keeps only the executions that its shard has sent',
    firstSeed: FIRST,
    restores: true,
    addsOwn: true,
    finding: /is no orphan execution of/,
  },
  {
    name: 'a release keeps no instructions that the rail may still execute',
    firstSeed: FIRST,
    restores: true,
    addsExecuted: true,
    finding: /is no orphan execution of/,
  },
  {
    name: 'a match is told to no other shard',
    firstSeed: FIRST,
    restores: true,
    matchesHere: true,
    finding: /an orphan execution is open for longer/,
  },
  {
    name: 'a partner moves between restored shards, and its orphan executions do not',
    firstSeed: FIRST + 77,
    restores: true,
    edits: [
      ['.recoveries UNION ALL', '.recoveries', '.recoveries WHERE released_at IS NULL'],
      ['.orphan_executions UNION', '_executions', '_executions WHERE resolved_at < 0'],
      ['.orphan_executions UNION', 'resolved_at IS NULL', 'resolved_at < 0'],
    ],
    finding: /, which .* has paid, is in|and a payment of another shard/,
  },
]

/** @throws Error when the fault does not apply to its statement any more */
export function withFault(sql: string, fault: MoveFault | undefined): string {
  return (fault?.edits ?? []).reduce((text, [of, old, replacement]) => {
    if (!sql.includes(of)) return text
    if (!text.includes(old)) throw new Error(`"${old}" is not in "${sql}"`)
    return text.replace(old, replacement)
  }, sql)
}
