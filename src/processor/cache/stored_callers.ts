/**
 * Stored callers of gRPC in memory and as rows.
 *
 * - One whose row cannot be read, or has an impossible moment, counts as revoked, and no command
 *   changes it.
 */
import type { Caller } from '../../auth/caller.js'
import type { StoredCaller } from '../../auth/callers.js'
import type { Row } from '../../store/tables.js'
import { areMoments, storedMoment, storedMomentOrNull } from './stored_moments.js'

interface TokenRow {
  readonly digest: string
  readonly created_at: number
  readonly ends_at: number | null
}

export function storedCaller(row: Row<'callers'>): StoredCaller {
  const { name, certificate, roles, partners, tokens } = row
  const createdAt = storedMoment(row.created_at)
  const kind = row.kind as Caller['kind']
  const areLists = Array.isArray(roles) && Array.isArray(tokens)
  const isWhole = areLists && (partners === null || Array.isArray(partners))
  if (!isWhole || !areMoments(...momentsOf(row, tokens as TokenRow[]))) {
    const caller = { name, kind, roles: [], partners: [] }
    const revokedAt = storedMoment(row.revoked_at ?? row.created_at)
    return { caller, certificate, tokens: [], createdAt, revokedAt, isCorrupt: true }
  }
  return {
    caller: {
      name,
      kind,
      roles: roles as Caller['roles'],
      partners: partners as Caller['partners'],
    },
    certificate,
    tokens: (tokens as TokenRow[]).map(({ digest, created_at, ends_at }) => ({
      digest,
      createdAt: storedMoment(created_at),
      endsAt: storedMomentOrNull(ends_at),
    })),
    createdAt,
    revokedAt: storedMomentOrNull(row.revoked_at),
  }
}

const momentsOf = (
  { created_at, revoked_at }: Row<'callers'>,
  tokens: readonly TokenRow[],
): readonly (number | null)[] => [
  ...[created_at, revoked_at],
  ...tokens.flatMap((token) => [token.created_at, token.ends_at]),
]

export const callerRow = ({ caller, ...stored }: StoredCaller): Row<'callers'> => ({
  ...caller,
  certificate: stored.certificate,
  tokens: stored.tokens.map(({ digest, createdAt, endsAt }): TokenRow => ({
    digest,
    created_at: createdAt,
    ends_at: endsAt,
  })),
  created_at: stored.createdAt,
  revoked_at: stored.revokedAt,
})
