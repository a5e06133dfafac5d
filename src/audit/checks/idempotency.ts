/**
 * Idempotency: the rows that keep a repeated request from moving money twice.
 */
import { byQuery } from '../check.js'

export const keysLeadSomewhere = byQuery({
  name: 'keys_lead_somewhere',
  sentence: 'Every kept request names an entity that is there, and a kept answer speaks of it.',
  over: ['idempotency'],
  broken: `
    SELECT k.entity, 'a kept request for ' || k.entity AS found, 'such an entity' AS expected
      FROM idempotency k
      WHERE NOT CASE substr(k.entity, 1, instr(k.entity, '_'))
        WHEN 'pi_' THEN EXISTS (SELECT 1 FROM intents WHERE id = k.entity)
        WHEN 'pout_' THEN EXISTS (SELECT 1 FROM payouts WHERE id = k.entity)
        WHEN 'ben_' THEN EXISTS (SELECT 1 FROM beneficiaries WHERE id = k.entity)
        WHEN 'we_' THEN EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = k.entity)
        WHEN 'dep_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        WHEN 'fxc_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        ELSE 0 END
    UNION ALL
    SELECT entity, 'an answer about ' || coalesce(response ->> 'id', 'nobody'), entity
      FROM idempotency
      WHERE entity GLOB 'pout_*' AND response ->> 'id' IS NOT entity`,
})

/** Keys are digests, so they can be counted but not worked out again. */
export const payoutsKeepTheirKey = byQuery({
  name: 'payouts_keep_their_key',
  sentence: 'Every payout has the one kept request it was made by.',
  over: ['payouts', 'idempotency'],
  broken: `
    SELECT p.id AS entity, count(k.entity) || ' kept requests' AS found, '1' AS expected
      FROM payouts p LEFT JOIN idempotency k ON k.entity = p.id
      WHERE (SELECT count(*) FROM payouts)
        <> (SELECT count(*) FROM idempotency WHERE entity GLOB 'pout_*')
      GROUP BY p.id HAVING count(k.entity) <> 1`,
})
