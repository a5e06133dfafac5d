/**
 * The shards of a cluster compared with each other, with the schema `cluster`, and with the whole
 * rail's log and the whole pools.
 *
 * - The tables are those of the union's scratch database (union), `rail` and `:pool`.
 * - The rail's snapshot is later than the shards', and `:as_of` is before both: an instruction that
 *   came since is left out, unless the shards know its end.
 */
import { byQuery, type RowCheck } from '../check.js'

const everyShardHasBooks = byQuery({
  name: 'every_shard_has_books',
  sentence: 'A shard that was served has its books, in the epoch of its last owner or a later one.',
  over: ['registered'],
  broken: `
    SELECT r.shard AS entity, coalesce('books of epoch ' || o.epoch, 'no books') AS found,
           'books of epoch ' || r.epoch || ' or later' AS expected
      FROM registered r LEFT JOIN owners o USING (shard)
      WHERE r.epoch > coalesce(o.epoch, 0)`,
})

const partnersAreInOneShard = byQuery({
  name: 'partners_are_in_one_shard',
  sentence: 'A partner is in one shard.',
  over: ['partners'],
  broken: `
    SELECT partner AS entity, group_concat(shard, ' and ') AS found, 'one shard' AS expected
      FROM partners GROUP BY partner HAVING count(*) > 1`,
})

/** Partners of older books are placed when their shard is served for the first time. */
const partnersAreWherePlaced = byQuery({
  name: 'partners_are_where_placed',
  sentence: 'A partner is in the shard of its placement.',
  over: ['placements'],
  broken: `
    SELECT p.partner AS entity, 'in ' || p.shard AS found,
           coalesce('placed in ' || c.shard, 'a place') AS expected
      FROM partners p LEFT JOIN placements c USING (partner) JOIN registered r ON r.shard = p.shard
      WHERE p.shard IS NOT c.shard AND (r.epoch > 0 OR c.shard IS NOT NULL)`,
})

const idsAreInOneShard = byQuery({
  name: 'ids_are_in_one_shard',
  sentence:
    'Payouts, intents, beneficiaries, events, quotes, discrepancies, keys and endpoints are in ' +
    'one shard.',
  over: ['ids'],
  broken: `
    SELECT id AS entity, kind || ' of ' || group_concat(shard, ' and ') AS found,
           'one shard' AS expected
      FROM ids GROUP BY id, kind HAVING count(*) > 1`,
})

const movedPaymentsAreElsewhere = byQuery({
  name: 'moved_payments_are_elsewhere',
  sentence: 'A payment that has left a shard is in another one.',
  over: ['moved'],
  broken: `
    SELECT m.id AS entity, 'left ' || m.shard AS found, 'in another shard' AS expected
      FROM moved m WHERE NOT EXISTS (
        SELECT 1 FROM payments p WHERE p.id = m.id AND p.shard <> m.shard)`,
})

const instructionsBelongToAShard = byQuery({
  name: 'instructions_belong_to_a_shard',
  sentence: 'Every instruction at the rail is of a shard of the cluster.',
  reads: ['rail'],
  over: ['rail.instructions'],
  broken: `
    SELECT i.id AS entity, coalesce('of ' || i.shard, 'no shard, and no payment') AS found,
           'a shard with books' AS expected
      FROM rail.instructions i
      WHERE i.received_at < :as_of AND iif(i.shard IS NULL,
        NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = i.id)
          AND NOT EXISTS (SELECT 1 FROM accounted a WHERE a.id = i.id),
        i.shard NOT IN (SELECT shard FROM owners))`,
})

const total = (executions: string, amount: string): string =>
  `${executions} || ' payments of ' || ${amount} || ' in minor units'`

/** A sum of amounts can be more than 64 bits: it is taken in two parts. */
const PART = 1_000_000_000

/** The two parts of the sum of these amounts, each as often as the other column says. */
export const partsOfSum = (amount: string, times = '1'): string =>
  `sum(${times} * (${amount} / ${PART})), sum(${times} * (${amount} % ${PART}))`

