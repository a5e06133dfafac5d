/**
 * The processor's cryptographic operations, each with the key for its purpose.
 *
 * Does not own: cryptography (auth), the key file (auth/master_key), which keys exist
 * (master_keys/keyring).
 */
import { hash } from 'node:crypto'
import { requestHash, type JsonValue } from '../../auth/digest.js'
import { createMac } from '../../auth/mac.js'
import type { MasterKeys } from '../../auth/master_key.js'
import { createSecretBox, open, seal, type SecretBox } from '../../auth/secret_box.js'
import {
  createTokenKeys,
  receiptSubject,
  type TokenKeys,
  type TokenSecret,
} from '../../auth/token.js'
import { assert } from '../../base/assert.js'
import type { TenantId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import { createCursors, type Cursors } from './cursors.js'
import { createOpenedAccounts } from './opened_accounts.js'

export interface Keyring {
  /** The master keys of the file; the first one encrypts. */
  readonly masters: MasterKeys
  readonly hashKey: Buffer
  /** A secret for each master key, past ones included. The first one signs. */
  readonly tokenSecrets: readonly TokenSecret[]
  /** Master keys removed while their tokens can still be valid: those tokens end now. */
  readonly cutOff: readonly string[]
}

export interface Vault {
  /** The master key that encrypts. */
  readonly sealingKid: string
  /** All master keys in the file. */
  readonly masterKids: readonly string[]
  readonly tokenKeys: TokenKeys
  /** Token keys of the master keys in the file, for verification at the gateways. */
  readonly tokenSecrets: readonly TokenSecret[]
  /** Those keys, verifying here for internal services. */
  readonly verifyingKeys: TokenKeys
  /** Encrypts an account number. `field` is `table.column.rowid`; another field cannot open it. */
  sealAccount(account: string, field: string): string
  openAccount(sealed: string, field: string): string
  /** Re-encrypts with the first master key. */
  reencryptAccount(sealed: string, field: string): string
  /** Signing and webhook secrets. */
  sealSecret(secret: string, field: string): string
  openSecret(sealed: string, field: string): string
  /** Keyed, because it covers account numbers. */
  hashRequest(request: JsonValue): string
  /** Keyed digest of a text that must not be guessable from it. */
  digest(text: string): string
  /** The subject of a receipt token. */
  receiptSubject(partnerUserId: string): string
  readonly cursors: Cursors
}

export function createVault(keyring: Keyring, random: Random): Vault {
  const { masters, tokenSecrets } = keyring
  const masterKids = masters.map(({ kid }) => kid)
  const accounts = createSecretBox(masters, 'accounts', random)
  const secrets = createSecretBox(masters, 'secrets', random)
  const mac = createMac(keyring.hashKey)
  const verifying = tokenSecrets.filter(({ kid }) => masterKids.includes(kid))
  const known = createOpenedAccounts()
  const sealAccount = (account: string, field: string): string => {
    const sealed = seal(accounts, account, field)
    known.keep(sealed, field, account)
    return sealed
  }
  const openAccount = (sealed: string, field: string): string => {
    const kept = known.get(sealed, field)
    if (kept !== undefined) return kept
    const account = opened(accounts, sealed, field)
    known.keep(sealed, field, account)
    return account
  }
  return {
    sealingKid: masters[0].kid,
    masterKids,
    tokenKeys: createTokenKeys(tokenSecrets),
    tokenSecrets: verifying,
    verifyingKeys: createTokenKeys(verifying),
    sealAccount,
    openAccount,
    reencryptAccount: (sealed, field) => sealAccount(opened(accounts, sealed, field), field),
    sealSecret: (secret, field) => seal(secrets, secret, field),
    openSecret: (sealed, field) => opened(secrets, sealed, field),
    hashRequest: (request) => requestHash(mac, request),
    cursors: createCursors(masters),
    digest: (text) => mac(text, 'base64url'),
    receiptSubject: (partnerUserId) => receiptSubject(mac, partnerUserId),
  }
}

function opened(box: SecretBox, sealed: string, field: string): string {
  const text = open(box, sealed, field)
  assert(text !== undefined, `the encrypted text at ${field} opens with a master key`)
  return text
}

/**
 * 132 bits of a digest: the row key of a caller's idempotency key within its tenant and operation.
 */
export function idempotencyRowKey(tenant: TenantId, operation: string, key: string): string {
  return hash('sha256', `${tenant}\n${operation}\n${key}`, 'base64url').slice(0, 22)
}
