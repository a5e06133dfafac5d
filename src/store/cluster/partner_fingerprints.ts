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
const NO_FINGERPRINT = `'\\x${'00'.repeat(FINGERPRINT_BYTES)}'::bytea`
/** In place of the link of an intent that has moved. */
const NO_LINK = `'["",0]'::json`

/** Undoes the transaction. */
export class GivenUp extends Error {}

export const tenantsOf = (partner: string): readonly string[] =>
  ENVIRONMENTS.map((environment) => tenantOf(partner as PartnerId, environment))

/** Names of partners are letters, digits and hyphens, so they are safe inside SQL. */
export const inTenants = (partner: string): string => `IN ('${tenantsOf(partner).join("', '")}')`

/** Moves the links of the partner's intents, and checks that each intent has one. */
export async function moveLinks(
  connection: Connection,
  { partner, from, to }: PartnerMove,
  last: number,
): Promise<void> {
  await connection.run(`CREATE TEMP TABLE links ON COMMIT DROP AS
    SELECT id, before, print, number, first, row_number() OVER (ORDER BY number) AS ordinal FROM (
      SELECT u.first + l.ordinal - 1 AS number, u.first, l.link ->> 0 AS id,
        (l.link ->> 1)::bigint AS before,
        ${fingerprintAt('u.prints', 'l.ordinal - 1')} AS print
      FROM ${from}.intent_users AS u,
        json_array_elements(u.links::json) WITH ORDINALITY AS l (link, ordinal)) AS linked
    WHERE id IN (SELECT id FROM payments)`)
  await connection.exec('CREATE INDEX ON links (number); CREATE INDEX ON links (id); ANALYZE links')
  const [fault] = await connection.all<{ subject: string }>(`
    SELECT i.id AS subject FROM ${from}.intents AS i
      WHERE i.tenant ${inTenants(partner)}
        AND (SELECT count(*) FROM links WHERE links.id = i.id) <> 1
    UNION ALL
    SELECT l.id FROM links AS l LEFT JOIN links AS b ON b.number = l.before
      WHERE l.before > 0 AND b.number IS NULL LIMIT 1`)
  if (fault !== undefined) throw new GivenUp(`an intent has no link of its own: ${fault.subject}`)
  await connection.run(`
    INSERT INTO ${to}.intent_users (first, prints, links)
    SELECT ${last} + min(l.ordinal), string_agg(l.print, ''::bytea ORDER BY l.ordinal),
      json_agg(json_build_array(l.id,
        coalesce(${last} + b.ordinal, 0)) ORDER BY l.ordinal)::text
    FROM links AS l LEFT JOIN links AS b ON b.number = l.before
    GROUP BY (l.ordinal - 1) / ${LINKS_PER_ROW}`)
  await connection.run(`
    UPDATE ${from}.intent_users AS u SET prints = kept.prints, links = kept.links FROM (
      SELECT r.first, json_agg(CASE WHEN m.id IS NULL THEN l.link ELSE ${NO_LINK} END
          ORDER BY l.ordinal)::text AS links,
        string_agg(CASE WHEN m.id IS NULL THEN ${fingerprintAt('r.prints', 'l.ordinal - 1')}
          ELSE ${NO_FINGERPRINT} END, ''::bytea ORDER BY l.ordinal) AS prints
      FROM ${from}.intent_users AS r
        CROSS JOIN LATERAL json_array_elements(r.links::json) WITH ORDINALITY AS l (link, ordinal)
        LEFT JOIN links AS m ON m.number = r.first + l.ordinal - 1
      WHERE r.first IN (SELECT first FROM links) GROUP BY r.first) AS kept
    WHERE u.first = kept.first`)
}

const fingerprintAt = (prints: string, ordinal: string): string =>
  `substr(${prints}, ${FINGERPRINT_BYTES} * (${ordinal})::integer + 1, ${FINGERPRINT_BYTES})`

/** The fingerprint of a key: the first bytes of its digest. */
const FINGERPRINT = `substr(decode(translate(substr(key, 1, 12), '-_', '+/'), 'base64'),
  1, ${FINGERPRINT_BYTES})`
/** As the index of older keys has it: two little-endian words, the high one first. */
const INDEXED = [3, 2, 1, 0, 7, 6, 5, 4]
  .map((byte, ordinal) => `(get_byte(${FINGERPRINT}, ${byte})::bigint << ${56 - 8 * ordinal})`)
  .join(' | ')

/** Moves the keys of the partner's entities, and checks that each payout has one. */
export async function moveKeys(
  connection: Rows,
  { partner, from, to }: PartnerMove,
  last: number,
): Promise<void> {
  await connection.run(`CREATE TEMP TABLE keys ON COMMIT DROP AS
    SELECT *, row_number() OVER (ORDER BY sequence) AS ordinal FROM ${from}.idempotency
    WHERE entity IN (SELECT id FROM entities)`)
  const [fault] = await connection.all<{ subject: string }>(`
    SELECT p.id AS subject FROM ${from}.payouts AS p
      LEFT JOIN (SELECT entity, count(*) AS n FROM keys GROUP BY entity) AS k ON k.entity = p.id
    WHERE p.tenant ${inTenants(partner)} AND coalesce(k.n, 0) <> 1 LIMIT 1`)
  if (fault !== undefined) throw new GivenUp(`a payout has not one key: ${fault.subject}`)
  await connection.run(`
    INSERT INTO ${to}.idempotency (sequence, key, request_hash, entity, response)
    SELECT ${last} + ordinal, key, request_hash, entity, response FROM keys ORDER BY ordinal`)
  await connection.run(`
    INSERT INTO ${to}.idempotency_prints (first, prints)
    SELECT ${last} + 1, string_agg(${FINGERPRINT}, ''::bytea ORDER BY ordinal)
    FROM keys HAVING count(*) > 0`)
  await connection.run(`DELETE FROM ${from}.idempotency_index
    WHERE (fingerprint, sequence) IN (SELECT ${INDEXED}, sequence FROM keys)`)
  await connection.run(`DELETE FROM ${from}.idempotency AS i USING keys
    WHERE i.sequence = keys.sequence`)
  await connection.run(`
    UPDATE ${from}.idempotency_prints AS p SET prints = kept.prints FROM (
      SELECT r.first, string_agg(CASE WHEN k.sequence IS NULL
          THEN ${fingerprintAt('r.prints', 'n')} ELSE ${NO_FINGERPRINT} END,
        ''::bytea ORDER BY n) AS prints
      FROM ${from}.idempotency_prints AS r
        CROSS JOIN generate_series(0, length(r.prints) / ${FINGERPRINT_BYTES} - 1) AS n
        LEFT JOIN keys AS k ON k.sequence = r.first + n
      WHERE r.first IN (SELECT (SELECT max(first) FROM ${from}.idempotency_prints
        WHERE first <= keys.sequence) FROM keys)
      GROUP BY r.first) AS kept
    WHERE p.first = kept.first`)
}
