/**
 * The parts of the rail's log and of the webhook pools that belong to one shard.
 *
 * - An instruction belongs to the shard of its payment, which may have moved since. Without a
 *   payment it belongs to the shard that it names. Without a name it is older than the cluster.
 * - Restored shards that both lack an execution both have it as an orphan, so it is in the parts of
 *   both.
 * - An event belongs to the shard that has its partner.
 */
import { copyFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { FILES } from '../base/subjects.js'
import { openDatabase } from '../store/sqlite/database.js'
import type { Database } from '../store/database.js'

const ofShard = (hasArchive: boolean): string => `SELECT id FROM instructions i WHERE
  (shard = ? AND NOT EXISTS (SELECT 1 FROM books.moved_payments x WHERE x.id = i.id
    AND x.partner NOT IN (SELECT id FROM books.partners)))
  OR EXISTS (SELECT 1 FROM books.orphan_executions x WHERE x.instruction = i.id)
  OR EXISTS (SELECT 1 FROM books.payouts x WHERE x.id = i.id)
  OR EXISTS (SELECT 1 FROM books.intents x WHERE x.id = i.id)
  ${hasArchive ? 'OR EXISTS (SELECT 1 FROM books.archived_payments x WHERE x.id = i.id)' : ''}`
/** Books of an earlier version have none. */
const ARCHIVED = "SELECT 1 FROM books.sqlite_schema WHERE name = 'archived_payments'"

/** @param folder contains the shard's books; the part is written to it */
export async function writeRailPart(rail: string, folder: string, shard: string): Promise<void> {
  const file = join(folder, FILES.railDatabase)
  copyFileSync(rail, file)
  const part = await openCopy(file)
  await part.run('ATTACH DATABASE ? AS books', [join(folder, FILES.processorDatabase)])
  await part.run('CREATE TEMP TABLE kept (id TEXT PRIMARY KEY)')
  const hasArchive = (await part.all(ARCHIVED)).length > 0
  await part.run(`INSERT INTO kept ${ofShard(hasArchive)}`, [shard])
  await part.run('DELETE FROM discrepancies WHERE instruction NOT IN (SELECT id FROM kept)')
  await part.run('DELETE FROM instructions WHERE id NOT IN (SELECT id FROM kept)')
  await part.close()
}

/** A copy that is deleted after the audit need not survive a crash. */
async function openCopy(file: string): Promise<Database> {
  const copy = await openDatabase(file)
  await copy.exec('PRAGMA synchronous = OFF')
  return copy
}

/** Selects events whose partner is not in the books. */
const FOREIGN = `SELECT id FROM events WHERE tenant NOT IN (
  SELECT id || '_sandbox' FROM books.partners UNION ALL
  SELECT id || '_production' FROM books.partners)`

/** @param folder contains the shard's books; the part is written to it */
export async function writePoolPart(pool: string, folder: string): Promise<void> {
  const file = join(folder, basename(pool))
  copyFileSync(pool, file)
  const part = await openCopy(file)
  await part.run('ATTACH DATABASE ? AS books', [join(folder, FILES.processorDatabase)])
  await part.run(`DELETE FROM attempts WHERE delivery_id IN (
    SELECT id FROM deliveries WHERE event_id IN (${FOREIGN}))`)
  await part.run(`DELETE FROM deliveries WHERE event_id IN (${FOREIGN})`)
  await part.run(`DELETE FROM events WHERE id IN (${FOREIGN})`)
  await part.close()
}
