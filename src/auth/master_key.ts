/**
 * The master key file: the root of all keys for secrets at rest and for tokens.
 *
 * Owns: the file's format and its creation. Does not own: the uses of the keys that `deriveKey`
 * returns; who may own and read the file (files/secret_file).
 *
 * - Each line is `kid:64 hex digits`. The first key is current; the others decrypt older secrets
 *   and verify older tokens.
 * - The file is created once and atomically; two processes that start together use one key.
 * - No error message contains a part of a key.
 * - No purpose uses the master key itself, and no two purposes share a key.
 */
import { hkdfSync } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from '../base/random.js'
import { createSecretFile, readSecretFile } from '../files/secret_file.js'

export interface MasterKey {
  readonly kid: string
  readonly bytes: Buffer
}

/** The current one first. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]]

/**
 * - secrets: signing and webhook secrets in the database
 * - accounts: account numbers in the database
 * - idempotency: hashes of requests
 * - tokens: session and receipt tokens
 * - cursor: cursors of lists
 */
export type KeyPurpose = 'secrets' | 'accounts' | 'idempotency' | 'tokens' | 'cursor'

const KEY_BYTES = 32

/** The key of one purpose (HKDF-SHA256, RFC 5869). */
export function deriveKey(master: MasterKey, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', master.bytes, '', `causeway ${purpose}`, KEY_BYTES))
}

export interface MasterKeyPolicy {
  /** Creates a missing file, on a first start. */
  readonly create: boolean
  /** A setting names the file: it may be a symbolic link. */
  readonly isNamed?: boolean
}

/** @throws Error that says what to do, when there is no valid file */
export function loadMasterKeys(file: string, policy: MasterKeyPolicy, random: Random): MasterKeys {
  if (!existsSync(file)) {
    if (!policy.create) {
      throw new Error(
        `master key file ${file} is missing: restore it, stored secrets cannot be decrypted ` +
          'without it; before the first start in production write one line, kid:64 hex digits, ' +
          'and chmod 600',
      )
    }
    createKeyFile(file, random)
  }
  return parseKeys(readSecretFile(file, policy), file)
}

/** The second of two processes reads the first one's key. */
function createKeyFile(file: string, random: Random): void {
  const kid = `k${random.bytes(4).toString('hex')}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  createSecretFile(file, `${kid}:${random.bytes(KEY_BYTES).toString('hex')}\n`)
}

/** The key file of a rail has the same form, so no message here says whose file it is. */
const KEY_LINE = /^([a-z0-9]{1,16}):([0-9a-f]{64})$/

function parseKeys(text: string, file: string): MasterKeys {
  const keys: MasterKey[] = []
  const lines = text.replace(/\n$/, '').split('\n')
  for (const [index, line] of lines.entries()) {
    const [, kid, hex] = KEY_LINE.exec(line) ?? []
    if (kid === undefined || hex === undefined) {
      throw new Error(`key file ${file}, line ${index + 1}: must be kid:64 hex digits`)
    }
    if (keys.some((key) => key.kid === kid)) {
      throw new Error(`key file ${file}, line ${index + 1}: duplicate kid`)
    }
    keys.push({ kid, bytes: Buffer.from(hex, 'hex') })
  }
  const [current, ...older] = keys
  if (current === undefined) throw new Error(`key file ${file} is empty`)
  return [current, ...older]
}
