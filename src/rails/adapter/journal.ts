/**
 * An adapter's journal: a SQLite file with every instruction and its executions.
 *
 * Does not own: decisions (rules), the tables (`schema`), when to write (cycle), the key of the
 * accounts (account_box).
 *
 * - `write` is one statement, one transaction and one fsync for any number of entries. When it
 *   rejects, the outcome is unknown: the process must exit and recover from the file.
 * - Amounts pass the driver as decimal text, because it rounds large numbers.
 * - Entries are never deleted, so a repeated id is always recognized.
 * - A journal whose table has `sealed_instruction` stores whole instructions, for calls to a bank
 *   elsewhere, and the amount and account that it executed.
 * - Accounts are stored sealed. An entry is read to be reported, so its account is opened then.
 */
import { join } from 'node:path'
import type { Instant } from '../../base/clock.js'
import type { EffectId, Environment } from '../../base/ids.js'
import { projectRoot } from '../../base/project_root.js'
import type { Random } from '../../base/random.js'
import { openDatabase } from '../../store/sqlite/database.js'
import type { Database } from '../../store/database.js'
import type { Instruction, MovementPeriod, MovementSummary, Purpose, RailRefusal } from '../rail.js'
import {
  lastFourOf,
  openAccountBox,
  sealOldAccounts,
  type AccountBox,
  type StoredAccount,
} from './account_box.js'
import type { Due, Entry } from './entry.js'
import { summaryOf } from './summary.js'

export interface JournalBatch {
  /** The last state of each changed entry. */
  readonly entries: readonly Entry[]
  /** Ids of reports that need no further repetition. */
  readonly acknowledged: readonly string[]
  readonly discrepancies: readonly Discrepancy[]
}

/** An id that was repeated with different content. */
export interface Discrepancy {
  readonly id: EffectId
  readonly content: string
  readonly at: Instant
}

export interface Journal {
  find(ids: readonly string[]): Promise<Entry[]>
  /** Due entries, earliest first. */
  due(now: Instant, limit: number): Promise<Entry[]>
  /** When the next entry after this instant is due; null when none is. */
  nextDueAt(after: Instant): Promise<Instant | null>
  /** Entries with an unacknowledged report, ordered by report id, after this id. */
  unacknowledged(afterReportId: string, limit: number): Promise<Entry[]>
  write(batch: JournalBatch): Promise<void>
  /** The instruction received last, of this shard or of any. Null means none. */
  newest(shard?: string): EffectId | null
  /** What a statement of the period has. */
  summarize(period: MovementPeriod, shard?: string): Promise<MovementSummary>
  close(): Promise<void>
}

/** The tables of an adapter whose bank is elsewhere. */
export const BANK_JOURNAL_SCHEMA = 'src/rails/adapter/schema'

const selectOf = (
  kept: string,
): string => `SELECT id, purpose, CAST(amount AS TEXT) AS amount, currency, account, content,
  received_at, executed_at, returned_at, state, refusal, transaction_id, executions, due_at,
  due_step, report_id, environment, reference, shard, sealed_account, bank_code, ${kept}
  FROM instructions`
const FIND = 'WHERE id IN (SELECT value FROM json_each(?))'
const DUE = 'WHERE due_at <= ? ORDER BY due_at LIMIT ?'
const NEXT_DUE = 'SELECT min(due_at) AS due_at FROM instructions WHERE due_at > ?'
/** SQLite takes `id` from the row with the maximum. */
const NEWEST = 'SELECT shard, id, max(received_at) AS received_at FROM instructions GROUP BY shard'
const UNACKNOWLEDGED = 'WHERE report_id > ? ORDER BY report_id LIMIT ?'

/** What a bank elsewhere executed can differ from the instruction. */
const EXECUTED_OTHERWISE = `, amount = excluded.amount, currency = excluded.currency,
  sealed_account = excluded.sealed_account, account_last4 = excluded.account_last4,
  bank_code = excluded.bank_code`

