/** Secrets and account numbers in clear, and seals whose master key is not kept. */
import { setIn, type Corruptions } from '../corruption.js'

export const secrets: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a signing secret in clear',
    sql: "UPDATE signing_keys SET sealed_secret = 'sk_0123456789'",
    breaks: 'secrets_are_sealed',
  },
  {
    what: 'a beneficiary that was not sealed anew',
    sql: `UPDATE beneficiaries SET sealed_account = replace(sealed_account, 'v1.k1.', 'v1.k0.');
          INSERT INTO master_keys VALUES ('k0', NULL, 1);`,
    breaks: 'sealed_with_kept_keys',
  },
  {
    what: 'a master key of which nothing is noted',
    sql: 'DELETE FROM master_keys',
    breaks: 'sealed_with_kept_keys',
  },
  {
    what: 'a webhook secret in clear',
    sql: "UPDATE webhook_endpoints SET secrets = json_set(secrets, '$[0].sealed', 'whsec_01')",
    breaks: 'secrets_are_sealed',
  },
  {
    what: 'an account number in clear in an intent',
    sql: setIn(
      'intents',
      intents.captured,
      '$.scanned.destination.sealedAccount',
      "'0066812345678'",
    ),
    breaks: 'secrets_are_sealed',
    of: intents.captured,
  },
  {
    what: 'an account number in the context of a payout',
    sql: setIn('payouts', payouts.completed, '$.beneficiary.account', "'0123456789'"),
    breaks: 'accounts_are_not_in_clear',
    of: payouts.completed,
  },
]
