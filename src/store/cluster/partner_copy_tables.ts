/**
 * The tables in which a partner's rows are set apart for its move.
 *
 * Owns: their names, triggers, and from which shard they inherit. Does not own: their rows
 * (cluster/partner_copy, cluster/partner_settling).
 *
 * - They inherit from the tables of the shard that has the partner, so every read of that shard
 *   sees each row once, at any moment. The move only makes them inherit from the other shard.
 * - Rows with numbers of a shard are set apart twice: as they are, and with the numbers of the
 *   other shard, in tables that inherit from nothing before the move: no query sees them.
 * - A row that is changed again is written to the shard's own table, and a trigger deletes the one
 *   that is set apart; a deleted one takes its renumbered twin along.
 */
import { inTenants, tenantsOf, withoutFingerprint } from './partner_fingerprints.js'
import type { PartnerMove } from './partner_moves.js'
import type { Shifts } from './partner_numbers.js'

/** Tables without numbers: they inherit from one shard, then from the other. */
export const PLAIN = ['intents', 'payouts', 'beneficiaries', 'limit_usage'] as const
/** Tables with numbers of their shard. */
export const NUMBERED = ['ledger_entries', 'events', 'event_outcomes', 'idempotency'] as const
/** They have rows only for the other shard. */
export const OF_TARGET = ['idempotency_prints', 'intent_users'] as const
export type PlainTable = (typeof PLAIN)[number]

const KEY_OF = { intents: 'id', payouts: 'id', beneficiaries: 'id', limit_usage: 'key' } as const

/** Names of partners are letters, digits and hyphens, so they are safe inside SQL. */
export const setApart = ({ partner, to }: PartnerMove, table: string): string =>
  `${to}."${partner} ${table}"`
export const renumbered = ({ partner, to }: PartnerMove, table: string): string =>
  `${to}."${partner} new ${table}"`

/** Keys of counters begin with the tenant. */
export const isCounterOf = (key: string, partner: string): string =>
  `(${tenantsOf(partner)
    .map((tenant) => `${key} >= '["${tenant}",' AND ${key} < '["${tenant}"-'`)
    .join(' OR ')})`

const isOf = (table: PlainTable, row: string, partner: string): string =>
  table === 'limit_usage'
    ? isCounterOf(`${row}.key`, partner)
    : `${row}.tenant ${inTenants(partner)}`

/** @param isLeft the payment has not moved yet */
function touchFunction(copy: PartnerMove, table: PlainTable, isLeft: boolean): string {
  const isPayment = isLeft && (table === 'intents' || table === 'payouts')
  const moved = setApart(copy, 'moved_payments')
  return `CREATE OR REPLACE FUNCTION ${setApart(copy, `${table} touched`)}() RETURNS trigger
    LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM ${setApart(copy, table)} WHERE ${KEY_OF[table]} = NEW.${KEY_OF[table]};
      ${isPayment ? `DELETE FROM ${moved} WHERE id = NEW.id;` : ''}
      RETURN NULL;
    END $$;`
}

/** SQL: rows of a shard's own table replace those that are set apart. */
const touchTriggers = (copy: PartnerMove, shard: string): string =>
  PLAIN.map(
    (table) => `CREATE OR REPLACE TRIGGER "${copy.partner} touched"
      AFTER INSERT OR UPDATE ON ${shard}.${table} FOR EACH ROW
      WHEN (${isOf(table, 'NEW', copy.partner)})
      EXECUTE FUNCTION ${setApart(copy, `${table} touched`)}();`,
  ).join('\n')
const dropTouchTrigger = ({ partner }: PartnerMove, shard: string, table: string): string =>
  `DROP TRIGGER IF EXISTS "${partner} touched" ON ${shard}.${table};`

