/** Stored callers of gRPC: staging a change of one, and what operators see of it. */
import type { Callers, StoredCaller } from '../../auth/callers.js'
import { sameText } from '../../auth/mac.js'
import { toRfc3339 } from '../../base/clock.js'
import { CorruptRow, named } from '../../base/corrupt_row.js'
import { callerRow } from '../cache/stored_callers.js'
import type { CommandContext } from '../cycle/command.js'

/** @throws CorruptRow before any change */
export function stageCaller({ memory, batch }: CommandContext, stored: StoredCaller): void {
  const { name } = stored.caller
  if (memory.callers.get(name)?.isCorrupt) throw new CorruptRow(name, 'its row cannot be read')
  memory.callers.set(name, stored)
  batch.stage('callers', name, callerRow(stored))
}

/** The stored caller, or the configured one in the form of a stored one. */
export function callerNamed(
  { memory, now }: CommandContext,
  { configured }: Callers,
  name: string,
): StoredCaller | undefined {
  const stored = memory.callers.get(name)
  if (stored !== undefined) return stored
  const found = configured.find(({ caller }) => caller.name === name)
  if (found === undefined) return undefined
  const isToken = found.credential === 'sha256'
  return {
    caller: found.caller,
    certificate: isToken ? null : found.value,
    tokens: isToken ? [{ digest: found.value, createdAt: now, endsAt: null }] : [],
    createdAt: now,
    revokedAt: null,
  }
}

/**
 * Whether a caller has the credential, or had it: a revoked one may still hold it, so it can never
 * belong to another caller.
 */
export function isCredentialInUse(
  { memory }: CommandContext,
  { configured }: Callers,
  credential: { readonly certificate: string } | { readonly digest: string },
): boolean {
  const isCertificate = 'certificate' in credential
  const value = isCertificate ? credential.certificate : credential.digest
  const kind = isCertificate ? 'certificate' : 'sha256'
  return (
    configured.some((known) => known.credential === kind && known.value === value) ||
    [...memory.callers.values()].some(({ certificate, tokens }) =>
      isCertificate ? certificate === value : tokens.some(({ digest }) => sameText(digest, value)),
    )
  )
}

/** A process whose credential comes from its configuration alone. */
export const isConfiguredProcess = (
  { memory }: CommandContext,
  { caller }: StoredCaller,
): boolean =>
  !memory.callers.has(caller.name) && caller.kind !== 'operator' && caller.kind !== 'service'

/** Without tokens. */
export function callerView({ caller, ...stored }: StoredCaller, callers: Callers): object {
  const lastUsedAt = callers.lastUsedAt(caller.name)
  const { certificate, createdAt, revokedAt } = stored
  if (stored.isCorrupt) {
    const { name, kind } = caller
    return { name, kind, status: 'revoked', ...named(`caller ${name}`) }
  }
  return {
    name: caller.name,
    kind: caller.kind,
    roles: caller.roles,
    partners: caller.partners ?? [],
    status: revokedAt === null ? 'active' : 'revoked',
    configured: false,
    created_at: toRfc3339(createdAt),
    ...(revokedAt === null ? {} : { revoked_at: toRfc3339(revokedAt) }),
    ...(lastUsedAt === undefined ? {} : { last_used_at: toRfc3339(lastUsedAt) }),
    ...(certificate === null ? {} : { certificate }),
  }
}