/** Several statements as one: the trigger distributes an insert into the view over the tables. */
const writeView = (isKept: boolean): string => `
  CREATE TEMP VIEW journal_batch AS
    SELECT NULL AS entries, NULL AS acknowledged, NULL AS discrepancies;
  CREATE TEMP TRIGGER journal_batch_fan_out INSTEAD OF INSERT ON journal_batch BEGIN
    INSERT INTO instructions (id, purpose, amount, currency, account, content, received_at, state,
        refusal, transaction_id, executions, due_at, due_step, report_id, executed_at, returned_at,
        environment, reference, shard, sealed_account, account_last4, bank_code
        ${isKept ? ', sealed_instruction' : ''})
      SELECT value ->> 0, value ->> 1, CAST(value ->> 2 AS INTEGER), value ->> 3, value ->> 4,
        value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10,
        value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16,
        value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21
        ${isKept ? ', value ->> 22' : ''}
      FROM json_each(NEW.entries) WHERE true
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, refusal = excluded.refusal,
        transaction_id = excluded.transaction_id, executions = excluded.executions,
        due_at = excluded.due_at, due_step = excluded.due_step, report_id = excluded.report_id,
        executed_at = excluded.executed_at, returned_at = excluded.returned_at
        ${isKept ? EXECUTED_OTHERWISE : ''};
    UPDATE instructions SET report_id = NULL
      WHERE report_id IN (SELECT value FROM json_each(NEW.acknowledged));
    INSERT INTO discrepancies (instruction, content, at)
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(NEW.discrepancies) WHERE true
      ON CONFLICT DO NOTHING;
  END;
`
const WRITE = 'INSERT INTO journal_batch (entries, acknowledged, discrepancies) VALUES (?, ?, ?)'

interface Row extends StoredAccount {
  readonly id: EffectId
  readonly purpose: Purpose
  readonly amount: string
  readonly currency: string
  readonly reference: string | null
  readonly content: string
  readonly received_at: Instant
  readonly executed_at: Instant | null
  readonly returned_at: Instant | null
  readonly state: Entry['state']
  readonly refusal: RailRefusal | null
  readonly transaction_id: string | null
  readonly executions: number
  readonly due_at: Instant | null
  readonly due_step: Due['step'] | null
  readonly report_id: string | null
  readonly environment: Environment | null
  readonly shard: string | null
  readonly bank_code: string | null
  readonly sealed_instruction: string | null
}

type Newest = Pick<Row, 'shard' | 'id' | 'received_at'>

export interface JournalOptions {
  readonly file: string
  /** The folder of the migrations, from the project's root. */
  readonly schema: string
  readonly random: Random
  /** Another driver, of a simulation. */
  readonly open?: typeof openDatabase
}

