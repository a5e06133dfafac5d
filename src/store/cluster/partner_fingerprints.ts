/**
 * Moves a partner's idempotency keys and links of intents, with their fingerprints, to another
 * shard.
 *
 * Does not own: the transaction, the other tables (cluster/partner_transfer).
 *
 * - Sequences of keys and numbers of intents have no gaps. In the shard that is left the
 *   fingerprints of what has moved become zeros, and its links name no intent. So nothing finds
 *   them there, also when the partner returns.
 */
import { ENVIRONMENTS, tenantOf, type PartnerId } from '../../base/ids.js'
import type { Connection } from '../postgres/connection.js'
import type { PartnerMove } from './partner_moves.js'

type Rows = Pick<Connection, 'all' | 'run'>

export const FINGERPRINT_BYTES = 8
/** Links of intents in one row: a list reads the whole row. */
const LINKS_PER_ROW = 64
/** In place of the fingerprint of a key or a user that has moved. */
export const NO_FINGERPRINT = `'\\x${'00'.repeat(FINGERPRINT_BYTES)}'::bytea`
/** In place of the link of an intent that has moved. */
const NO_LINK = `'["",0]'::json`

/** Undoes the transaction. */
export class GivenUp extends Error {}

export const tenantsOf = (partner: string): readonly string[] =>
  ENVIRONMENTS.map((environment) => tenantOf(partner as PartnerId, environment))

/** Names of partners are letters, digits and hyphens, so they are safe inside SQL. */
export const inTenants = (partner: string): string => `IN ('${tenantsOf(partner).join("', '")}')`

/** Whether a key is of the partner: by the entity that it stands for. */
export const isKeyOf = (shard: string, partner: string, entity: string): string => `(
  CASE substr(${entity}, 1, strpos(${entity}, '_'))
    WHEN 'pi_' THEN (SELECT tenant FROM ${shard}.intents WHERE id = ${entity})
    WHEN 'pout_' THEN (SELECT tenant FROM ${shard}.payouts WHERE id = ${entity})
    WHEN 'we_' THEN (SELECT tenant FROM ${shard}.webhook_endpoints WHERE id = ${entity})
    ELSE (SELECT split_part(account, ':', 1) FROM ${shard}.ledger_entries
      WHERE entity = ${entity} LIMIT 1) END ${inTenants(partner)})`

/** In the books that a partner has left, while they have fingerprints and links of it. */
export const leftBy = (partner: string): string => `left by ${partner}`

/** How the number of an intent changes: what is added to it. */
interface LinkShift {
  readonly shift: number
  /** The partner has only greater numbers. */
  readonly below: number
}

/** What has been set apart before the move, so that only later keys and links are moved. */
export interface SetApart extends LinkShift {
  readonly lastKey: number
  readonly lastLinks: number
  /** SQL: whether the entity of this id is set apart. A column is qualified. */
  readonly has: (id: string) => string
}

/** Moves the links of the partner's intents, and checks that each intent has one. */
export async function moveLinks(
  connection: Connection,
  { partner, from, to }: PartnerMove,
  last: number,
  before?: SetApart,
): Promise<void> {
  await connection.run(`CREATE TEMP TABLE links ON COMMIT DROP AS
    SELECT id, before, print, number, first, row_number() OVER (ORDER BY number) AS ordinal FROM (
      SELECT u.first + l.ordinal - 1 AS number, u.first, l.link ->> 0 AS id,
        (l.link ->> 1)::bigint AS before,
        ${fingerprintAt('u.prints', 'l.ordinal - 1')} AS print
      FROM ${from}.intent_users AS u,
        json_array_elements(u.links::json) WITH ORDINALITY AS l (link, ordinal)
      WHERE u.first > ${before?.lastLinks ?? 0}) AS linked
    WHERE id IN (SELECT id FROM payments)
      ${before === undefined ? '' : `OR ${before.has('linked.id')}`}`)
  await connection.exec('CREATE INDEX ON links (number); CREATE INDEX ON links (id); ANALYZE links')
  const [fault] = await connection.all<{ subject: string }>(`
    SELECT i.id AS subject FROM ${from}.intents AS i
      WHERE i.tenant ${inTenants(partner)}
        AND (SELECT count(*) FROM links WHERE links.id = i.id)
          ${before === undefined ? '<>' : '>'} 1
    UNION ALL
    SELECT l.id FROM links AS l LEFT JOIN links AS b ON b.number = l.before
      WHERE l.before > ${before?.lastLinks ?? 0} AND b.number IS NULL LIMIT 1`)
  if (fault !== undefined) throw new GivenUp(`an intent has no link of its own: ${fault.subject}`)
  await connection.run(`
    INSERT INTO ${to}.intent_users (first, prints, links)
    SELECT ${last} + min(l.ordinal), string_agg(l.print, ''::bytea ORDER BY l.ordinal),
      json_agg(json_build_array(l.id,
        coalesce(${last} + b.ordinal, ${before === undefined ? 0 : shifted('l.before', before)}))
      ORDER BY l.ordinal)::text
    FROM links AS l LEFT JOIN links AS b ON b.number = l.before
    GROUP BY (l.ordinal - 1) / ${LINKS_PER_ROW}`)
  await forgetLinks(connection, from, 'links')
}