const goneFunction = (name: string, statements: string): string =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ${statements} RETURN NULL; END $$;`
const goneTrigger = (table: string, run: string): string =>
  `CREATE TRIGGER gone AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${run}();`

/** SQL that makes the tables. */
export function madeTables(copy: PartnerMove, shifts: Shifts): string {
  const { from, to } = copy
  const like = (name: string, table: string): string =>
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL);`
  const prints = renumbered(copy, 'idempotency_prints')
  const [eventsGone, keysGone] = [setApart(copy, 'events gone'), setApart(copy, 'keys gone')]
  return [
    ...[...PLAIN, ...NUMBERED].map(
      (table) => `${like(setApart(copy, table), `${from}.${table}`)}
        ALTER TABLE ${setApart(copy, table)} INHERIT ${from}.${table};`,
    ),
    ...[...NUMBERED, ...OF_TARGET].map((table) => like(renumbered(copy, table), `${to}.${table}`)),
    like(setApart(copy, 'moved_payments'), `${from}.moved_payments`),
    ...PLAIN.map((table) => touchFunction(copy, table, true)),
    touchTriggers(copy, from),
    goneFunction(
      eventsGone,
      ['events', 'event_outcomes']
        .map(
          (table) => `DELETE FROM ${renumbered(copy, table)}
          WHERE position = OLD.position + ${shifts.position};`,
        )
        .join(''),
    ),
    goneFunction(
      keysGone,
      `DELETE FROM ${renumbered(copy, 'idempotency')} WHERE sequence = OLD.sequence + ${shifts.key};
       ${withoutFingerprint(prints, `OLD.sequence + ${shifts.key}`)}`,
    ),
    goneTrigger(setApart(copy, 'events'), eventsGone),
    goneTrigger(setApart(copy, 'idempotency'), keysGone),
  ].join('\n')
}

/** SQL: what is set apart is of the other shard from here on. */
export function attached(copy: PartnerMove): string {
  const { from, to } = copy
  return [
    ...PLAIN.map((table) => dropTouchTrigger(copy, from, table)),
    ...[...PLAIN, ...NUMBERED].map(
      (table) => `ALTER TABLE ${setApart(copy, table)} NO INHERIT ${from}.${table};`,
    ),
    ...PLAIN.map((table) => `ALTER TABLE ${setApart(copy, table)} INHERIT ${to}.${table};`),
    ...[...NUMBERED, ...OF_TARGET].map(
      (table) => `ALTER TABLE ${renumbered(copy, table)} INHERIT ${to}.${table};`,
    ),
    `ALTER TABLE ${setApart(copy, 'moved_payments')} INHERIT ${from}.moved_payments;`,
    ...PLAIN.map((table) => touchFunction(copy, table, false)),
    touchTriggers(copy, to),
  ].join('\n')
}

/** SQL: no reader has these tables. One of a snapshot has locked `intents` of each shard. */
export const lockedForMove = (copy: PartnerMove): string => {
  const apart = [...PLAIN, ...NUMBERED].map((table) => setApart(copy, table))
  const locked = [`${copy.from}.intents`, `${copy.to}.intents`, ...apart]
  return `LOCK TABLE ${locked.map((table) => `ONLY ${table}`).join(', ')}
    IN ACCESS EXCLUSIVE MODE`
}

const tablesOf = (copy: PartnerMove): readonly string[] => [
  ...[...PLAIN, ...NUMBERED, 'moved_payments'].map((table) => setApart(copy, table)),
  ...[...NUMBERED, ...OF_TARGET].map((table) => renumbered(copy, table)),
]

/** SQL: no vacuum has the tables of the move and the shards. Readers and writers do not wait. */
export function lockedForChange(copy: PartnerMove): string {
  const changed = [...PLAIN, ...NUMBERED, ...OF_TARGET, 'moved_payments']
  const ofShards = [copy.from, copy.to].flatMap((shard) =>
    changed.map((table) => `${shard}.${table}`),
  )
  const locked = [...ofShards, ...tablesOf(copy)].map((table) => `ONLY ${table}`)
  return `LOCK TABLE ${locked.join(', ')} IN SHARE UPDATE EXCLUSIVE MODE`
}

/** SQL: the deletes of an undone copy leave the twins, which are dropped as a whole. */
export const withoutTwinTriggers = (copy: PartnerMove): string =>
  ['events', 'idempotency']
    .map((table) => `DROP TRIGGER IF EXISTS gone ON ${setApart(copy, table)};`)
    .join('')

/**
 * SQL: each drops a table, a trigger or a function. One by one they find their locks free.
 *
 * @param shard the one that has the partner
 */
export function dropsOf(copy: PartnerMove, shard: string): readonly string[] {
  const functions = [...PLAIN.map((table) => `${table} touched`), 'events gone', 'keys gone']
  return [
    ...PLAIN.map((table) => dropTouchTrigger(copy, shard, table)),
    ...tablesOf(copy).map((table) => `DROP TABLE ${table}`),
    ...functions.map((name) => `DROP FUNCTION ${setApart(copy, name)}()`),
  ]
}