/** @throws Error when the key of the accounts in the file is missing or another one */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { file, schema, random, open = openDatabase } = options
  const migrations = join(projectRoot(), schema)
  const database = await open(file, { migrations, sole: true })
  try {
    const accounts = await openAccountBox(database, file, random)
    await sealOldAccounts(database, accounts)
    return await journalOn(database, accounts, schema === BANK_JOURNAL_SCHEMA)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function journalOn(
  database: Database,
  accounts: AccountBox,
  isKept: boolean,
): Promise<Journal> {
  await database.exec(writeView(isKept))
  const select = selectOf(isKept ? 'sealed_instruction' : 'NULL AS sealed_instruction')
  const sql = {
    find: `${select} ${FIND}`,
    due: `${select} ${DUE}`,
    unacknowledged: `${select} ${UNACKNOWLEDGED}`,
  }
  const newest = createNewest(await database.all<Newest>(NEWEST))
  const read = async (text: string, parameters: readonly (string | number)[]): Promise<Entry[]> =>
    (await database.all<Row>(text, parameters)).map((row) => toEntry(row, accounts))

  return {
    find: (ids) => read(sql.find, [JSON.stringify(ids)]),
    due: (now, limit) => read(sql.due, [now, limit]),
    nextDueAt: async (after) => {
      const [row] = await database.all<{ due_at: Instant | null }>(NEXT_DUE, [after])
      return row?.due_at ?? null
    },
    unacknowledged: (afterReportId, limit) => read(sql.unacknowledged, [afterReportId, limit]),
    write: async ({ entries, acknowledged, discrepancies }) => {
      if (entries.length + acknowledged.length + discrepancies.length === 0) return
      await database.run(WRITE, [
        JSON.stringify(entries.map((entry) => toValues(entry, accounts, isKept))),
        JSON.stringify(acknowledged),
        JSON.stringify(discrepancies.map(({ id, content, at }) => [id, content, at])),
      ])
      for (const { shard, id, receivedAt } of entries) {
        newest.add({ shard, id, received_at: receivedAt })
      }
    },
    newest: (shard) => newest.of(shard),
    summarize: (period, shard) => summaryOf(database, period, shard),
    close: async () => {
      await database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await database.close()
    },
  }
}

function createNewest(found: readonly Newest[]) {
  const byShard = new Map<string | null, Newest>()
  let last: Newest | undefined
  const add = (row: Newest): void => {
    const known = byShard.get(row.shard)
    if (known === undefined || row.received_at >= known.received_at) byShard.set(row.shard, row)
    if (last === undefined || row.received_at >= last.received_at) last = row
  }
  for (const row of found) add(row)
  return {
    add,
    of: (shard?: string) => (shard === undefined ? last : byShard.get(shard))?.id ?? null,
  }
}

function toEntry(row: Row, accounts: AccountBox): Entry {
  const { due_at, due_step } = row
  return {
    id: row.id,
    environment: row.environment,
    shard: row.shard,
    purpose: row.purpose,
    amount: BigInt(row.amount),
    currency: row.currency,
    account: accounts.open(row),
    sealedAccount: row.sealed_account,
    bankCode: row.bank_code,
    reference: row.reference,
    content: row.content,
    receivedAt: row.received_at,
    executedAt: row.executed_at,
    returnedAt: row.returned_at,
    state: row.state,
    refusal: row.refusal,
    transactionId: row.transaction_id,
    executions: row.executions,
    due: due_at === null || due_step === null ? null : { at: due_at, step: due_step },
    reportId: row.report_id,
    instruction: instructionIn(row, accounts),
  }
}

function instructionIn(row: Row, accounts: AccountBox): Instruction | null {
  if (row.sealed_instruction === null) return null
  const text = accounts.openInstruction(row.id, row.sealed_instruction)
  const stored = JSON.parse(text) as Omit<Instruction, 'amount'> & { readonly amount: string }
  return { ...stored, amount: BigInt(stored.amount) }
}

const sealedInstruction = (
  { id, instruction, sealedAccount }: Entry,
  accounts: AccountBox,
): string | null => {
  const isStored = sealedAccount !== null
  if (instruction === null || isStored) return null
  const text = JSON.stringify({ ...instruction, amount: instruction.amount.toString() })
  return accounts.sealInstruction(id, text)
}

/** In the column order of the view; the columns of a stored account are not written again. */
const toValues = (
  entry: Entry,
  accounts: AccountBox,
  isKept: boolean,
): readonly (string | number | null)[] => [
  entry.id,
  entry.purpose,
  entry.amount.toString(),
  entry.currency,
  '',
  entry.content,
  entry.receivedAt,
  entry.state,
  entry.refusal,
  entry.transactionId,
  entry.executions,
  entry.due?.at ?? null,
  entry.due?.step ?? null,
  entry.reportId,
  entry.executedAt,
  entry.returnedAt,
  entry.environment,
  entry.reference,
  entry.shard,
  entry.sealedAccount ?? accounts.seal(entry.id, entry.account),
  lastFourOf(entry.account),
  entry.bankCode,
  ...(isKept ? [sealedInstruction(entry, accounts)] : []),
]
