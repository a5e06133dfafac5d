/**
 * An in-memory index of partners, signing keys and token keys, built from directory updates.
 *
 * - An update replaces everything of its partner: a key that it does not list is removed.
 */
import { signingKey } from '../../src/auth/signature.js'
import { createTokenKeys, type TokenKeys } from '../../src/auth/token.js'
import type { KnownKey } from '../../src/auth/verify.js'
import { instant } from '../../src/base/clock.js'
import type { Partner__Output } from '../../protos/types/causeway/internal/v1/Partner.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { SigningKey__Output } from '../../protos/types/causeway/internal/v1/SigningKey.js'
import { createAddressList, type AddressList } from './ip_allowlist.js'

export interface KnownPartner {
  readonly keyIds: readonly string[]
  readonly allowsAddress: AddressList
  /** App packages that may call. Empty means any. */
  readonly packages: ReadonlySet<string>
  /** Per key. 0 means the default. */
  readonly ratePerSecond: number
}

export interface Partners {
  readonly partner: (id: string) => KnownPartner | undefined
  readonly key: (id: string) => KnownKey | undefined
  /** Undefined until the first update that has them. */
  readonly tokenKeys: () => TokenKeys | undefined
  readonly apply: (update: Pick<PartnerUpdate__Output, 'partners' | 'token_keys'>) => void
}

export function createPartners(): Partners {
  const partners = new Map<string, KnownPartner>()
  const keys = new Map<string, KnownKey>()
  let tokenKeys: TokenKeys | undefined

  const replace = (partner: Partner__Output): void => {
    for (const id of partners.get(partner.partner_id)?.keyIds ?? []) keys.delete(id)
    for (const key of partner.keys) keys.set(key.key_id, knownKey(key))
    partners.set(partner.partner_id, {
      keyIds: partner.keys.map((key) => key.key_id),
      allowsAddress: createAddressList(partner.allowed_ips),
      packages: new Set(partner.packages),
      ratePerSecond: partner.rate_limit_per_second,
    })
  }
  return {
    partner: (id) => partners.get(id),
    key: (id) => keys.get(id),
    tokenKeys: () => tokenKeys,
    apply: (update) => {
      for (const partner of update.partners) replace(partner)
      if (update.token_keys.length > 0) tokenKeys = createTokenKeys(update.token_keys)
    },
  }
}

const knownKey = ({ secret, revoked_at }: SigningKey__Output): KnownKey => ({
  secret: signingKey(secret),
  revokedAt: revoked_at === '0' ? undefined : instant(Number(revoked_at)),
})

/** The partners that this gateway knows, from the processors. */
export interface Directory {
  /** Undefined before the first complete snapshot. */
  partners(): Partners | undefined
  /** Whether `partners` has the keys of every processor. If not, an unknown key can be valid. */
  isComplete(): boolean
  readonly fresh: boolean
}
