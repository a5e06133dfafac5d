/** Stored callers of gRPC in memory and as rows. */
import type { Caller } from '../../auth/caller.js'
import type { StoredCaller } from '../../auth/callers.js'
import { instant } from '../../base/clock.js'
import type { Row } from '../../store/tables.js'

interface TokenRow {
  readonly digest: string
  readonly created_at: number
  readonly ends_at: number | null
}

export const storedCaller = (row: Row<'callers'>): StoredCaller => ({
  caller: {
    name: row.name,
    kind: row.kind as Caller['kind'],
    roles: row.roles as Caller['roles'],
    partners: row.partners as Caller['partners'],
  },
  certificate: row.certificate,
  tokens: (row.tokens as readonly TokenRow[]).map(({ digest, created_at, ends_at }) => ({
    digest,
    createdAt: instant(created_at),
    endsAt: ends_at === null ? null : instant(ends_at),
  })),
  createdAt: instant(row.created_at),
  revokedAt: row.revoked_at === null ? null : instant(row.revoked_at),
})

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
