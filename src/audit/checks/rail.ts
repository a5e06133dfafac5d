/**
 * The rail's log compared with the books: the rail executed exactly the payments that the books
 * record as executed.
 *
 * - A mismatch is allowed only when an operator can see it: there is a discrepancy, an orphan
 *   execution, or a manual settlement with evidence.
 * - Of several rails only those whose log is this one are compared: those of which it has an
 *   executed payment. The logs of the others are their banks', or are audited one by one.
 * - The rail's snapshot is taken later. Everything the processor has finished must be there; what
 *   the rail executed since then is no violation.
 */
import { byQuery, type Violation, type Check } from '../check.js'

const isAccountedFor = (id: string): string => `(
  EXISTS (SELECT 1 FROM orphan_executions orphan WHERE orphan.instruction = ${id})
  OR EXISTS (SELECT 1 FROM main.discrepancies d WHERE d.entity = ${id})
  OR EXISTS (SELECT 1 FROM operator_log log
    WHERE log.subject = ${id} AND log.evidence IS NOT NULL))`

/** The instruction that paid an entity: its own, or the orphan execution matched to it. */
const instructionOf = (id: string): string => `coalesce(
  (SELECT orphan.instruction FROM orphan_executions orphan WHERE orphan.matched_to = ${id}), ${id})`

/** The instruction of each entity as the books have it. */
const INSTRUCTED = `instructed (id, instruction, state, amount, currency, purpose, transaction_id,
  rail) AS (
  SELECT id, ${instructionOf('id')}, state, context ->> 'recipientAmount', context ->> 'currency',
         'payout', context ->> 'transactionId', coalesce(context ->> 'rail', 'sandbox')
    FROM payouts
  UNION ALL
  SELECT id, ${instructionOf('id')}, state, context ->> '$.scanned.quote.localMinor',
         context ->> '$.scanned.quote.currency', 'qr_payment', context ->> 'transactionId',
         coalesce(context ->> '$.confirmation.rail', 'sandbox')
    FROM intents)`

const EXECUTED = `('completed', 'reversed', 'captured', 'refunded')`

/** The only rail of all executed payments, or those of several that have one in this log. */
const LOGGED = `${INSTRUCTED}, executed AS (
    SELECT * FROM instructed WHERE state IN ${EXECUTED}),
  logged (rail) AS (
    SELECT DISTINCT rail FROM executed
      WHERE (SELECT count(DISTINCT rail) FROM executed) = 1
        OR instruction IN (SELECT id FROM rail.instructions))`

const atRail = `i.state || ', executed ' || i.executions || ' times: ' || i.purpose || ' of '
  || i.currency || ' ' || CAST(i.amount AS TEXT) || coalesce(' as ' || i.transaction_id, '')`

export const railLogExists: Check = {
  name: 'rail_log_exists',
  sentence: "Once a payment was submitted, the rail's log exists.",
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
  sentence: 'A completed, reversed, captured or refunded payment was executed once, as instructed.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${LOGGED}
    SELECT o.id AS entity, coalesce(${atRail}, 'no instruction') AS found,
           'executed 1 times: ' || o.purpose || ' of ' || o.currency || ' ' || o.amount
             || coalesce(' as ' || o.transaction_id, ' with a transaction id') AS expected
      FROM executed o LEFT JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.rail IN (SELECT rail FROM logged)
        AND (i.executions, CAST(i.amount AS TEXT), i.currency, i.purpose, i.transaction_id)
          IS NOT (1, o.amount, o.currency, o.purpose, coalesce(o.transaction_id, ''))
        AND NOT ${isAccountedFor('o.id')}`,
})

/**
 * The books that had submitted it are lost, and it has moved nothing, or what it moved is back: no
 * operator need see it.
 */
const ENDED_BEFORE_RELEASE = `(CASE i.state WHEN 'refused' THEN i.executions = 0
    AND i.received_at < (SELECT max(r.released_at) FROM main.recoveries r)
  WHEN 'returned' THEN i.returned_at < (SELECT max(r.released_at) FROM main.recoveries r) END)`

export const neverPaid = byQuery({
  name: 'never_paid',
  sentence:
    'A failed, cancelled or expired payment was never executed, unless its money was back before ' +
    'the release of a recovery.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${INSTRUCTED}
    SELECT o.id AS entity, ${atRail} AS found, o.state || ', so executed 0 times' AS expected
      FROM instructed o JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('failed', 'cancelled', 'expired') AND i.executions <> 0
        AND ${ENDED_BEFORE_RELEASE} IS NOT TRUE
        AND NOT ${isAccountedFor('o.id')}`,
})

