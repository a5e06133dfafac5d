/**
 * The token with which our own processes and internal services authenticate to gRPC.
 *
 * - The file has mode 0600 and is created once, at the first start.
 * - Tokens are compared as digests in constant time.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createHash, timingSafeEqual } from 'node:crypto'
import { dirname } from 'node:path'
import { Metadata } from '@grpc/grpc-js'
import type { Random } from './random.js'
import { dataFile, type Settings } from './settings.js'
import { FILES } from './subjects.js'

/** Creates the token file if missing. The supervisor calls it before starting other processes. */
export function ensureInternalToken(settings: Settings, random: Random): string {
  const file = dataFile(settings, FILES.internalToken)
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const token = `it_${random.bytes(32).toString('base64url')}`
    writeFileSync(`${file}.new`, `${token}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  chmodSync(file, 0o600)
  return readInternalToken(settings)
}

export function readInternalToken(settings: Settings): string {
  return readFileSync(dataFile(settings, FILES.internalToken), 'utf8').trim()
}

/** Metadata with the token, for calls of our own clients. */
export function bearer(token: string): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return metadata
}

export function hasBearer(metadata: Metadata, token: string): boolean {
  const [given, second] = metadata.get('authorization')
  if (typeof given !== 'string' || second !== undefined) return false
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
