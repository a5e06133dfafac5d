/**
 * Master keys as operators see them.
 *
 * - A key can be removed from the file once no row is encrypted with it and every session token it
 *   signed has expired.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import type { Row } from '../../store/tables.js'
import { othersTokensEndAt } from './keyring.js'
import type { Memory } from '../cache/memory.js'
import type { Vault } from '../keys/vault.js'

/** The encrypting key first, then by name. */
export function masterKeyViews({ masterKeys }: Memory, vault: Vault): readonly object[] {
  const since = masterKeys.get(vault.sealingKid)?.sealing_since ?? 0
  const removableFrom = toRfc3339(othersTokensEndAt(since))
  const isOther = ({ kid }: Row<'masterKeys'>): number => (kid === vault.sealingKid ? 0 : 1)
  return [...masterKeys.values()]
    .sort((a, b) => isOther(a) - isOther(b) || (a.kid < b.kid ? -1 : 1))
    .map((row) => ({
      kid: row.kid,
      in_file: vault.masterKids.includes(row.kid),
      ...(row.sealing_since === null ? {} : { sealing_since: textOf(row.sealing_since) }),
      ...(row.emptied_at === null
        ? {}
        : { emptied_at: textOf(row.emptied_at), removable_from: removableFrom }),
    }))
}

const textOf = (at: number): string => toRfc3339(instant(at))