export const openPaidAtMostOnce = byQuery({
  name: 'open_paid_at_most_once',
  sentence: 'An open payment was executed at most once, and the rail has it as instructed.',
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${INSTRUCTED}
    SELECT o.id AS entity, ${atRail} AS found,
           'at most once ' || o.purpose || ' of '
             || coalesce(o.currency || ' ' || o.amount, 'nothing') AS expected
      FROM instructed o JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.state IN ('created', 'processing', 'authorized')
        AND i.received_at < :as_of
        AND (i.executions > 1 OR (CAST(i.amount AS TEXT), i.currency, i.purpose)
          IS NOT (o.amount, o.currency, o.purpose))
        AND NOT ${isAccountedFor('o.id')}`,
})

export const instructionsMatchSubmissions = byQuery({
  name: 'instructions_match_submissions',
  sentence:
    'Every instruction at the rail was submitted for a payment, to its account, but for those ' +
    'that it refused or returned before the release of a recovery.',
  reads: ['rail'],
  over: ['rail.instructions'],
  broken: `
    SELECT i.id AS entity,
           iif(p.id IS NULL AND t.id IS NULL, 'no payment', 'not submitted, or another account')
             AS found,
           'a submitted payment with the same last digits of the account' AS expected
      FROM rail.instructions i
        LEFT JOIN payouts p ON p.id = i.id LEFT JOIN intents t ON t.id = i.id
      WHERE i.received_at < :as_of
        AND (coalesce(p.context ->> 'handedOverAt', t.context ->> 'handedOverAt') IS NULL
          OR NOT ${endsWith(
            'coalesce(i.account_last4, i.account)',
            `coalesce(p.context ->> '$.beneficiary.accountLast4',
                      substr(t.context ->> '$.scanned.destinationMasked', 5), '?')`,
          )})
        AND ${ENDED_BEFORE_RELEASE} IS NOT TRUE
        AND NOT ${isAccountedFor('i.id')}`,
})

function environmentOf(tenant: string): string {
  return `iif(${tenant} GLOB '*_production', 'production', 'sandbox')`
}

function endsWith(text: string, end: string): string {
  return `(substr(${text}, length(${text}) - length(${end}) + 1) = ${end})`
}

export const instructionsNeverChanged = byQuery({
  name: 'instructions_never_changed',
  sentence:
    'No instruction was sent again with different content, but for those that the rail refused ' +
    'or returned before the release of a recovery.',
  reads: ['rail'],
  over: ['rail.discrepancies'],
  broken: `
    SELECT r.instruction AS entity, 'different content at ' || r.at AS found, 'the same' AS expected
      FROM rail.discrepancies r LEFT JOIN rail.instructions i ON i.id = r.instruction
      WHERE ${ENDED_BEFORE_RELEASE} IS NOT TRUE AND NOT ${isAccountedFor('r.instruction')}`,
})

export const reversalsHaveRailReturn = byQuery({
  name: 'reversals_have_rail_return',
  sentence: "A reversed or refunded payment is returned in the rail's log.",
  reads: ['rail'],
  over: ['payouts', 'intents'],
  broken: `WITH ${LOGGED}
    SELECT o.id AS entity, coalesce(${atRail}, 'no instruction') AS found, 'returned' AS expected
      FROM executed o LEFT JOIN rail.instructions i ON i.id = o.instruction
      WHERE o.rail IN (SELECT rail FROM logged)
        AND o.state IN ('reversed', 'refunded') AND i.state IS NOT 'returned'
        AND NOT ${isAccountedFor('o.id')}`,
})

const BOOKED = `coalesce((SELECT state FROM payouts WHERE id = i.id),
  (SELECT state FROM intents WHERE id = i.id))`

/**
 * Returned and reported to the processor, but still paid in the snapshot of the books. What lost
 * books had submitted need not be paid in these.
 */
const RETURNED = `
  SELECT i.id FROM rail.instructions i
    WHERE i.id > ? AND i.state = 'returned' AND i.report_id IS NULL
      AND ${BOOKED} NOT IN ('reversed', 'refunded')
      AND (${BOOKED} IN ('completed', 'captured') OR ${ENDED_BEFORE_RELEASE} IS NOT TRUE)
      AND NOT ${isAccountedFor('i.id')}
    ORDER BY i.id LIMIT ?`
const STILL_PAID = `
  WITH entities (id, state) AS (
    SELECT id, state FROM payouts WHERE id IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT id, state FROM intents WHERE id IN (SELECT value FROM json_each(?1)))
  SELECT x.id AS entity, x.state || ' in the books' AS found, 'returned, as at the rail' AS expected
    FROM entities x WHERE x.state NOT IN ('reversed', 'refunded') AND NOT ${isAccountedFor('x.id')}
    LIMIT 1`

/** Here the rail's snapshot is older than needed, so it reads the processor's current rows. */
export const railReturnsAreRefunded: Check = {
  name: 'rail_returns_are_refunded',
  sentence: 'A return that the rail reported is booked.',
  reads: ['rail'],
  run: async (books) => {
    const rows = await books.count('rail.instructions')
    for await (const page of books.pages<{ id: string }>(RETURNED, [''], ({ id }) => [id])) {
      const ids = JSON.stringify(page.map(({ id }) => id))
      const [broken] = await books.allCurrent<Violation>(STILL_PAID, [ids])
      if (broken !== undefined) return { rows, broken }
    }
    return { rows, broken: null }
  },
}

export const orphansAreExecutions = byQuery({
  name: 'orphans_are_executions',
  sentence:
    "An orphan execution is in the rail's log as it is known, unless it was dismissed as one " +
    'that is not executed; a matched one paid a payment of these books, and a resolved one names ' +
    'the operator and the evidence.',
  reads: ['rail'],
  over: ['orphan_executions'],
  broken: `WITH ${LOGGED}
    SELECT x.instruction AS entity,
           coalesce(i.currency || ' ' || CAST(i.amount AS TEXT) || ', ' || i.state || ', executed '
             || i.executions || ' times', 'no instruction') AS found,
           x.currency || ' ' || CAST(x.amount AS TEXT) || ', ' || x.state AS expected
      FROM orphan_executions x LEFT JOIN rail.instructions i ON i.id = x.instruction
      WHERE (i.id IS NOT NULL OR (SELECT count(DISTINCT rail) FROM executed) < 2)
        AND NOT (i.id IS NULL AND x.state = 'accepted' AND x.status = 'resolved')
        AND ((i.amount, i.currency) IS NOT (x.amount, x.currency)
          OR CASE x.state
            WHEN 'accepted' THEN false
            WHEN 'refused' THEN i.state <> 'refused'
            WHEN 'returned' THEN (i.state, i.transaction_id) IS NOT ('returned', x.transaction_id)
            ELSE (i.executions, i.transaction_id) IS NOT (1, x.transaction_id) END)
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
           'the operator, reason and evidence in operator_log'
      FROM orphan_executions x
      WHERE x.resolved_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM operator_log o
        WHERE o.subject = x.instruction AND o.at = x.resolved_at AND o.evidence IS NOT NULL)`,
})

/** Payments that the rail executed for these books, with what a statement says about them. */
const PAID = `paid (id, purpose, environment, currency, amount, account_last4, reference, submitted)
  AS (
  SELECT p.id, 'payout', ${environmentOf('p.tenant')}, p.context ->> 'currency',
         p.context ->> 'recipientAmount', p.context ->> '$.beneficiary.accountLast4',
         p.context ->> 'reference', p.context ->> 'handedOverAt'
    FROM payouts p JOIN rail.instructions i ON i.id = p.id AND i.executions > 0
  UNION ALL
  SELECT t.id, 'qr_payment', ${environmentOf('t.tenant')}, t.context ->> '$.scanned.quote.currency',
         t.context ->> '$.scanned.quote.localMinor',
         substr(t.context ->> '$.scanned.destinationMasked', 5),
         trim((t.context ->> '$.scanned.destination.reference1') || ' '
           || (t.context ->> '$.scanned.destination.reference2')),
         t.context ->> 'handedOverAt'
    FROM intents t JOIN rail.instructions i ON i.id = t.id AND i.executions > 0)`

/**
 * A payment that was submitted before the execution, or before the rail accepted it, is another
 * one: the lost books had both. So is one that the lost books had submitted under its own id. An
 * approval names the payment that a reviewer let go although it equals the execution.
 */
export const orphansArePaidOnce = byQuery({
  name: 'orphans_are_paid_once',
  sentence:
    'No payment was executed after an open orphan execution, accepted ones included, that equals ' +
    'it, or that has its reference and account, unless an operator approved it.',
  reads: ['rail'],
  over: ['orphan_executions', 'payouts', 'intents'],
  broken: `WITH ${PAID}
    SELECT o.id AS entity,
           'executed too: ' || o.purpose || ' of ' || o.currency || ' ' || o.amount AS found,
           'nothing beside the open orphan execution ' || x.instruction || ' of ' || x.currency
             || ' ' || CAST(x.amount AS TEXT) AS expected
      FROM orphan_executions x JOIN paid o ON o.id <> x.instruction
        AND o.submitted >= x.executed_at
        AND coalesce(x.purpose, o.purpose) = o.purpose
        AND coalesce(x.environment, o.environment) = o.environment
        AND (x.account_last4 IS NULL OR ${endsWith('x.account_last4', 'o.account_last4')})
        AND iif(x.reference IS NULL, (x.currency, CAST(x.amount AS TEXT)) = (o.currency, o.amount),
          x.reference = o.reference)
      WHERE x.status = 'open' AND x.state IN ('accepted', 'executed')
        AND NOT EXISTS (SELECT 1 FROM orphan_executions own WHERE own.instruction = o.id)
        AND NOT EXISTS (SELECT 1 FROM operator_log log
        WHERE log.subject = o.id AND log.action IN ('approve_payout', 'approve_intent'))`,
})

export const discrepanciesAreResolvedByName = byQuery({
  name: 'discrepancies_are_resolved_by_name',
  sentence: 'A resolved discrepancy has an operator_log row with the operator and the evidence.',
  reads: [],
  over: ['main.discrepancies'],
  broken: `
    SELECT d.entity, d.id || ' resolved at ' || d.resolved_at AS found,
           'the operator, reason and evidence in operator_log' AS expected
      FROM main.discrepancies d
      WHERE d.resolved_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM operator_log o
        WHERE o.subject = d.id AND o.at = d.resolved_at AND o.evidence IS NOT NULL)`,
})
