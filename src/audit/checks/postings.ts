/**
 * Ledger entries by owner: each belongs to an entity and a tenant, and outside money is posted
 * once.
 */
import { byQuery } from '../check.js'

/** Parts of an account id, `{tenant}:{currency}:{kind}`. */
const tenantOf = (account: string): string => `substr(${account}, 1, instr(${account}, ':') - 1)`
const kindOf = (account: string): string => `substr(${account}, instr(${account}, ':') + 5)`

export const postingsHaveAnEntity = byQuery({
  name: 'postings_have_an_entity',
  sentence: 'Every posting belongs to an existing entity of the tenant of its accounts.',
  over: ['ledger_entries'],
  broken: `
    SELECT e.entity, e.plan || ' on ' || e.account AS found,
           'an entity of that tenant with this plan' AS expected
      FROM ledger_entries e
      WHERE e.line = 1 AND NOT CASE
        WHEN e.plan GLOB 'payout_*' THEN EXISTS
          (SELECT 1 FROM payouts p WHERE p.id = e.entity AND p.tenant = ${tenantOf('e.account')})
        WHEN e.plan GLOB 'intent_*' THEN EXISTS
          (SELECT 1 FROM intents i WHERE i.id = e.entity AND i.tenant = ${tenantOf('e.account')})
        WHEN e.plan GLOB 'discrepancy_*' THEN EXISTS (SELECT 1 FROM main.discrepancies d
          WHERE d.id = e.entity AND d.tenant = ${tenantOf('e.account')})
        WHEN e.plan IN ('deposit', 'deposit_corrected') THEN e.entity GLOB 'dep_*'
        WHEN e.plan = 'withdrawal' THEN e.entity GLOB 'wdr_*'
        WHEN e.plan = 'conversion' THEN e.entity GLOB 'fxc_*'
        ELSE 0 END`,
})

export const entriesCarryTheirTenant = byQuery({
  name: 'entries_carry_their_tenant',
  sentence: 'Entries on prefund and reserved accounts carry their tenant, and no other entry does.',
  over: ['ledger_entries'],
  broken: `
    SELECT entity,
           'posting ' || posting || ' on ' || account || ' for ' || coalesce(tenant, 'no tenant')
             AS found,
           'its tenant on prefund and reserved, none elsewhere' AS expected
      FROM ledger_entries
      WHERE tenant IS NOT
        iif(${kindOf('account')} IN ('prefund', 'reserved'), ${tenantOf('account')}, NULL)`,
})

export const movedPostingsKeepTheirOrder = byQuery({
  name: 'moved_postings_keep_their_order',
  sentence:
    'A posting that came with a partner has the lower number that it had first, and the first ' +
    'numbers of a tenant rise with its postings.',
  over: ['ledger_entries'],
  broken: `
    WITH numbered AS (
      SELECT entity, posting, coalesce(posted_as, posting) AS first,
             lag(posting) OVER (PARTITION BY tenant ORDER BY posting, line) AS last_posting,
             lag(coalesce(posted_as, posting)) OVER (PARTITION BY tenant ORDER BY posting, line)
               AS last_first
        FROM ledger_entries
        WHERE tenant IN (SELECT tenant FROM ledger_entries WHERE posted_as IS NOT NULL))
    SELECT entity, 'posting ' || posting || ' as ' || first AS found,
           iif(first > posting, posting, 'above ' || last_first) AS expected
      FROM numbered WHERE first > posting OR first < last_first
        OR first = last_first AND posting <> last_posting`,
})

export const depositsArePostedOnce = byQuery({
  name: 'deposits_are_posted_once',
  sentence: 'A deposit is one posting from funding to the prefund of one tenant.',
  over: ['ledger_entries'],
  broken: `
    WITH deposits AS (
      SELECT entity, count(DISTINCT ${tenantOf('account')}) AS tenants,
             group_concat(${kindOf('account')} || iif(amount < 0, '-', '+'), ', '
                          ORDER BY posting, line) AS shape
        FROM ledger_entries WHERE plan = 'deposit' GROUP BY entity)
    SELECT entity, shape || ' of ' || tenants AS found, 'funding-, prefund+ of 1' AS expected
      FROM deposits WHERE shape <> 'funding-, prefund+' OR tenants > 1`,
})

export const depositsAreByOperators = byQuery({
  name: 'deposits_are_by_operators',
  sentence: 'Each deposit of a production tenant is an action of an operator.',
  over: ['ledger_entries', 'operator_log'],
  broken: `
    SELECT e.entity, 'a deposit of ' || e.amount || ' on ' || e.account AS found,
           'the operator in operator_log' AS expected
      FROM ledger_entries e
      WHERE e.plan = 'deposit' AND e.tenant GLOB '*_production' AND NOT EXISTS
        (SELECT 1 FROM operator_log o
          WHERE o.action = 'deposit' AND o.subject = e.tenant || ' ' || e.entity AND o.at = e.at)`,
})

