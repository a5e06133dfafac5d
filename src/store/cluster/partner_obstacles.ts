/**
 * What the move of a partner would take along, and what prevents it.
 *
 * Does not own: the move (cluster/partner_transfer).
 */
import type { Connection } from '../postgres/connection.js'
import { NOW } from './partner_copy.js'
import { inTenants } from './partner_fingerprints.js'
import type { PartnerMove } from './partner_moves.js'

const DIRECT_PAYMENTS_MAX = 500
/** Rows of links of a shard: a direct move reads them all. */
const DIRECT_LINKS_MAX = 20_000

export interface PartnerSize {
  readonly payments: number
  readonly entries: number
  readonly events: number
}

type Rows = Pick<Connection, 'all'>

export async function sizeOf(rows: Rows, { partner, from }: PartnerMove): Promise<PartnerSize> {
  const count = (table: string): string =>
    `(SELECT count(*) FROM ${from}.${table} WHERE tenant ${inTenants(partner)})`
  const [size] = await rows.all<PartnerSize>(
    `SELECT ${count('intents')} + ${count('payouts')} AS payments,
       ${count('ledger_entries')} AS entries, ${count('events')} AS events`,
  )
  return size!
}

/** Whether its payments are set apart first, because others would wait for them. */
export async function isLarge(
  rows: Rows,
  { from }: PartnerMove,
  { payments }: PartnerSize,
): Promise<boolean> {
  const [links] = await rows.all<{ read: number }>(
    `SELECT count(*) AS read FROM (SELECT 1 FROM ${from}.intent_users
     LIMIT ${DIRECT_LINKS_MAX + 1}) AS rows`,
  )
  return payments > DIRECT_PAYMENTS_MAX || links!.read > DIRECT_LINKS_MAX
}

/** Why the partner cannot move. Null if it can. */
export async function obstacleTo(rows: Rows, move: PartnerMove): Promise<string | null> {
  const { partner, from, to } = move
  const isThere = async (sql: string): Promise<boolean> => (await rows.all(sql)).length > 0
  const metaOf = (shard: string, name: string): string =>
    `(SELECT value FROM ${shard}.meta WHERE name = '${name}')`
  const [books] = await rows.all<{ same_version: boolean; same_salt: boolean; linked: boolean }>(
    `SELECT (SELECT schema_version FROM ${from}.owner) = (SELECT schema_version FROM ${to}.owner)
         AS same_version,
       ${metaOf(from, 'nonce_salt')} = ${metaOf(to, 'nonce_salt')} AS same_salt,
       coalesce(${metaOf(from, 'unlinked_to')}, '') = '' AS linked`,
  )
  if (books?.same_version !== true) return `${from} and ${to} are of different versions`
  if (!books.same_salt) return `${from} and ${to} have different salts: one is older than 1.2`
  if (!books.linked) return `${from} has intents of before they were linked by user`
  if (
    await isThere(`SELECT 1 FROM ${from}.recoveries UNION ALL
      SELECT 1 FROM ${to}.recoveries WHERE released_at IS NULL LIMIT 1`)
  )
    return `${from} has been, or ${to} is, in recovery mode`
  if (
    await isThere(`SELECT 1 FROM ${from}.orphan_executions UNION ALL
      SELECT 1 FROM ${to}.orphan_executions WHERE resolved_at IS NULL LIMIT 1`)
  )
    return `${from} or ${to} has orphan executions`
  if (
    await isThere(`SELECT 1 FROM ${from}.approval_requests
      WHERE status = 'pending' AND expires_at > ${NOW} LIMIT 1`)
  )
    return `${from} has requests that wait for a second operator`
  if (
    await isThere(`SELECT 1 FROM ${from}.user_erasures
      WHERE tenant ${inTenants(partner)} AND ended_at IS NULL LIMIT 1`)
  )
    return `users of ${partner} are being erased`
  if (await isThere(`SELECT 1 FROM ${from}.idempotency_retention WHERE kind = 'payouts' LIMIT 1`))
    return `keys of payouts are deleted in ${from} by their age`
  if (await isThere(`SELECT 1 FROM ${from}.archives LIMIT 1`)) return `${from} has an archive`
  return null
}
