/**
 * Payouts and intents by themselves: columns, states, the moments they have passed, whose they are.
 *
 * - The lives are those that the design allows, each written out.
 */
import { byQuery } from '../check.js'

export const denormalizedColumnsMatch = byQuery({
  name: 'denormalized_columns_match',
  sentence: 'The columns an entity is found by say what its context says.',
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

/** The moments of a context that have passed, in this order, each with a blank after it. */
const passed = (...moments: readonly string[]): string =>
  moments.map((at) => `iif(context ->> '${at}' IS NULL, '', '${at} ')`).join(' || ')

export const statesFitTheirMoments = byQuery({
  name: 'states_fit_their_moments',
  sentence: 'An entity has passed exactly the moments that lead to its state.',
  over: ['payouts', 'intents'],
  broken: `
    WITH payout_lives (state, moments) AS (VALUES
      ('created',    'createdAt '),
      ('processing', 'createdAt processingAt '),
      ('completed',  'createdAt processingAt completedAt '),
      ('reversed',   'createdAt processingAt completedAt reversedAt '),
      ('failed',     'createdAt processingAt failedAt '),
      ('failed',     'createdAt failedAt ')),
    intent_lives (state, moments) AS (VALUES
      ('created',    'createdAt '),
      ('authorized', 'createdAt confirmedAt '),
      ('captured',   'createdAt confirmedAt capturedAt '),
      ('refunded',   'createdAt confirmedAt capturedAt refundedAt '),
      ('failed',     'createdAt confirmedAt failedAt '),
      ('cancelled',  'createdAt confirmedAt cancelledAt '),
      ('cancelled',  'createdAt cancelledAt '),
      ('expired',    'createdAt expiredAt '))
    SELECT id AS entity, state || ' after ' || moments AS found,
           'the moments of one who is ' || state AS expected
      FROM (SELECT id, state, ${passed(
        'createdAt',
        'processingAt',
        'completedAt',
        'failedAt',
        'reversedAt',
      )} AS moments FROM payouts)
      WHERE (state, moments) NOT IN payout_lives
    UNION ALL
    SELECT id, state || ' after ' || moments, 'the moments of one who is ' || state
      FROM (SELECT id, state, ${passed(
        'createdAt',
        'confirmedAt',
        'capturedAt',
        'failedAt',
        'expiredAt',
        'cancelledAt',
        'refundedAt',
      )} AS moments FROM intents)
      WHERE (state, moments) NOT IN intent_lives`,
})

export const openOnesHaveATimer = byQuery({
  name: 'open_ones_have_a_timer',
  sentence: 'Whatever has not ended has its next step on the calendar, or a reviewer who holds it.',
  over: ['payouts', 'intents'],
  broken: `
    SELECT id AS entity, state || ' without due_at' AS found, 'a due_at' AS expected
      FROM payouts WHERE state = 'processing' AND due_at IS NULL
    UNION ALL
    SELECT id, state || ' without due_at', 'a due_at'
      FROM intents WHERE state IN ('created', 'authorized') AND due_at IS NULL`,
})

/** `{partner}_{environment}`; a partner's name has no underscore. */
const partnerOf = (tenant: string): string => `substr(${tenant}, 1, instr(${tenant}, '_') - 1)`

export const tenantsArePartners = byQuery({
  name: 'tenants_are_partners',
  sentence:
    'Every entity belongs to a partner, and a payout goes to a beneficiary of its own tenant.',
  over: ['payouts', 'intents'],
  broken: `
    SELECT id AS entity, tenant AS found, 'a tenant of a partner' AS expected
      FROM payouts WHERE ${partnerOf('tenant')} NOT IN (SELECT id FROM partners)
    UNION ALL
    SELECT id, tenant, 'a tenant of a partner'
      FROM intents WHERE ${partnerOf('tenant')} NOT IN (SELECT id FROM partners)
    UNION ALL
    SELECT p.id, coalesce(b.id || ' of ' || b.tenant, 'no beneficiary'),
           (p.context ->> '$.beneficiary.id') || ' of ' || p.tenant
      FROM payouts p LEFT JOIN beneficiaries b ON b.id = p.context ->> '$.beneficiary.id'
      WHERE b.tenant IS NOT p.tenant`,
})
