/**
 * The postings seen from the ledger: each belongs to somebody, and money from outside comes in once.
 */
import { byQuery } from '../check.js'

/** Of `{tenant}:{currency}:{kind}`. */
const tenantOf = (account: string): string => `substr(${account}, 1, instr(${account}, ':') - 1)`
const kindOf = (account: string): string => `substr(${account}, instr(${account}, ':') + 5)`

export const postingsHaveAnEntity = byQuery({
  name: 'postings_have_an_entity',
  sentence: 'Every entry belongs to an entity that is there, of the tenant of its account.',
  over: ['ledger_entries'],
  broken: `
    SELECT e.entity, e.plan || ' on ' || e.account AS found,
           'an entity of that tenant with such a plan' AS expected
      FROM ledger_entries e
      WHERE NOT CASE
        WHEN e.plan GLOB 'payout_*' THEN EXISTS
          (SELECT 1 FROM payouts p WHERE p.id = e.entity AND p.tenant = ${tenantOf('e.account')})
        WHEN e.plan GLOB 'intent_*' THEN EXISTS
          (SELECT 1 FROM intents i WHERE i.id = e.entity AND i.tenant = ${tenantOf('e.account')})
        WHEN e.plan GLOB 'discrepancy_*' THEN EXISTS
          (SELECT 1 FROM main.discrepancies d WHERE e.entity IN (d.id, d.entity))
        WHEN e.plan = 'deposit' THEN e.entity GLOB 'dep_*'
        WHEN e.plan = 'conversion' THEN e.entity GLOB 'fxc_*'
        ELSE 0 END`,
})

export const fundingIsPostedOnce = byQuery({
  name: 'funding_is_posted_once',
  sentence: 'A deposit moves funding to prefund, a conversion prefund to prefund, each of them once.',
  over: ['ledger_entries'],
  broken: `
    WITH shapes (plan, shape) AS (VALUES
      ('deposit',    'funding-, prefund+'),
      ('conversion', 'prefund-, fx+, fx-, prefund+')),
    funding AS (
      SELECT entity, plan, count(DISTINCT ${tenantOf('account')}) AS tenants,
             group_concat(${kindOf('account')} || iif(amount < 0, '-', '+'), ', '
                          ORDER BY posting, line) AS shape
        FROM ledger_entries WHERE plan IN ('deposit', 'conversion') GROUP BY entity, plan)
    SELECT f.entity, f.shape || ' of ' || f.tenants AS found, s.shape || ' of 1' AS expected
      FROM funding f JOIN shapes s ON s.plan = f.plan
      WHERE f.shape <> s.shape OR f.tenants > 1`,
})
