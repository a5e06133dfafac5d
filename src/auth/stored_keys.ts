/**
 * The keys that books store, sealed by the master keys: whether a master key file opens them.
 *
 * - Every master key that can have encrypted something must be in the file.
 * - Other bytes under the name of a key open nothing, and are told so.
 */
import { deriveKey, type MasterKeys } from './master_key.js'
import { kidOf, open, type SecretBox } from './secret_box.js'

/** Rows of the books. */
export interface StoredKeys {
  readonly masterKeys: readonly { readonly kid: string; readonly emptied_at: number | null }[]
  readonly lastingKeys: readonly { readonly id: string; readonly sealed: string }[]
}

/** The prefix of the id of a token key, before the id of its master key. */
export const TOKEN_KEY = 'tokens.'

/** @returns the opened keys, by id @throws Error with the operator's next step */
export function openStoredKeys(
  { masterKeys, lastingKeys }: StoredKeys,
  masters: MasterKeys,
  box: SecretBox,
): Map<string, Buffer> {
  refuseMissingKeys(masterKeys, masters)
  const kept = new Map(
    lastingKeys.map(({ id, sealed }) => {
      const text = open(box, sealed, fieldOf(id))
      if (text === undefined) throw new Error(notOpened(id, kidOf(sealed)))
      return [id, Buffer.from(text, 'base64url')]
    }),
  )
  refuseOtherBytes(kept, masters)
  return kept
}

function refuseMissingKeys(known: StoredKeys['masterKeys'], masters: MasterKeys): void {
  for (const { kid, emptied_at } of known) {
    if (emptied_at !== null || isAmong(masters, kid)) continue
    throw new Error(
      `the master key file lacks ${kid}, which encrypts stored secrets: restore its line, then ` +
        'run make ops ARGS="master-key reencrypt"',
    )
  }
}

export const isAmong = (masters: MasterKeys, kid: string): boolean =>
  masters.some((master) => master.kid === kid)

/** The field in which a stored key is sealed. */
export const fieldOf = (id: string): string => `lasting_keys.sealed.${id}`

function refuseOtherBytes(kept: ReadonlyMap<string, Buffer>, masters: MasterKeys): void {
  for (const master of masters) {
    const known = kept.get(TOKEN_KEY + master.kid)
    if (known?.equals(deriveKey(master, 'tokens')) === false)
      throw new Error(otherBytes(master.kid))
  }
}

/** Other bytes of the key and a damaged text look the same. */
const notOpened = (id: string, kid: string | undefined): string =>
  kid === undefined
    ? `the row ${id} of lasting_keys is damaged: restore it`
    : `${otherBytes(kid)}; unless the row ${id} of lasting_keys is damaged`

const otherBytes = (kid: string): string =>
  `master key ${kid} in the file differs from the one that encrypted: restore its line, and ` +
  'give a new key a new name'
