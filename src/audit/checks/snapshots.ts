/**
 * Payout and intent rows: columns, states, timestamps, timers and owners.
 *
 * - Lifecycles are those of the design, each written out.
 */
import { byQuery } from '../check.js'

export const denormalizedColumnsMatch = byQuery({
  name: 'denormalized_columns_match',
  sentence: 'Indexed columns equal the members of the context.',
  over: ['payouts', 'intents'],
  broken: `
    SELECT id AS entity, json_array(id, tenant, due_at, reference, beneficiary) AS found,
           json_array(context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                      context ->> 'reference', context ->> '$.beneficiary.id') AS expected
      FROM payouts
      WHERE (id, tenant, due_at, reference, beneficiary)
        IS NOT (context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                context ->> 'reference', context ->> '$.beneficiary.id')
    UNION ALL
    SELECT id, json_array(id, tenant, due_at, confirmed_at),
           json_array(context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                      context ->> 'confirmedAt')
      FROM intents
      WHERE (id, tenant, due_at, confirmed_at)
        IS NOT (context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                context ->> 'confirmedAt')`,
})

/** The names of a context's timestamps that are set, in this order, each followed by a space. */
const timestampsSet = (...members: readonly string[]): string =>
  members.map((at) => `iif(context ->> '${at}' IS NULL, '', '${at} ')`).join(' || ')

export const statesMatchTimestamps = byQuery({
  name: 'states_match_timestamps',
  sentence: 'An entity has exactly the timestamps of the transitions that lead to its state.',
  over: ['payouts', 'intents'],
  broken: `
    WITH payout_lifecycles (state, timestamps) AS (VALUES
      ('created',    'createdAt '),
      ('processing', 'createdAt processingAt '),
      ('completed',  'createdAt processingAt completedAt '),
      ('reversed',   'createdAt processingAt completedAt reversedAt '),
      ('failed',     'createdAt processingAt failedAt '),
      ('failed',     'createdAt failedAt ')),
    intent_lifecycles (state, timestamps) AS (VALUES
      ('created',    'createdAt '),
      ('authorized', 'createdAt confirmedAt '),
      ('captured',   'createdAt confirmedAt capturedAt '),
      ('refunded',   'createdAt confirmedAt capturedAt refundedAt '),
      ('failed',     'createdAt confirmedAt failedAt '),
      ('cancelled',  'createdAt confirmedAt cancelledAt '),
      ('cancelled',  'createdAt cancelledAt '),
      ('expired',    'createdAt expiredAt '))
    SELECT id AS entity, state || ' with ' || timestamps AS found,
           'the timestamps that lead to ' || state AS expected
      FROM (SELECT id, state, ${timestampsSet(
        'createdAt',
        'processingAt',
        'completedAt',
        'failedAt',
        'reversedAt',
      )} AS timestamps FROM payouts)
      WHERE (state, timestamps) NOT IN payout_lifecycles
    UNION ALL
    SELECT id, state || ' with ' || timestamps, 'the timestamps that lead to ' || state
      FROM (SELECT id, state, ${timestampsSet(
        'createdAt',
        'confirmedAt',
        'capturedAt',
        'failedAt',
        'expiredAt',
        'cancelledAt',
        'refundedAt',
      )} AS timestamps FROM intents)
      WHERE (state, timestamps) NOT IN intent_lifecycles`,
})

export const openEntitiesHaveTimers = byQuery({
  name: 'open_entities_have_timers',
  sentence: 'Every open entity has a timer: an open payment, one under review, an open recall.',
  over: ['payouts', 'intents'],
  broken: `
    SELECT id AS entity, state || ' without due_at' AS found, 'a due_at' AS expected
      FROM payouts WHERE state IN ('created', 'processing') AND due_at IS NULL
    UNION ALL
    SELECT id, state || ' without due_at', 'a due_at'
      FROM intents WHERE state IN ('created', 'authorized') AND due_at IS NULL
    UNION ALL
    SELECT id, 'an open recall without due_at', 'a due_at'
      FROM intents WHERE state = 'captured' AND due_at IS NULL AND CASE WHEN json_valid(context)
        THEN context ->> '$.recall.requestedAt' IS NOT NULL
          AND context ->> '$.recall.refused' IS NOT 1 END`,
})

/** A tenant is `{partner}_{environment}`. A partner id has no underscore. */
const partnerOf = (tenant: string): string => `substr(${tenant}, 1, instr(${tenant}, '_') - 1)`

const OTHERS_OF_TENANT = [
  'beneficiaries',
  'fx_quotes',
  'signing_keys',
  'webhook_endpoints',
] as const

export const tenantsArePartners = byQuery({
  name: 'tenants_are_partners',
  sentence:
    'Every entity, key and endpoint is of a partner; a payout pays a beneficiary of its tenant.',
  over: ['payouts', 'intents', ...OTHERS_OF_TENANT],
  broken: `
    SELECT id AS entity, tenant AS found, 'a tenant of a partner' AS expected
      FROM payouts WHERE ${partnerOf('tenant')} NOT IN (SELECT id FROM partners)
    UNION ALL
    SELECT id, tenant, 'a tenant of a partner'
      FROM intents WHERE ${partnerOf('tenant')} NOT IN (SELECT id FROM partners)
    ${OTHERS_OF_TENANT.map(
      (table) => `UNION ALL
    SELECT id, tenant, 'a tenant of a partner'
      FROM ${table} WHERE ${partnerOf('tenant')} NOT IN (SELECT id FROM partners)`,
    ).join(' ')}
    UNION ALL
    SELECT p.id, coalesce(b.id || ' of ' || b.tenant, 'no beneficiary'),
           (p.context ->> '$.beneficiary.id') || ' of ' || p.tenant
      FROM payouts p LEFT JOIN beneficiaries b ON b.id = p.context ->> '$.beneficiary.id'
      WHERE b.tenant IS NOT p.tenant`,
})
