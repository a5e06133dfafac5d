/**
 * The known callers of a gRPC port and their credentials.
 *
 * Owns: finding the caller of a call. Does not own: what it may call (auth/rpc_access), changing
 * stored callers (processor/commands/callers).
 *
 * - A credential is a token or the common name in a client certificate that TLS has verified. A
 *   call with a token is authenticated by its token alone.
 * - Callers are configured or stored. A stored caller replaces a configured one of the same name.
 * - A token that a stored caller once had is looked up in its row alone, so a retired token is not
 *   accepted because a setting still names it.
 * - Tokens are compared by digest in constant time.
 * - With a rotated token an operator only reads until it ends: it may be why the token was rotated.
 * - A call of the console is one of the operator whose certificate it shows. Without a valid one,
 *   and for a certificate of any other caller, it is not authenticated.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import type { Clock, Instant } from '../base/clock.js'
import {
  CALLER_KINDS,
  isCallerName,
  OPERATOR_ROLES,
  type Caller,
  type CallerKind,
} from './caller.js'
import { tokenDigest, tokenIn } from './caller_token.js'
import { shownCertificate, type OperatorCertificates } from './operator_certificates.js'

export interface Callers {
  /** @param certificate the common name in the verified client certificate */
  identify(metadata: Metadata, certificate: () => string | undefined): Caller | undefined
  readonly configured: readonly ConfiguredCaller[]
  /** Since this process started. */
  lastUsedAt(name: string): Instant | undefined
}

/** A caller with one credential, as the setting CALLERS names it. */
export interface ConfiguredCaller {
  readonly caller: Caller
  readonly credential: 'sha256' | 'certificate'
  /** The digest of the token, or the common name in the certificate. */
  readonly value: string
}

/** A caller that operators manage. */
export interface StoredCaller {
  readonly caller: Caller
  readonly certificate: string | null
  /** Every token that it ever had. */
  readonly tokens: readonly StoredToken[]
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
  /** Its row cannot be read; changing the caller throws CorruptRow. */
  readonly isCorrupt?: true
}

export interface StoredToken {
  readonly digest: string
  readonly createdAt: Instant
  /** Null until it is rotated or revoked. */
  readonly endsAt: Instant | null
}

/**
 * Reads `KIND:NAME:sha256:DIGEST` or `KIND:NAME:certificate:NAME`; the setting has checked it. A
 * configured operator has all roles, a configured service acts for all partners.
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

const NONE_STORED: ReadonlyMap<string, StoredCaller> = new Map()

export function createCallers(
  configured: readonly ConfiguredCaller[],
  clock: Clock,
  stored = NONE_STORED,
  operatorCertificates: OperatorCertificates = () => undefined,
): Callers {
  const lastUsed = new Map<string, Instant>()

  const withToken = (digest: string): Caller | undefined => {
    for (const { caller, tokens, revokedAt } of stored.values()) {
      const token = tokens.find((known) => isSame(known.digest, digest))
      if (token === undefined) continue
      if (revokedAt !== null) return undefined
      if (token.endsAt === null) return caller
      return token.endsAt > clock.now() ? withFormerToken(caller) : undefined
    }
    return configuredWith('sha256', digest)
  }

  const withCertificate = (name: string): Caller | undefined => {
    for (const { caller, certificate, revokedAt } of stored.values()) {
      if (certificate === name && revokedAt === null) return caller
    }
    return configuredWith('certificate', name)
  }

  const configuredWith = (kind: string, value: string): Caller | undefined =>
    configured.find(
      (known) =>
        known.credential === kind && isSame(known.value, value) && !stored.has(known.caller.name),
    )?.caller

  return {
    configured,
    lastUsedAt: (name) => lastUsed.get(name),
    identify: (metadata, certificate) => {
      const own = callerIn(metadata, certificate)
      const caller = own?.kind === 'console' ? operatorShown(metadata) : own
      if (caller !== undefined) lastUsed.set(caller.name, clock.now())
      return caller
    },
  }

  function operatorShown(metadata: Metadata): Caller | undefined {
    const der = shownCertificate(metadata)
    const name = der && operatorCertificates(der)
    const caller = name === undefined ? undefined : withCertificate(name)
    return caller?.kind === 'operator' ? caller : undefined
  }

  function callerIn(metadata: Metadata, certificate: () => string | undefined): Caller | undefined {
    if (metadata.get('authorization').length > 0) {
      const token = tokenIn(metadata)
      return token === undefined ? undefined : withToken(tokenDigest(token))
    }
    const name = certificate()
    return name === undefined ? undefined : withCertificate(name)
  }
}

const withFormerToken = (caller: Caller): Caller =>
  caller.kind === 'operator' ? { ...caller, roles: ['read'] } : caller

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
