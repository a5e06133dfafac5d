/** Secrets and account numbers in plaintext, and texts sealed with an unknown master key. */
import { breaks, setIn, type Corruptions } from '../corruption.js'

export const secrets: Corruptions = ({ payouts, intents }) => [
  ...breaks('secrets_are_encrypted', {
    'a signing secret in plaintext': "UPDATE signing_keys SET sealed_secret = 'sk_0123456789'",
    'a webhook secret in plaintext':
      "UPDATE webhook_endpoints SET secrets = json_set(secrets, '$[0].sealed', 'whsec_01')",
    'a webhook secret in a stored answer': `
        UPDATE idempotency SET response = json_set(response, '$.secret', 'whsec_01')
        WHERE entity GLOB 'we_*'`,
    'a lasting key in plaintext': "UPDATE lasting_keys SET sealed = 'token_key_0123456789'",
    'an account number in plaintext in an intent': setIn(
      'intents',
      intents.captured,
      '$.scanned.destination.sealedAccount',
      "'0066812345678'",
    ),
  }),
  ...breaks('sealed_with_known_keys', {
    'a beneficiary that was not reencrypted': `
        UPDATE beneficiaries SET sealed_account = replace(sealed_account, 'v1.k1.', 'v1.k0.');
          INSERT INTO master_keys VALUES ('k0', NULL, 1);`,
    'a master key that is not recorded': 'DELETE FROM master_keys',
  }),
  ...breaks('no_plaintext_accounts', {
    'an account number in the context of a payout': setIn(
      'payouts',
      payouts.completed,
      '$.beneficiary.account',
      "'0123456789'",
    ),
  }),
]
