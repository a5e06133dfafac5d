/**
 * The accounts in the sandbox rail's log, opened with the rail's key.
 *
 * Restates the sealed form `v1.kid.iv.ciphertext.tag` (AES-256-GCM, base64url) and the derivation
 * of its key (HKDF-SHA256), to share no code with the rail.
 */
import { createDecipheriv, hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { readSecretFile } from '../files/secret_file.js'
import { FILES } from '../base/subjects.js'

export interface RailAccount {
  readonly id: string
  /** In the clear: a row of an earlier version. */
  readonly account: string
  readonly sealed_account: string | null
}

/** @returns the account of a row; it throws when the key does not open it */
export function railAccounts(folder: string): (row: RailAccount) => string {
  const keys = new Map(
    readSecretFile(join(folder, FILES.railKey))
      .trim()
      .split('\n')
      .map((line): [string, Buffer] => {
        const [kid = '', hex = ''] = line.split(':')
        const derived = hkdfSync('sha256', Buffer.from(hex, 'hex'), '', 'causeway accounts', 32)
        return [kid, Buffer.from(derived)]
      }),
  )
  return ({ id, account, sealed_account: sealed }) => {
    if (sealed === null) return account
    const [version = '', kid = '', ...parts] = sealed.split('.')
    const [iv, ciphertext, tag] = parts.map((part) => Buffer.from(part, 'base64url'))
    const key = keys.get(kid)
    if (!key || !iv || !ciphertext || !tag) throw new Error(`${id} has no account of rail.key`)
    const decipher = createDecipheriv('aes-256-gcm', key, iv)
    decipher.setAAD(Buffer.from(`${version}.${kid}.instructions.sealed_account.${id}`))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  }
}
