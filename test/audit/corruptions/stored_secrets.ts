/** Secrets and account numbers in plaintext, and texts sealed with an unknown master key. */
import { setIn, type Corruptions } from '../corruption.js'

export const secrets: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a signing secret in plaintext',
    sql: "UPDATE signing_keys SET sealed_secret = 'sk_0123456789'",
    breaks: 'secrets_are_encrypted',
  },
  {
    what: 'a beneficiary that was not reencrypted',
    sql: `UPDATE beneficiaries SET sealed_account = replace(sealed_account, 'v1.k1.', 'v1.k0.');
          INSERT INTO master_keys VALUES ('k0', NULL, 1);`,
    breaks: 'sealed_with_known_keys',
  },
  {
    what: 'a master key that is not recorded',
    sql: 'DELETE FROM master_keys',
    breaks: 'sealed_with_known_keys',
  },
  {
    what: 'a webhook secret in plaintext',
    sql: "UPDATE webhook_endpoints SET secrets = json_set(secrets, '$[0].sealed', 'whsec_01')",
    breaks: 'secrets_are_encrypted',
  },
  {
    what: 'an account number in plaintext in an intent',
    sql: setIn(
      'intents',
      intents.captured,
      '$.scanned.destination.sealedAccount',
      "'0066812345678'",
    ),
    breaks: 'secrets_are_encrypted',
    of: intents.captured,
  },
  {
    what: 'an account number in the context of a payout',
    sql: setIn('payouts', payouts.completed, '$.beneficiary.account', "'0123456789'"),
    breaks: 'no_plaintext_accounts',
    of: payouts.completed,
  },
]