/** Decimal text of the two parts. */
const exact = (select: string): string => `
  SELECT currency, executions, iif(wholes + rests / ${PART} = 0, rests || '',
      (wholes + rests / ${PART}) || printf('%09d', rests % ${PART}))
    FROM (WITH summed (currency, executions, wholes, rests) AS (${select}) SELECT * FROM summed)`

/** Compares two sets of (currency, executions, parts of the amount). */
const sameTotals = (found: string, expected: string): string => `
  WITH found (currency, executions, amount) AS (${exact(found)}),
    expected (currency, executions, amount) AS (${exact(expected)}),
    currencies AS (SELECT currency FROM found UNION SELECT currency FROM expected)
  SELECT currency AS entity,
         ${total('coalesce(f.executions, 0)', "coalesce(f.amount, '0')")} AS found,
         ${total('coalesce(e.executions, 0)', "coalesce(e.amount, '0')")} AS expected
    FROM currencies LEFT JOIN found f USING (currency) LEFT JOIN expected e USING (currency)
    WHERE (coalesce(f.executions, 0), coalesce(f.amount, '0'))
      IS NOT (coalesce(e.executions, 0), coalesce(e.amount, '0'))`

const executionsAreAuditedOnce = byQuery({
  name: 'executions_are_audited_once',
  sentence:
    'In each currency the executions of the rail are those that the shards were audited with.',
  reads: ['rail'],
  over: ['rail.instructions'],
  broken: sameTotals(
    'SELECT currency, sum(executions), sum(wholes), sum(rests) FROM audited GROUP BY currency',
    `SELECT currency, sum(executions), ${partsOfSum('amount', 'executions')}
       FROM rail.instructions WHERE received_at < :as_of GROUP BY currency`,
  ),
})

const PAID = `('completed', 'reversed', 'captured', 'refunded')`
const OPEN = `('created', 'processing', 'authorized')`

/** The only rail of all paid payments, or those of several that have one in this log. */
const LOGGED = `SELECT rail FROM payments WHERE state IN ${PAID}
  AND ((SELECT count(DISTINCT rail) FROM payments WHERE state IN ${PAID}) = 1
    OR instruction IN (SELECT id FROM rail.instructions))`

const executionsArePayments = byQuery({
  name: 'executions_are_payments',
  sentence:
    'In each currency the rail executed the payments that all shards together record as paid, ' +
    'except open payments and mismatches that operators can see.',
  reads: ['rail'],
  over: ['payments'],
  broken: sameTotals(
    `SELECT i.currency, sum(i.executions), ${partsOfSum('i.amount', 'i.executions')}
       FROM rail.instructions i WHERE i.executions > 0 AND (i.received_at < :as_of OR EXISTS (
           SELECT 1 FROM payments p WHERE p.instruction = i.id AND p.state IN ${PAID}))
         AND i.id NOT IN (SELECT id FROM accounted)
         AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.instruction = i.id
           AND (p.state IN ${OPEN} OR p.id IN (SELECT id FROM accounted)))
       GROUP BY i.currency`,
    `SELECT currency, count(*), ${partsOfSum('amount')} FROM payments
       WHERE state IN ${PAID} AND rail IN (${LOGGED}) AND id NOT IN (SELECT id FROM accounted)
         AND instruction NOT IN (SELECT id FROM accounted)
       GROUP BY currency`,
  ),
})

const poolEventsHaveAPartner = byQuery({
  name: 'pool_events_have_a_partner',
  sentence: 'Every event in a pool is of a partner of some shard.',
  reads: ['webhooks'],
  over: [':pool.events'],
  broken: `
    SELECT e.id AS entity, 'of ' || e.tenant AS found, 'a partner of a shard' AS expected
      FROM :pool.events e WHERE e.tenant NOT IN (
        SELECT partner || '_sandbox' FROM partners UNION ALL
        SELECT partner || '_production' FROM partners)`,
})

export const UNION_CHECKS: readonly RowCheck[] = [
  everyShardHasBooks,
  partnersAreInOneShard,
  partnersAreWherePlaced,
  idsAreInOneShard,
  movedPaymentsAreElsewhere,
  instructionsBelongToAShard,
  executionsAreAuditedOnce,
  executionsArePayments,
  poolEventsHaveAPartner,
]
