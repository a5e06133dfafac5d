/**
 * The function that writes a batch of the processor's commands on PostgreSQL, and its parameters.
 *
 * Does not own: inserts and the fence (postgres/commit_function), tables (store/tables).
 */
import type { CommitRows } from '../store.js'
import { OLDEST_NONCES } from '../stored_fingerprints.js'
import { POSTGRES } from '../dialect.js'
import { deleteExpired, expiredAsJson } from '../retention.js'
import { EXPIRED_QUOTES_PER_COMMIT } from '../sqlite/commit_view.js'
import { BUSY_TABLES, TABLES } from '../tables.js'
import { createCommitFunction, type Value } from './commit_function.js'

export const COMMIT_FUNCTION = createCommitFunction({
  tables: TABLES,
  arrays: new Set(BUSY_TABLES),
  others: [
    { name: 'settled_events', type: 'text' },
    { name: 'settled_at', type: 'bigint' },
    { name: 'nonces', type: 'bytea' },
    { name: 'nonces_seen_at', type: 'bigint' },
    { name: 'forget_before', type: 'bigint' },
    { name: 'forget_after', type: 'bigint' },
    { name: 'expired', type: 'text' },
    { name: 'key_fingerprints', type: 'bytea' },
    { name: 'key_fingerprints_first', type: 'bigint' },
    { name: 'user_fingerprints', type: 'bytea' },
    { name: 'user_links', type: 'text' },
    { name: 'user_first', type: 'bigint' },
  ],
  statements: `
  IF p_events_position IS NOT NULL THEN
    INSERT INTO outbox (position) SELECT * FROM unnest(p_events_position);
  END IF;
  IF p_settled_events IS NOT NULL THEN
    WITH settled AS (
      DELETE FROM outbox USING events
        WHERE events.id IN (SELECT json_array_elements_text(p_settled_events::json))
          AND outbox.position = events.position
        RETURNING outbox.position)
    INSERT INTO event_outcomes (position, settled_at) SELECT position, p_settled_at FROM settled;
  END IF;
  IF p_nonces IS NOT NULL THEN
    INSERT INTO nonces (seen_at, fingerprints) VALUES (p_nonces_seen_at, p_nonces);
  END IF;
  IF p_key_fingerprints IS NOT NULL THEN
    INSERT INTO idempotency_prints (first, prints)
      VALUES (p_key_fingerprints_first, p_key_fingerprints);
  END IF;
  IF p_user_fingerprints IS NOT NULL THEN
    INSERT INTO intent_users (first, prints, links)
      VALUES (p_user_first, p_user_fingerprints, p_user_links);
  END IF;
  IF p_forget_before IS NOT NULL THEN
    DELETE FROM nonces WHERE id IN (SELECT id FROM (${OLDEST_NONCES}) AS oldest
      WHERE seen_at < p_forget_before OR seen_at > p_forget_after);
    DELETE FROM fx_quotes WHERE id IN (SELECT id FROM fx_quotes
      WHERE conversion IS NULL AND expires_at < p_forget_before
      LIMIT ${EXPIRED_QUOTES_PER_COMMIT});
  END IF;
  IF p_expired IS NOT NULL THEN
    ${deleteExpired(POSTGRES, 'p_expired').join('\n    ')}
  END IF;`,
})

/** The values of its statement. */
export const commitValues = (batch: CommitRows, epoch: number, number: number): readonly Value[] =>
  COMMIT_FUNCTION.values(epoch, number, batch.rows, [
    batch.settledEvents.length === 0 ? null : JSON.stringify(batch.settledEvents),
    batch.settledAt,
    batch.nonces,
    batch.noncesSeenAt,
    batch.forgetBefore,
    Math.min(batch.forgetAfter, Number.MAX_SAFE_INTEGER),
    batch.expired === null ? null : expiredAsJson(batch.expired),
    batch.keyFingerprints,
    batch.keyFingerprintsFirst,
    batch.userFingerprints,
    batch.userLinks,
    batch.userFirst,
  ])
