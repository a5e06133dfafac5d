/**
 * The steps after a move: what was set apart becomes rows of the shard's own tables, and the shard
 * that was left forgets it. Or, after a move that was given up, what was set apart goes back.
 *
 * Does not own: setting apart (cluster/partner_copy), the move (cluster/partner_transfer).
 *
 * - A step is one transaction with its cursor, so a crash repeats at most a step.
 * - A table is emptied by ranges of its pages: rows are only deleted from it by now, so no step
 *   reads again what another one has read.
 */
import { crashPoint } from '../../base/crash_point.js'
import {
  asRead,
  AS_READ,
  inStep,
  LAST_LINKS,
  NOW,
  saveCopy,
  type PartnerCopy,
  type Rows,
} from './partner_copy.js'
import {
  dropsOf,
  NUMBERED,
  OF_TARGET,
  PLAIN,
  renumbered,
  setApart,
  withoutTwinTriggers,
} from './partner_copy_tables.js'
import { forgetKeys, forgetLinks, leftBy, linksPage, rowOf } from './partner_fingerprints.js'
import type { MovedKey } from './partner_transfer.js'

/** A step has so many at scale 1. */
const PAGES_PER_STEP = 48
const BLOCK_BYTES = 8_192
/** Keys, and links. */
const FORGOTTEN_PER_STEP = 500
/** The rows of a step are joined once each. */
const JOIN_BY_HASH = 'SET LOCAL enable_hashjoin = on; ANALYZE forgotten'

interface Emptied {
  readonly name: string
  readonly into: string
}

/** Moves a range of pages into the table that it inherits from. @returns whether there are more */
async function putBack(
  rows: Rows,
  copy: PartnerCopy,
  tables: readonly Emptied[],
  scale: number,
): Promise<boolean> {
  const at = Number(copy.cursors['emptied'] ?? 0)
  const table = tables[at]
  if (table === undefined) return false
  const from = Number(copy.cursors['page'] ?? 0)
  await inStep(rows, async () => {
    await rows.exec('SET LOCAL enable_tidscan = on')
    const [size] = await rows.all<{ pages: number }>(
      `SELECT pg_relation_size('${table.name}') / ${BLOCK_BYTES} AS pages`,
    )
    if (from >= size!.pages) {
      const { page: _, ...cursors } = copy.cursors
      return saveCopy(rows, copy, { cursors: { ...cursors, emptied: String(at + 1) } })
    }
    const to = from + Math.ceil(PAGES_PER_STEP * scale)
    await rows.exec(`WITH gone AS (DELETE FROM ${table.name}
        WHERE ctid >= '(${from},0)' AND ctid < '(${to},0)' RETURNING *)
      INSERT INTO ${table.into} SELECT * FROM gone`)
    await saveCopy(rows, copy, { cursors: { ...copy.cursors, page: String(to) } })
    crashPoint('partner_copy.put_back')
  })
  return true
}

/** A step after a move. `forget` removes keys from memory. @returns whether there is more to do */
export async function settleStep(
  rows: Rows,
  copy: PartnerCopy,
  forget: (keys: readonly MovedKey[]) => void,
  scale = 1,
): Promise<boolean> {
  const { from, to } = copy
  const apart = [
    ...PLAIN.map((table) => ({ name: setApart(copy, table), into: `${to}.${table}` })),
    ...[...NUMBERED, ...OF_TARGET].map((table) => ({
      ...{ name: renumbered(copy, table), into: `${to}.${table}` },
    })),
    { name: setApart(copy, 'moved_payments'), into: `${from}.moved_payments` },
  ]
  if (await putBack(rows, copy, apart, scale)) return true
  const isForgotten = copy.cursors['dropped'] !== undefined
  if (!isForgotten) {
    if (await forgetSomeKeys(rows, copy, forget, scale)) return true
    if (await forgetSomeLinks(rows, copy, scale)) return true
  }
  return dropStep(rows, copy, dropsOf(copy, to), async () => {
    await rows.run(`DELETE FROM ${from}.meta WHERE name = ?`, [leftBy(copy.partner)])
    crashPoint('partner_copy.settled')
  })
}

/** @param end runs in the last step. @returns whether there is more to do */
async function dropStep(
  rows: Rows,
  copy: PartnerCopy,
  drops: readonly string[],
  end: () => Promise<void>,
): Promise<boolean> {
  const at = Number(copy.cursors['dropped'] ?? 0)
  const drop = drops[at]
  await inStep(rows, async () => {
    if (drop !== undefined) {
      await rows.exec(drop)
      await saveCopy(rows, copy, { cursors: { ...copy.cursors, dropped: String(at + 1) } })
      return
    }
    const sql = `DELETE FROM cluster.partner_copies WHERE ${AS_READ}`
    if ((await rows.run(sql, asRead(copy))) > 0) await end()
  })
  return drop !== undefined
}