export const withdrawalsArePostedOnce = byQuery({
  name: 'withdrawals_are_posted_once',
  sentence: 'A withdrawal is one posting from the prefund of one tenant to its funding.',
  over: ['ledger_entries'],
  broken: `
    WITH withdrawals AS (
      SELECT entity, count(DISTINCT ${tenantOf('account')}) AS tenants,
             group_concat(${kindOf('account')} || iif(amount < 0, '-', '+'), ', '
                          ORDER BY posting, line) AS shape
        FROM ledger_entries WHERE plan = 'withdrawal' GROUP BY entity)
    SELECT entity, shape || ' of ' || tenants AS found, 'prefund-, funding+ of 1' AS expected
      FROM withdrawals WHERE shape <> 'prefund-, funding+' OR tenants > 1`,
})

export const correctionsStayWithinDeposits = byQuery({
  name: 'corrections_stay_within_deposits',
  sentence:
    'A correction moves money of an earlier deposit back to funding, and all corrections of a ' +
    'deposit together no more than it credited.',
  over: ['ledger_entries'],
  broken: `
    SELECT c.entity, 'a correction of ' || c.amount || ' on ' || c.account AS found,
           'the reverse of an earlier deposit on this account' AS expected
      FROM ledger_entries c
      WHERE c.plan = 'deposit_corrected' AND NOT EXISTS (SELECT 1 FROM ledger_entries d
        WHERE d.entity = c.entity AND d.plan = 'deposit' AND d.account = c.account
          AND d.posting < c.posting AND (d.amount > 0) <> (c.amount > 0))
    UNION ALL
    SELECT entity, 'corrections of ' || -sum(iif(plan = 'deposit', 0, amount)),
           sum(iif(plan = 'deposit', amount, 0)) || ' or less'
      FROM ledger_entries
      WHERE tenant IS NOT NULL AND entity IN
        (SELECT entity FROM ledger_entries WHERE plan = 'deposit_corrected')
      GROUP BY entity HAVING sum(amount) < 0`,
})

/** Actions of operators by the plan that they post. */
const CORRECTED_BY = "iif(e.plan = 'withdrawal', 'withdraw', 'correct_deposit')"

export const correctionsAreByOperators = byQuery({
  name: 'corrections_are_by_operators',
  sentence:
    'Each withdrawal and each correction of a deposit is one action of an operator, with ' +
    'evidence and of the same amount.',
  over: ['ledger_entries', 'operator_log'],
  broken: `
    WITH moved AS (
      SELECT e.entity, e.at, e.amount, ${CORRECTED_BY} AS action, count(*) AS times,
             (SELECT count(*) FROM operator_log o
               WHERE o.action = ${CORRECTED_BY} AND o.subject = e.tenant || ' ' || e.entity
                 AND o.at = e.at AND o.amount = -e.amount AND trim(o.evidence) <> '') AS logged
        FROM ledger_entries e
        WHERE e.plan IN ('withdrawal', 'deposit_corrected') AND e.tenant IS NOT NULL
        GROUP BY e.entity, e.at, e.amount, e.plan, e.tenant)
    SELECT entity, logged || ' times ' || action || ' of ' || -amount AS found,
           times || ' times in operator_log' AS expected
      FROM moved WHERE logged <> times`,
})

const lineOf = (currency: string, kind: string, amount: string): string =>
  `q.tenant || ':' || q.${currency} || ':${kind} ' || CAST(${amount} AS TEXT)`

export const conversionsMatchQuotes = byQuery({
  name: 'conversions_match_quotes',
  sentence: 'A conversion is posted once, with the amounts of its one FX quote.',
  over: ['fx_quotes'],
  broken: `
    WITH converted AS (
      SELECT q.conversion AS entity,
             (SELECT group_concat(l.account || ' ' || CAST(l.amount AS TEXT), ', '
                                  ORDER BY l.posting, l.line)
               FROM ledger_entries l WHERE l.entity = q.conversion) AS found,
             ${lineOf('sold_currency', 'prefund', '-q.sold')}
               || ', ' || ${lineOf('sold_currency', 'fx', 'q.sold')}
               || ', ' || ${lineOf('bought_currency', 'fx', '-q.bought')}
               || ', ' || ${lineOf('bought_currency', 'prefund', 'q.bought')} AS expected
        FROM fx_quotes q WHERE q.conversion IS NOT NULL)
    SELECT entity, coalesce(found, 'no posting') AS found, expected FROM converted
      WHERE found IS NOT expected
    UNION ALL
    SELECT entity, 'a conversion without a quote', 'the FX quote it used'
      FROM ledger_entries
      WHERE plan = 'conversion' AND line = 1
        AND entity NOT IN (SELECT conversion FROM fx_quotes WHERE conversion IS NOT NULL)`,
})
