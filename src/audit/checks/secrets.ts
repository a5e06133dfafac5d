/**
 * Secrets and account numbers: sealed at rest, and in no other text.
 *
 * - The rail's log knows the account numbers in clear; that is how they are looked for here.
 * - A master key that is noted as empty may be gone: what is sealed with it would be lost.
 * - What a partner writes into texts of its own (references, metadata, names) is the partner's.
 */
import { byQuery } from '../check.js'

/** `v1.key.iv.text.tag`, all in base64url. */
const isSealed = (text: string): string =>
  `(${text} GLOB 'v1.?*.????????????????.*.??????????????????????'
    AND ${text} NOT GLOB '*[^A-Za-z0-9._-]*')`

export const secretsAreSealed = byQuery({
  name: 'secrets_are_sealed',
  sentence:
    'Signing secrets, webhook secrets and account numbers are sealed texts where they are kept.',
  over: ['signing_keys', 'webhook_endpoints', 'beneficiaries', 'payouts', 'intents'],
  broken: `
    SELECT id AS entity, 'a signing secret in clear' AS found, 'v1.… (sealed)' AS expected
      FROM signing_keys WHERE NOT ${isSealed('sealed_secret')}
    UNION ALL
    SELECT w.id, 'a webhook secret in clear', 'v1.… (sealed)'
      FROM webhook_endpoints w, json_each(w.secrets) s
      WHERE NOT ${isSealed("coalesce(s.value ->> 'sealed', '')")}
    UNION ALL
    SELECT id, 'an account number in clear', 'v1.… (sealed)'
      FROM beneficiaries WHERE NOT ${isSealed('sealed_account')}
    UNION ALL
    SELECT id, 'an account number in clear', 'v1.… (sealed)'
      FROM payouts WHERE NOT ${isSealed("coalesce(context ->> '$.beneficiary.sealedAccount', '')")}
    UNION ALL
    SELECT id, 'an account number in clear', 'v1.… (sealed)'
      FROM intents
      WHERE NOT ${isSealed("coalesce(context ->> '$.scanned.destination.sealedAccount', '')")}
        AND context ->> '$.scanned.quote.id' IS NOT NULL`,
})

const SEALED = `
  SELECT id AS entity, sealed_secret AS text FROM signing_keys
  UNION ALL
  SELECT w.id, s.value ->> 'sealed' FROM webhook_endpoints w, json_each(w.secrets) s
  UNION ALL SELECT id, sealed_account FROM beneficiaries
  UNION ALL SELECT id, context ->> '$.beneficiary.sealedAccount' FROM payouts
  UNION ALL SELECT id, context ->> '$.scanned.destination.sealedAccount' FROM intents
  UNION ALL SELECT id, sealed FROM lasting_keys`

export const sealedWithKeptKeys = byQuery({
  name: 'sealed_with_kept_keys',
  sentence: 'Every sealed text was sealed with a master key that is noted and not empty.',
  over: ['master_keys', 'lasting_keys'],
  broken: `
    SELECT entity, 'sealed with ' || kid AS found, 'a master key that is kept' AS expected
      FROM (SELECT entity, substr(text, 4, instr(substr(text, 4), '.') - 1) AS kid
        FROM (${SEALED}) WHERE ${isSealed('text')})
      WHERE kid NOT IN (SELECT kid FROM master_keys WHERE emptied_at IS NULL)`,
})

const PARTNERS_OWN = `
  'reference', 'description', 'name', 'city', 'userId', 'partner_user_id', 'reference1',
  'reference2'`

/** Texts of which one value is exactly the account number that the rail was told. */
const inClear = (table: string, isOf: string, text: string): string => `
  SELECT i.id AS entity, 'an account number in ${table}.${text}' AS found,
         'no account number in clear' AS expected
    FROM rail.instructions i JOIN ${table} t ON ${isOf}
    WHERE instr(t.${text}, '"' || i.account || '"') > 0
      AND EXISTS (SELECT 1 FROM json_tree(t.${text}) v
        WHERE v.atom = i.account AND v.key NOT IN (${PARTNERS_OWN})
          AND v.fullkey NOT GLOB '*.metadata.*')`

export const accountsAreNotInClear = byQuery({
  name: 'accounts_are_not_in_clear',
  sentence: 'No account number that went to the rail stands in clear in a context or an event.',
  reads: ['rail'],
  over: ['rail.instructions'],
  broken: `
    ${inClear('payouts', 't.id = i.id', 'context')}
    UNION ALL ${inClear('intents', 't.id = i.id', 'context')}
    UNION ALL ${inClear('events', "t.entity >= i.id AND t.entity < i.id || 'A'", 'body')}`,
})
