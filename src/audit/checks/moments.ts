/**
 * Moments that do not fall: within an entity, and from event to event and posting to posting of a
 * tenant.
 *
 * - A fall of less than a second is no violation: earlier versions followed a machine's clock,
 *   which may be corrected.
 */
import { byQuery } from '../check.js'
import { overPostings } from './ledger.js'

const TOLERANCE_MS = 1_000

type Pair = readonly [first: string, then: string]

/** Pairs of timestamps of a context, the earlier one first. Each row is read once. */
const falls = (table: string, pairs: readonly Pair[]): string => {
  const members = [...new Set(pairs.flat())]
  const isFall = ([first, then]: Pair): string => `${then} < ${first} - ${TOLERANCE_MS}`
  const cases = (text: (pair: Pair) => string): string =>
    `CASE ${pairs.map((pair) => `WHEN ${isFall(pair)} THEN ${text(pair)}`).join(' ')} END`
  return `
    SELECT id AS entity, ${cases(([, then]) => `'${then} ' || ${then}`)} AS found,
           ${cases(([first]) => `'not before ${first} ' || ${first}`)} AS expected
      FROM (SELECT id, ${members.map((at) => `context ->> '${at}' AS ${at}`).join(', ')}
        FROM ${table})
      WHERE ${pairs.map(isFall).join(' OR ')}`
}

export const momentsOfEntityDoNotFall = byQuery({
  name: 'moments_of_entity_do_not_fall',
  sentence: "An entity's timestamps are in the order of its transitions.",
  over: ['payouts', 'intents'],
  broken: [
    falls('payouts', [
      ['createdAt', 'processingAt'],
      ['processingAt', 'completedAt'],
      ['createdAt', 'failedAt'],
      ['processingAt', 'failedAt'],
      ['completedAt', 'reversedAt'],
    ]),
    falls('intents', [
      ['createdAt', 'confirmedAt'],
      ['createdAt', 'expiredAt'],
      ['createdAt', 'cancelledAt'],
      ['confirmedAt', 'capturedAt'],
      ['confirmedAt', 'failedAt'],
      ['capturedAt', 'refundedAt'],
    ]),
  ].join(' UNION ALL '),
})

const eventsDoNotFall = byQuery({
  name: 'moments_of_sequence_do_not_fall',
  sentence: "A tenant's events are in the order of their timestamps.",
  over: ['events'],
  broken: `
    SELECT entity, type || ' at ' || created_at AS found, 'not before ' || before AS expected
      FROM (SELECT entity, type, created_at,
                   max(created_at) OVER (PARTITION BY tenant ORDER BY sequence
                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM events)
      WHERE created_at < before - ${TOLERANCE_MS}`,
})

export const momentsOfSequenceDoNotFall = overPostings({
  name: eventsDoNotFall.name,
  sentence:
    "A tenant's events and the postings on its accounts are in the order of their timestamps.",
  evaluator: (books) => {
    const latest = new Map<string, number>()
    return {
      posting: (lines) => {
        for (const { account, posting, entity, at } of lines) {
          const tenant = account.split(':')[0] ?? ''
          const before = latest.get(tenant) ?? at
          latest.set(tenant, Math.max(before, at))
          if (at >= before - TOLERANCE_MS || books.corrupt.has(entity)) continue
          return { entity, found: `posting ${posting} at ${at}`, expected: `not before ${before}` }
        }
        return null
      },
      end: async () => (await eventsDoNotFall.run(books)).broken,
    }
  },
})
