/**
 * The known callers of a gRPC port and their credentials.
 *
 * Owns: finding the caller of a call. Does not own: what it may call (auth/rpc_access).
 *
 * - A credential is a token or the name in a client certificate that the TLS layer has verified. A
 *   call with a token is judged by its token alone.
 * - Tokens are looked up by digest and compared in constant time.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import {
  CALLER_KINDS,
  isCallerName,
  OPERATOR_ROLES,
  type Caller,
  type CallerKind,
} from './caller.js'
import { tokenDigest, tokenIn } from './caller_token.js'

export interface Callers {
  /** @param certificate the name in the verified client certificate */
  identify(metadata: Metadata, certificate: () => string | undefined): Caller | undefined
}

/** A caller with one credential, as the setting CALLERS names it. */
export interface ConfiguredCaller {
  readonly caller: Caller
  readonly credential: 'sha256' | 'certificate'
  /** The digest of the token, or the name in the certificate. */
  readonly value: string
}

/**
 * Reads `KIND:NAME:sha256:DIGEST` or `KIND:NAME:certificate:NAME`; the setting has checked it.
 * A configured operator has all roles, a configured service acts for all partners.
 */
export function configuredCaller(text: string): ConfiguredCaller {
  const [kind = '', name = '', credential = '', value = ''] = text.split(':')
  const isKnown = CALLER_KINDS.includes(kind as CallerKind) && isCallerName(name)
  if (!isKnown || (credential !== 'sha256' && credential !== 'certificate') || value === '') {
    throw new Error(`not a caller: ${kind}:${name}`)
  }
  const roles = kind === 'operator' ? OPERATOR_ROLES : []
  return { caller: { name, kind: kind as CallerKind, roles, partners: null }, credential, value }
}

/** The entry of CALLERS for a token. */
export const callerEntry = (kind: CallerKind, name: string, token: string): string =>
  `${kind}:${name}:sha256:${tokenDigest(token)}`

export function createCallers(configured: readonly ConfiguredCaller[]): Callers {
  const byDigest = new Map<string, Caller>()
  const byCertificate = new Map<string, Caller>()
  for (const { caller, credential, value } of configured) {
    const index = credential === 'sha256' ? byDigest : byCertificate
    index.set(value, caller)
  }
  return {
    identify: (metadata, certificate) => {
      if (metadata.get('authorization').length === 0) {
        const name = certificate()
        return name === undefined ? undefined : byCertificate.get(name)
      }
      const token = tokenIn(metadata)
      return token === undefined ? undefined : callerWith(byDigest, tokenDigest(token))
    },
  }
}

function callerWith(byDigest: ReadonlyMap<string, Caller>, digest: string): Caller | undefined {
  for (const [known, caller] of byDigest) {
    if (timingSafeEqual(Buffer.from(known), Buffer.from(digest))) return caller
  }
  return undefined
}
