/**
 * Payouts and intents by themselves: columns, states and the moments they have passed.
 *
 * S1. The lists of moments are the lives that DESIGN allows, each written out.
 */
import { byQuery } from '../check.js'

export const columnsRepeatTheContext = byQuery({
  name: 'columns_repeat_the_context',
  sentence: 'The columns an entity is found by say what its context says.',
  over: ['payouts', 'intents'],
  broken: `
    SELECT id AS entity, json_array(id, tenant, due_at) AS found,
           json_array(context ->> 'id', context ->> 'tenant', context ->> 'wakeAt') AS expected
      FROM payouts
      WHERE (id, tenant, due_at)
        IS NOT (context ->> 'id', context ->> 'tenant', context ->> 'wakeAt')
    UNION ALL
    SELECT id, json_array(id, tenant, due_at, confirmed_at),
           json_array(context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                      context ->> 'confirmedAt')
      FROM intents
      WHERE (id, tenant, due_at, confirmed_at)
        IS NOT (context ->> 'id', context ->> 'tenant', context ->> 'wakeAt',
                context ->> 'confirmedAt')`,
})

/** The named moments that a context has, in this order, each with a blank after it. */
const passed = (moments: readonly string[]): string =>
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
      ('failed',     'createdAt processingAt failedAt '),
      ('failed',     'createdAt failedAt '),
      ('reversed',   'createdAt processingAt completedAt reversedAt ')),
    intent_lives (state, moments) AS (VALUES
      ('created',    'createdAt '),
      ('authorized', 'createdAt confirmedAt '),
      ('captured',   'createdAt confirmedAt capturedAt '),
      ('refunded',   'createdAt confirmedAt capturedAt refundedAt '),
      ('failed',     'createdAt confirmedAt failedAt '),
      ('cancelled',  'createdAt confirmedAt cancelledAt '),
      ('cancelled',  'createdAt cancelledAt '),
      ('expired',    'createdAt expiredAt ')),
    lived AS (
      SELECT id, state, ${passed([
        'createdAt',
        'processingAt',
        'completedAt',
        'failedAt',
        'reversedAt',
      ])} AS moments,
        (state, ${passed([
          'createdAt',
          'processingAt',
          'completedAt',
          'failedAt',
          'reversedAt',
        ])}) IN payout_lives AS fits FROM payouts
      UNION ALL
      SELECT id, state, ${passed([
        'createdAt',
        'confirmedAt',
        'capturedAt',
        'failedAt',
        'expiredAt',
        'cancelledAt',
        'refundedAt',
      ])}, 0 FROM intents)
    SELECT 1`,
})
