/**
 * Secrets and account numbers are encrypted at rest and appear in no other column.
 *
 * - The rail's key opens the account numbers in the rail's log: the check searches for these.
 * - A master key marked as emptied may be deleted, which would lose everything sealed with it.
 * - Texts that a partner writes (references, metadata, names) are the partner's responsibility.
 */
import { byQuery, type Check, type Violation } from '../check.js'
import { railAccounts, type RailAccount } from '../rail_accounts.js'

/** `v1.kid.iv.ciphertext.tag`, the last three in base64url. */
const isSealed = (text: string): string =>
  `(${text} GLOB 'v1.?*.????????????????.*.??????????????????????'
    AND ${text} NOT GLOB '*[^A-Za-z0-9._-]*')`

export const secretsAreEncrypted = byQuery({
  name: 'secrets_are_encrypted',
  sentence: 'Signing secrets, webhook secrets and account numbers are stored encrypted.',
  over: ['signing_keys', 'webhook_endpoints', 'idempotency', 'beneficiaries', 'payouts', 'intents'],
  broken: `
    SELECT id AS entity, 'a signing secret in plaintext' AS found, 'v1.… (sealed)' AS expected
      FROM signing_keys WHERE NOT ${isSealed('sealed_secret')}
    UNION ALL
    SELECT w.id, 'a webhook secret in plaintext', 'v1.… (sealed)'
      FROM webhook_endpoints w, json_each(w.secrets) s
      WHERE NOT ${isSealed("coalesce(s.value ->> 'sealed', '')")}
    UNION ALL
    SELECT entity, 'a webhook secret in a stored answer', 'an answer without it'
      FROM idempotency WHERE entity GLOB 'we_*' AND response ->> 'secret' IS NOT NULL
    UNION ALL
    SELECT id, 'an account number in plaintext', 'v1.… (sealed)'
      FROM beneficiaries WHERE NOT ${isSealed('sealed_account')}
    UNION ALL
    SELECT id, 'a key in plaintext', 'v1.… (sealed)'
      FROM lasting_keys WHERE NOT ${isSealed('sealed')}
    UNION ALL
    SELECT id, 'an account number in plaintext', 'v1.… (sealed)'
      FROM payouts WHERE NOT ${isSealed("coalesce(context ->> '$.beneficiary.sealedAccount', '')")}
    UNION ALL
    SELECT id, 'an account number in plaintext', 'v1.… (sealed)'
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

export const sealedWithKnownKeys = byQuery({
  name: 'sealed_with_known_keys',
  sentence: 'Every sealed text names a master key that is recorded and not marked as emptied.',
  over: ['master_keys', 'lasting_keys'],
  broken: `
    SELECT entity, 'sealed with ' || kid AS found, 'a master key in use' AS expected
      FROM (SELECT entity, substr(text, 4, instr(substr(text, 4), '.') - 1) AS kid
        FROM (${SEALED}) WHERE ${isSealed('text')})
      WHERE kid NOT IN (SELECT kid FROM master_keys WHERE emptied_at IS NULL)`,
})

/** Members of contexts and events whose text is the partner's or of the scanned code. */
export const PARTNERS_OWN: readonly string[] = [
  ...['reference', 'description', 'name', 'city', 'userId', 'partner_user_id', 'reference1'],
  'reference2',
]
const OWN_NAMES = PARTNERS_OWN.map((name) => `'${name}'`).join(', ')

/** Texts with a JSON value that equals the account number in an instruction. */
const inPlaintext = (table: string, isOf: string, text: string): string => `
  SELECT i.id AS entity, 'an account number in ${table}.${text}' AS found,
         'no account number in plaintext' AS expected
    FROM sent i CROSS JOIN ${table} t
    WHERE ${isOf} AND instr(t.${text}, '"' || i.account || '"') > 0
      AND EXISTS (SELECT 1 FROM json_tree(t.${text}) v
        WHERE v.atom = i.account AND v.key NOT IN (${OWN_NAMES})
          AND v.fullkey NOT GLOB '*.metadata.*')`

const IN_PLAINTEXT = `
  WITH sent (id, account) AS (SELECT value ->> 0, value ->> 1 FROM json_each(?))
  SELECT * FROM (
    ${inPlaintext('payouts', 't.id = i.id', 'context')}
    UNION ALL ${inPlaintext('intents', 't.id = i.id', 'context')}
    UNION ALL ${inPlaintext('events', "t.entity >= i.id AND t.entity < i.id || 'A'", 'body')})
  LIMIT 1`

const SENT = `SELECT id, account, sealed_account FROM rail.instructions
  WHERE id > ? ORDER BY id LIMIT ?`

export const noPlaintextAccounts: Check = {
  name: 'no_plaintext_accounts',
  sentence: 'No account number sent to the rail appears in plaintext in a context or an event.',
  reads: ['rail', 'railKey'],
  run: async (books) => {
    const rows = await books.count('rail.instructions')
    const accountOf = railAccounts(books.railFolder)
    for await (const page of books.pages<RailAccount>(SENT, [''], ({ id }) => [id])) {
      const sent = page
        .filter(({ id }) => !books.corrupt.has(id))
        .map((row) => [row.id, accountOf(row)])
      const [broken] = await books.all<Violation>(IN_PLAINTEXT, [JSON.stringify(sent)])
      if (broken !== undefined) return { rows, broken }
    }
    return { rows, broken: null }
  },
}
