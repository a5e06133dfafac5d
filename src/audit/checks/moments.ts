/**
 * Moments that do not fall: within an entity, and from event to event and posting to posting of a
 * tenant.
 *
 * - A fall of less than a second is no violation: earlier versions followed a machine's clock,
 *   which may be corrected.
 */
import { byQuery } from '../check.js'

const TOLERANCE_MS = 1_000

/** Two timestamps of a context, the earlier one first. */
const falls = (table: string, first: string, then: string): string => `
  SELECT id AS entity, '${then} ' || (context ->> '${then}') AS found,
         'not before ${first} ' || (context ->> '${first}') AS expected
    FROM ${table} WHERE context ->> '${then}' < (context ->> '${first}') - ${TOLERANCE_MS}`

export const momentsOfEntityDoNotFall = byQuery({
  name: 'moments_of_entity_do_not_fall',
  sentence: "An entity's timestamps are in the order of its transitions.",
  over: ['payouts', 'intents'],
  broken: [
    falls('payouts', 'createdAt', 'processingAt'),
    falls('payouts', 'processingAt', 'completedAt'),
    falls('payouts', 'createdAt', 'failedAt'),
    falls('payouts', 'processingAt', 'failedAt'),
    falls('payouts', 'completedAt', 'reversedAt'),
    falls('intents', 'createdAt', 'confirmedAt'),
    falls('intents', 'createdAt', 'expiredAt'),
    falls('intents', 'createdAt', 'cancelledAt'),
    falls('intents', 'confirmedAt', 'capturedAt'),
    falls('intents', 'confirmedAt', 'failedAt'),
    falls('intents', 'capturedAt', 'refundedAt'),
  ].join(' UNION ALL '),
})

const lower = (rows: string): string => `
  SELECT entity, what || ' at ' || at AS found, 'not before ' || before AS expected
    FROM (${rows}) WHERE at < before - ${TOLERANCE_MS}`

export const momentsOfSequenceDoNotFall = byQuery({
  name: 'moments_of_sequence_do_not_fall',
  sentence:
    "A tenant's events and the postings on its accounts are in the order of their timestamps.",
  over: ['events', 'ledger_entries'],
  broken: `${lower(`
      SELECT entity, type AS what, created_at AS at,
             max(created_at) OVER (PARTITION BY tenant ORDER BY sequence
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM events`)}
    UNION ALL ${lower(`
      SELECT entity, 'posting ' || posting AS what, at,
             max(at) OVER (PARTITION BY substr(account, 1, instr(account, ':') - 1)
               ORDER BY posting, line
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM ledger_entries`)}`,
})
