/**
 * Keys in use by the processor: what it seals, opens, hashes and mints with.
 *
 * Owns: the binding of keys to purposes. Does not own: cryptography (auth), the master key's file
 * (auth/master_key).
 */
import { createSecretKey, hash, type KeyObject } from 'node:crypto'
import { keyedHash, requestHash, type JsonValue } from '../auth/digest.js'
import { deriveKey, type MasterKeys } from '../auth/master_key.js'
import { createSecretBox, open, seal, type SecretBox } from '../auth/secret_box.js'
import { createTokenKeys, type TokenKeys, type TokenSecret } from '../auth/token.js'
import { assert } from '../base/assert.js'
import type { TenantId } from '../base/ids.js'
import type { Random } from '../base/random.js'
import { createCursors, type Cursors } from './cursor.js'

export interface Vault {
  readonly tokenKeys: TokenKeys
  /** For the gateways, which verify. */
  readonly tokenSecrets: readonly TokenSecret[]
  /**
   * Account numbers. `place` is `table.column.rowid`; what is opened elsewhere than sealed is a
   * bug.
   */
  sealAccount(account: string, place: string): string
  openAccount(sealed: string, place: string): string
  /** Signing and webhook secrets. */
  sealSecret(secret: string, place: string): string
  openSecret(sealed: string, place: string): string
  /** Keyed, because it covers account numbers. */
  hashRequest(request: JsonValue): string
  /** Keyed likewise: stands for a text that must not be guessed from its digest. */
  digest(text: string): string
  readonly cursors: Cursors
}

export function createVault(masters: MasterKeys, random: Random): Vault {
  const accounts = createSecretBox(masters, 'accounts', random)
  const secrets = createSecretBox(masters, 'secrets', random)
  const tokenSecrets = masters.map((m) => ({ kid: m.kid, secret: deriveKey(m, 'tokens') }))
  // The oldest key: a request hash must stay comparable for as long as its idempotency key lives.
  const hashKey: KeyObject = createSecretKey(deriveKey(masters.at(-1)!, 'idempotency'))
  return {
    tokenKeys: createTokenKeys(tokenSecrets),
    tokenSecrets,
    sealAccount: (account, place) => seal(accounts, account, place),
    openAccount: (sealed, place) => opened(accounts, sealed, place),
    sealSecret: (secret, place) => seal(secrets, secret, place),
    openSecret: (sealed, place) => opened(secrets, sealed, place),
    hashRequest: (request) => requestHash(hashKey, request).toString('base64url'),
    cursors: createCursors(masters),
    digest: (text) => keyedHash(hashKey, text).toString('base64url'),
  }
}

function opened(box: SecretBox, sealed: string, place: string): string {
  const text = open(box, sealed, place)
  assert(text !== undefined, `what is sealed at ${place} opens with the master key`)
  return text
}

/**
 * 132 bits of a digest: the row key of a caller's idempotency key within its tenant and operation.
 */
export function idempotencyRowKey(tenant: TenantId, operation: string, key: string): string {
  return hash('sha256', `${tenant}\n${operation}\n${key}`, 'base64url').slice(0, 22)
}
