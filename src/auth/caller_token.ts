/**
 * Bearer tokens of gRPC callers.
 *
 * - A token has 256 random bits. Only its SHA-256 digest is stored or configured; a digest of that
 *   much randomness needs no salt and no slow hash.
 */
import { createHash } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import type { Random } from '../base/random.js'
import type { CallerKind } from './caller.js'

/** What a token of each kind begins with, so that a leaked one can be recognized. */
const PREFIXES: Readonly<Record<CallerKind, string>> = {
  operator: 'op',
  service: 'it',
  gateway: 'gw',
  webhooks: 'wh',
  supervisor: 'sv',
  processor: 'pr',
  console: 'co',
}

export const newCallerToken = (kind: CallerKind, random: Random): string =>
  `${PREFIXES[kind]}_${random.bytes(32).toString('base64url')}`

/** 64 lower-case hex digits. */
export const tokenDigest = (token: string): string =>
  createHash('sha256').update(token).digest('hex')

export const isTokenDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** Undefined without a token; a call with two of them has none. */
export function tokenIn(metadata: Metadata): string | undefined {
  const [given, second] = metadata.get('authorization')
  if (typeof given !== 'string' || second !== undefined || !given.startsWith(SCHEME)) {
    return undefined
  }
  return given.slice(SCHEME.length)
}

const SCHEME = 'Bearer '