const fingerprintAt = (prints: string, ordinal: string): string =>
  `substr(${prints}, ${FINGERPRINT_BYTES} * (${ordinal})::integer + 1, ${FINGERPRINT_BYTES})`

/** SQL of a trigger: the fingerprint of one key becomes zeros. */
export const withoutFingerprint = (table: string, sequence: string): string => `
  UPDATE ${table} SET prints = overlay(prints PLACING ${NO_FINGERPRINT}
    FROM (${FINGERPRINT_BYTES} * (${sequence} - first) + 1)::integer FOR ${FINGERPRINT_BYTES})
  WHERE first = (SELECT max(first) FROM ${table} WHERE first <= ${sequence});`

/** SQL: a link's number in the other shard. Zero: the intent that it names is gone. */
const shifted = (before: string, { shift, below }: LinkShift): string =>
  `CASE WHEN ${before} > ${below} THEN ${before} + ${shift} ELSE 0 END`

/**
 * Rows of links with the numbers of another shard. Where a row has links of others too, they name
 * no intent there.
 *
 * @param rows a condition on `r`, a row of intent_users
 * @param isOwn a condition on the intent's id
 */
export const linksIn = (
  from: string,
  by: LinkShift,
  rows: string,
  isOwn: (id: string) => string,
): string => `
  SELECT first + ${by.shift},
    string_agg(CASE WHEN own THEN print ELSE ${NO_FINGERPRINT} END, ''::bytea ORDER BY ordinal),
    json_agg(CASE WHEN own THEN json_build_array(link ->> 0,
        ${shifted('(link ->> 1)::bigint', by)})
      ELSE ${NO_LINK} END ORDER BY ordinal)::text
  FROM (SELECT r.first, l.link, l.ordinal,
      ${fingerprintAt('r.prints', 'l.ordinal - 1')} AS print, ${isOwn('(l.link ->> 0)')} AS own
    FROM ${from}.intent_users AS r
      CROSS JOIN LATERAL json_array_elements(r.links::json) WITH ORDINALITY AS l (link, ordinal)
    WHERE ${rows}) AS linked
  GROUP BY first HAVING bool_or(own)`

/** SQL: rows of links after a number, one or as many as have about `links` of them. */
export const linksPage = (shard: string, after: string | number, links: number): string =>
  `SELECT first FROM ${shard}.intent_users WHERE first > ${after} AND first < ${links} + (
     SELECT min(first) FROM ${shard}.intent_users WHERE first > ${after})`

/** SQL: its rows with a `first` of the other table, found before each is read in its parts. */
const rowsIn = (table: string, firsts: string): string => `WITH r AS MATERIALIZED (
  SELECT * FROM ${table} WHERE first IN (SELECT DISTINCT first FROM ${firsts}))`

/** Makes the links of `numbers` (number, and first of its row) name no intent, in one shard. */
const clearLinks = (shard: string, numbers: string): string => `
  ${rowsIn(`${shard}.intent_users`, numbers)}
  UPDATE ${shard}.intent_users AS u SET prints = kept.prints, links = kept.links FROM (
    SELECT r.first, json_agg(CASE WHEN m.number IS NULL THEN l.link ELSE ${NO_LINK} END
        ORDER BY l.ordinal)::text AS links,
      string_agg(CASE WHEN m.number IS NULL THEN ${fingerprintAt('r.prints', 'l.ordinal - 1')}
        ELSE ${NO_FINGERPRINT} END, ''::bytea ORDER BY l.ordinal) AS prints
    FROM r CROSS JOIN LATERAL json_array_elements(r.links::json) WITH ORDINALITY
        AS l (link, ordinal)
      LEFT JOIN ${numbers} AS m ON m.number = r.first + l.ordinal - 1
    GROUP BY r.first) AS kept
  WHERE u.first = kept.first`

