/**
 * The rail's own log against the books: money left once where we say so, and nowhere else.
 *
 * - What does not fit is allowed only where a person knows of it: there is a discrepancy, or an
 *   operator has settled the payment by hand and said where the evidence lies.
 * - The rail's snapshot is the later one. What the processor has ended must be there; what the
 *   rail has done since is not held against anybody.
 */
import { byQuery, type Broken, type Check } from '../check.js'

const isKnown = (id: string): string => `(
  EXISTS (SELECT 1 FROM orphan_executions orphan WHERE orphan.instruction = ${id})
  OR EXISTS (SELECT 1 FROM main.discrepancies odd WHERE odd.entity = ${id})
  OR EXISTS (SELECT 1 FROM operator_log log
    WHERE log.subject = ${id} AND log.evidence IS NOT NULL))`

/** The instruction that paid it: its own, or the orphan execution that it was matched to. */
const instructionOf = (id: string): string => `coalesce(
  (SELECT orphan.instruction FROM orphan_executions orphan WHERE orphan.matched_to = ${id}), ${id})`

/** What was ordered for each entity. */
const ORDERED = `ordered (id, instruction, state, amount, currency, purpose, transaction_id) AS (
  SELECT id, ${instructionOf('id')}, state, context ->> 'recipientAmount', context ->> 'currency',
         'payout', context ->> 'transactionId'
    FROM payouts
  UNION ALL
  SELECT id, ${instructionOf('id')}, state, context ->> '$.scanned.quote.localMinor',
         context ->> '$.scanned.quote.currency', 'qr_payment', context ->> 'transactionId'
    FROM intents)`

const inWords = `i.state || ', executed ' || i.executions || ' times: ' || i.purpose || ' of '
  || i.currency || ' ' || CAST(i.amount AS TEXT) || coalesce(' as ' || i.transaction_id, '')`

export const railLogIsThere: Check = {
  name: 'rail_log_is_there',
  sentence: 'Once a payment was submitted, there is a log of the rail to hold it against.',
  reads: [],
  run: async (books) => {
    const rows = (await books.count('payouts')) + (await books.count('intents'))
    if (books.has('rail')) return { rows, broken: null }
    const [submitted] = await books.all<{ id: string }>(`
      SELECT id FROM payouts WHERE context ->> 'handedOverAt' IS NOT NULL
      UNION ALL
      SELECT id FROM intents WHERE context ->> 'handedOverAt' IS NOT NULL LIMIT 1`)
    if (submitted === undefined) return { rows, broken: null }
    const { id: entity } = submitted
    return { rows, broken: { entity, found: 'no rail.db', expected: "the rail's log" } }
  },
}

export const paidExactlyOnce = byQuery({
  name: 'paid_exactly_once',
  sentence:
    'What is completed, reversed, captured or refunded was executed once, as it was ordered.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${ORDERED}
    SELECT o.id AS entity, coalesce(${inWords}, 'no instruction') AS found,
           'executed 1 times: ' || o.purpose || ' of ' || o.currency || ' ' || o.amount
             || coalesce(' as ' || o.transaction_id, ' under a number') AS expected
      FROM ordered o LEFT JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('completed', 'reversed', 'captured', 'refunded')
        AND (i.executions, CAST(i.amount AS TEXT), i.currency, i.purpose, i.transaction_id)
          IS NOT (1, o.amount, o.currency, o.purpose, coalesce(o.transaction_id, ''))
        AND NOT ${isKnown('o.id')}`,
})

export const neverPaid = byQuery({
  name: 'never_paid',
  sentence: 'What is failed, cancelled or expired was never executed.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${ORDERED}
    SELECT o.id AS entity, ${inWords} AS found, o.state || ', so executed 0 times' AS expected
      FROM ordered o JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('failed', 'cancelled', 'expired') AND i.executions <> 0
        AND NOT ${isKnown('o.id')}`,
})

export const openPaidAtMostOnce = byQuery({
  name: 'open_paid_at_most_once',
  sentence:
    'What is still open was executed at most once, and stands at the rail as it was ordered.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${ORDERED}
    SELECT o.id AS entity, ${inWords} AS found,
           'at most once ' || o.purpose || ' of '
             || coalesce(o.currency || ' ' || o.amount, 'nothing') AS expected
      FROM ordered o JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('created', 'processing', 'authorized')
        AND i.received_at < :as_of
        AND (i.executions > 1 OR (CAST(i.amount AS TEXT), i.currency, i.purpose)
          IS NOT (o.amount, o.currency, o.purpose))
        AND NOT ${isKnown('o.id')}`,
})

export const instructionsWereOrdered = byQuery({
  name: 'instructions_were_ordered',
  sentence: 'Every instruction at the rail was submitted by an entity, to the account it shows.',
  reads: ['rail'],
  over: ['rail.instructions'],
  broken: `
    SELECT i.id AS entity,
           iif(p.id IS NULL AND t.id IS NULL, 'nobody', 'not handed over, or another account')
             AS found,
           'an entity that was handed over, to an account that ends alike' AS expected
      FROM rail.instructions i
        LEFT JOIN payouts p ON p.id = i.id LEFT JOIN intents t ON t.id = i.id
      WHERE i.received_at < :as_of
        AND (coalesce(p.context ->> 'handedOverAt', t.context ->> 'handedOverAt') IS NULL
          OR NOT ${endsWith(
            'i.account',
            `coalesce(p.context ->> '$.beneficiary.accountLast4',
                      substr(t.context ->> '$.scanned.destinationMasked', 5), '?')`,
          )})
        AND NOT ${isKnown('i.id')}`,
})

function endsWith(text: string, end: string): string {
  return `(substr(${text}, length(${text}) - length(${end}) + 1) = ${end})`
}

export const instructionsCameUnchanged = byQuery({
  name: 'instructions_came_unchanged',
  sentence: 'No instruction was sent again with other content.',
  reads: ['rail'],
  over: ['rail.discrepancies'],
  broken: `
    SELECT r.instruction AS entity, 'other content at ' || r.at AS found, 'the same' AS expected
      FROM rail.discrepancies r WHERE NOT ${isKnown('r.instruction')}`,
})

export const reversalsHaveRailReturn = byQuery({
  name: 'reversals_have_rail_return',
  sentence: 'What is reversed or refunded has come back to the rail.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${ORDERED}
    SELECT o.id AS entity, coalesce(${inWords}, 'no instruction') AS found, 'returned' AS expected
      FROM ordered o LEFT JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('reversed', 'refunded') AND i.state IS NOT 'returned'
        AND NOT ${isKnown('o.id')}`,
})