async function forgetSomeKeys(
  rows: Rows,
  copy: PartnerCopy,
  forget: (keys: readonly MovedKey[]) => void,
  scale: number,
): Promise<boolean> {
  const after = Number(copy.cursors['forgotten keys'] ?? 0)
  return inStep(rows, async () => {
    await rows.exec(`CREATE TEMP TABLE forgotten ON COMMIT DROP AS
      SELECT sequence, key, ${rowOf(copy.from)} AS first FROM ${setApart(copy, 'idempotency')}
      WHERE sequence > ${after} ORDER BY sequence LIMIT ${Math.ceil(FORGOTTEN_PER_STEP * scale)}`)
    await rows.exec(JOIN_BY_HASH)
    const keys = await rows.all<MovedKey>('SELECT sequence, key FROM forgotten ORDER BY sequence')
    const last = keys.at(-1)?.sequence
    if (last === undefined) return false
    forget(keys)
    await forgetKeys(rows, copy.from, 'forgotten')
    await saveCopy(rows, copy, { cursors: { ...copy.cursors, 'forgotten keys': String(last) } })
    return true
  })
}

async function forgetSomeLinks(rows: Rows, copy: PartnerCopy, scale: number): Promise<boolean> {
  const { from, partner, cursors } = copy
  const after = Number(cursors['forgotten links'] ?? 0)
  // A move of an earlier version has not kept it.
  const until = cursors[LAST_LINKS] ?? String(Number.MAX_SAFE_INTEGER)
  // One text for all steps: the server keeps each prepared until the end of the session.
  const page = linksPage(from, '?1', Math.ceil(FORGOTTEN_PER_STEP * scale))
  return inStep(rows, async () => {
    const [found] = await rows.all<{ last: number | null }>(
      `SELECT max(first) AS last FROM (${page}) AS page WHERE first <= ?2`,
      [after, Number(until)],
    )
    const last = found?.last ?? null
    if (last === null) return false
    await rows.exec(`CREATE TEMP TABLE forgotten ON COMMIT DROP AS
      SELECT u.first + l.ordinal - 1 AS number, u.first FROM ${from}.intent_users AS u,
        json_array_elements(u.links::json) WITH ORDINALITY AS l (link, ordinal)
      WHERE u.first > ${after} AND u.first <= ${last} AND '${partner}' = (
        SELECT m.partner FROM ${from}.moved_payments AS m WHERE m.id = l.link ->> 0)`)
    await rows.exec(JOIN_BY_HASH)
    await forgetLinks(rows, from, 'forgotten')
    await saveCopy(rows, copy, { cursors: { ...cursors, 'forgotten links': String(last) } })
    return true
  })
}

/** The move is not made: what is set apart goes back. */
export const undoCopy = (rows: Rows, copy: PartnerCopy, cause: string): Promise<void> =>
  inStep(rows, async () => {
    const { partner, from, to, actor, reason } = copy
    await saveCopy(rows, copy, { phase: 'undoing', cursors: {} })
    await rows.run(
      `INSERT INTO cluster.partner_moves
         (partner, from_shard, to_shard, requested_at, actor, reason, ended_at, cause)
       VALUES (?1, ?2, ?3, ${NOW}, ?4, ?5, ${NOW}, ?6)
       ON CONFLICT (partner) DO UPDATE SET from_shard = ?2, to_shard = ?3, requested_at = ${NOW},
         actor = ?4, reason = ?5, ended_at = ${NOW}, cause = ?6`,
      [partner, from, to, actor, reason, cause],
    )
  })

/** A step back from a move that was given up. @returns whether there is more to do */
export async function undoStep(rows: Rows, copy: PartnerCopy, scale = 1): Promise<boolean> {
  const { from } = copy
  const hasTables = copy.begunAt !== null
  if (hasTables) {
    if (copy.cursors['emptied'] === undefined && copy.cursors['page'] === undefined)
      await inStep(rows, () => rows.exec(withoutTwinTriggers(copy)))
    const apart = [...PLAIN, ...NUMBERED].map((table) => ({
      ...{ name: setApart(copy, table), into: `${from}.${table}` },
    }))
    if (await putBack(rows, copy, apart, scale)) return true
  }
  return dropStep(rows, copy, hasTables ? dropsOf(copy, from) : [], () => {
    crashPoint('partner_copy.undone')
    return Promise.resolve()
  })
}
