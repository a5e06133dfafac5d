/**
 * Encryption of secrets at rest: AES-256-GCM, one sealed text per field.
 *
 * Owns: the sealed form `v1.kid.iv.ciphertext.tag` (base64url), sealing and opening. Does not own:
 * the key file (auth/master_key), which fields are sealed (store).
 *
 * - A sealed text opens only in its field: table, column and row are authenticated with it.
 * - `open` never throws: a text that was altered, moved, sealed by an unknown key or encoded
 *   differently gives undefined.
 * - Each sealing uses a random 96-bit iv. NIST SP 800-38D allows 2^32 per key; we use a few per
 *   account.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { assert } from '../base/assert.js'
import type { Random } from '../base/random.js'
import { deriveKey, type MasterKeys, type KeyPurpose } from './master_key.js'

export interface SecretBox {
  /** The id of the key that seals. */
  readonly current: string
  readonly keys: ReadonlyMap<string, KeyObject>
  readonly random: Random
}

/** Keys differ by purpose: a box cannot open what a box of another purpose sealed. */
export function createSecretBox(
  masters: MasterKeys,
  purpose: Extract<KeyPurpose, 'secrets' | 'accounts'>,
  random: Random,
): SecretBox {
  const keys = new Map(
    masters.map((master) => [master.kid, createSecretKey(deriveKey(master, purpose))]),
  )
  return { current: masters[0].kid, keys, random }
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** `field` is `table.column.rowid`. */
export function seal(box: SecretBox, plaintext: string, field: string): string {
  const key = box.keys.get(box.current)
  assert(key !== undefined, 'the current key is one of the keys')
  const iv = box.random.bytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(authenticated(box.current, field))
  const text = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  const parts = [iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return ['v1', box.current, ...parts].join('.')
}

/** 12 bytes are 16 characters; 16 bytes are 22, of which the last carries two bits. */
const SEALED_SHAPE =
  /^v1\.([a-z0-9]{1,16})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]*)\.([A-Za-z0-9_-]{21}[AQgw])$/

/** The id of the key that sealed a text; undefined when it is not a sealed text. */
export const kidOf = (sealed: string): string | undefined => SEALED_SHAPE.exec(sealed)?.[1]

export function open(box: SecretBox, sealed: string, field: string): string | undefined {
  const [, kid = '', iv = '', text = '', tag = ''] = SEALED_SHAPE.exec(sealed) ?? []
  const key = box.keys.get(kid)
  if (key === undefined) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) return undefined
  const decipher = createDecipheriv(CIPHER, key, Buffer.from(iv, 'base64url'), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(authenticated(kid, field))
  decipher.setAuthTag(Buffer.from(tag, 'base64url'))
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const authenticated = (kid: string, field: string): Buffer => Buffer.from(`v1.${kid}.${field}`)