/** Returned, and the reports of it taken in, while the books of that instant have it paid. */
const RETURNED = `
  SELECT i.id FROM rail.instructions i
    LEFT JOIN payouts p ON p.id = i.id LEFT JOIN intents t ON t.id = i.id
    WHERE i.id > ? AND i.state = 'returned' AND i.report_id IS NULL
      AND coalesce(p.state, t.state) NOT IN ('reversed', 'refunded')
      AND NOT ${isKnown('i.id')}
    ORDER BY i.id LIMIT ?`
const STILL_PAID = `
  WITH entities (id, state) AS (
    SELECT id, state FROM payouts WHERE id IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT id, state FROM intents WHERE id IN (SELECT value FROM json_each(?1)))
  SELECT x.id AS entity, x.state || ' here' AS found, 'returned, as at the rail' AS expected
    FROM entities x WHERE x.state NOT IN ('reversed', 'refunded') AND NOT ${isKnown('x.id')}
    LIMIT 1`

/**
 * The one check that asks the other way round, so it needs what the processor says after the rail.
 */
export const railReturnsAreRefunded: Check = {
  name: 'rail_returns_are_refunded',
  sentence: 'Money that the rail has told us is back was booked back.',
  reads: ['rail'],
  run: async (books) => {
    const rows = await books.count('rail.instructions')
    for await (const page of books.pages<{ id: string }>(RETURNED, [''], ({ id }) => [id])) {
      const ids = JSON.stringify(page.map(({ id }) => id))
      const [broken] = await books.byNow<Broken>(STILL_PAID, [ids])
      if (broken !== undefined) return { rows, broken }
    }
    return { rows, broken: null }
  },
}

export const orphansAreExecutions = byQuery({
  name: 'orphans_are_executions',
  sentence:
    'An orphan execution is in the log of the rail; a matched one paid a payment of these books, ' +
    'and one that is resolved was so by name.',
  reads: ['rail'],
  over: ['orphan_executions'],
  broken: `
    SELECT x.instruction AS entity,
           coalesce(i.currency || ' ' || CAST(i.amount AS TEXT) || ', executed '
             || i.executions || ' times', 'no instruction') AS found,
           x.currency || ' ' || CAST(x.amount AS TEXT) || ', executed 1 times' AS expected
      FROM orphan_executions x LEFT JOIN rail.instructions i ON i.id = x.instruction
      WHERE (i.executions, i.amount, i.currency, i.transaction_id)
        IS NOT (1, x.amount, x.currency, x.transaction_id)
    UNION ALL
    SELECT x.instruction,
           'matched to ' || x.matched_to || ', ' || coalesce(p.state, t.state, 'nothing'),
           'a payment that was executed as ' || x.transaction_id
      FROM orphan_executions x
        LEFT JOIN payouts p ON p.id = x.matched_to LEFT JOIN intents t ON t.id = x.matched_to
      WHERE x.status = 'matched'
        AND (coalesce(p.state, t.state) NOT IN ('completed', 'reversed', 'captured', 'refunded')
          OR coalesce(p.context ->> 'transactionId', t.context ->> 'transactionId')
            IS NOT x.transaction_id)
    UNION ALL
    SELECT x.instruction, x.status || ' at ' || x.resolved_at,
           'who, why and the evidence, in operator_log'
      FROM orphan_executions x
      WHERE x.resolved_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM operator_log o
        WHERE o.subject = x.instruction AND o.at = x.resolved_at AND o.evidence IS NOT NULL)`,
})

export const discrepanciesAreResolvedByName = byQuery({
  name: 'discrepancies_are_resolved_by_name',
  sentence:
    'Of a resolved discrepancy the operators’ log says who did it and where the evidence is.',
  reads: [],
  over: ['main.discrepancies'],
  broken: `
    SELECT d.entity, d.id || ' resolved at ' || d.resolved_at AS found,
           'who, why and the evidence, in operator_log' AS expected
      FROM main.discrepancies d
      WHERE d.resolved_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM operator_log o
        WHERE o.subject = d.id AND o.at = d.resolved_at AND o.evidence IS NOT NULL)`,
})