/** Makes the fingerprints of `keys` (sequence, and first of its row) zeros, in one shard. */
const clearKeys = (shard: string, keys: string): string => `
  ${rowsIn(`${shard}.idempotency_prints`, keys)}
  UPDATE ${shard}.idempotency_prints AS p SET prints = kept.prints FROM (
    SELECT r.first, string_agg(CASE WHEN k.sequence IS NULL
        THEN ${fingerprintAt('r.prints', 'n')} ELSE ${NO_FINGERPRINT} END,
      ''::bytea ORDER BY n) AS prints
    FROM r CROSS JOIN generate_series(0, length(r.prints) / ${FINGERPRINT_BYTES} - 1) AS n
      LEFT JOIN ${keys} AS k ON k.sequence = r.first + n
    GROUP BY r.first) AS kept
  WHERE p.first = kept.first`

/** SQL: the row of the fingerprint of a key, by its sequence. */
export const rowOf = (shard: string): string =>
  `(SELECT max(first) FROM ${shard}.idempotency_prints WHERE first <= sequence)`

/** The shard that is left forgets keys: `keys` (sequence, key, and first of its row). */
export async function forgetKeys(rows: Rows, shard: string, keys: string): Promise<void> {
  await rows.run(`DELETE FROM ${shard}.idempotency_index
    WHERE (fingerprint, sequence) IN (SELECT ${INDEXED}, sequence FROM ${keys})`)
  await rows.run(clearKeys(shard, keys))
}

/** It forgets links: `numbers` (number, and first of its row). */
export const forgetLinks = (rows: Rows, shard: string, numbers: string): Promise<number> =>
  rows.run(clearLinks(shard, numbers))

/** The fingerprint of a key: the first bytes of its digest. */
export const FINGERPRINT = `substr(decode(translate(substr(key, 1, 12), '-_', '+/'), 'base64'),
  1, ${FINGERPRINT_BYTES})`
/** As the index of older keys has it: two little-endian words, the high one first. */
export const INDEXED = [3, 2, 1, 0, 7, 6, 5, 4]
  .map((byte, ordinal) => `(get_byte(${FINGERPRINT}, ${byte})::bigint << ${56 - 8 * ordinal})`)
  .join(' | ')

/** Moves the keys of the partner's entities, and checks that each payout has one. */
export async function moveKeys(
  connection: Rows,
  { partner, from, to }: PartnerMove,
  last: number,
  before?: SetApart,
): Promise<void> {
  await connection.run(`CREATE TEMP TABLE keys ON COMMIT DROP AS
    SELECT *, row_number() OVER (ORDER BY sequence) AS ordinal, ${rowOf(from)} AS first
    FROM ${from}.idempotency
    WHERE sequence > ${before?.lastKey ?? 0} AND (entity IN (SELECT id FROM entities)
      ${before === undefined ? '' : `OR ${before.has('idempotency.entity')}`})`)
  const [fault] = await connection.all<{ subject: string }>(`
    SELECT p.id AS subject FROM ${from}.payouts AS p
      LEFT JOIN (SELECT entity, count(*) AS n FROM keys GROUP BY entity) AS k ON k.entity = p.id
    WHERE p.tenant ${inTenants(partner)}
      AND ${before === undefined ? 'coalesce(k.n, 0) <> 1' : 'k.n > 1'} LIMIT 1`)
  if (fault !== undefined) throw new GivenUp(`a payout has not one key: ${fault.subject}`)
  await connection.run(`
    INSERT INTO ${to}.idempotency (sequence, key, request_hash, entity, response)
    SELECT ${last} + ordinal, key, request_hash, entity, response FROM keys ORDER BY ordinal`)
  await connection.run(`
    INSERT INTO ${to}.idempotency_prints (first, prints)
    SELECT ${last} + 1, string_agg(${FINGERPRINT}, ''::bytea ORDER BY ordinal)
    FROM keys HAVING count(*) > 0`)
  await connection.run(`DELETE FROM ${from}.idempotency AS i USING keys
    WHERE i.sequence = keys.sequence`)
  await forgetKeys(connection, from, 'keys')
}
