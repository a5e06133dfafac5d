/**
 * The keyring: the master keys of the key file, and derived keys that outlive them.
 *
 * Owns: storing the derived keys. Does not own: the file (auth/master_key), whether it opens them
 * (auth/stored_keys), using the keys (keys/vault), re-encrypting other rows
 * (partners/secrets_reencrypt).
 *
 * - The request-hash key is derived once, from the oldest master key at the first start, and
 *   stored: idempotency keys can be kept for good, so their hashes must not change when master keys
 *   are rotated.
 * - The token key of every master key is stored, because a replay returns the original session
 *   token byte for byte. Only the token keys of master keys in the file verify tokens.
 * - Each start re-encrypts the stored keys with the first master key.
 * - Startup fails when a master key that can have encrypted something is missing, or when a key id
 *   has different bytes.
 */
import { createSecretBox, kidOf, open, seal, type SecretBox } from '../../auth/secret_box.js'
import { deriveKey, type MasterKey, type MasterKeys } from '../../auth/master_key.js'
import { fieldOf, isAmong, openStoredKeys, TOKEN_KEY } from '../../auth/stored_keys.js'
import type { TokenSecret } from '../../auth/token.js'
import { SESSION_TTL_MAX_S } from '../../base/constants.js'
import { instant, plus, SECOND, type Instant } from '../../base/clock.js'
import type { Random } from '../../base/random.js'
import type { KeyRows, Store } from '../../store/store.js'
import type { Row } from '../../store/tables.js'
import type { Keyring } from '../keys/vault.js'
import { createCommitBatch, type CommitBatch } from '../cycle/commit_batch.js'

const HASH_KEY = 'idempotency'

/** Loads the stored keys and stores new ones. @throws Error with the operator's next step */
export async function openKeyring(
  store: Pick<Store, 'keyRows' | 'commit'>,
  masters: MasterKeys,
  random: Random,
  now: Instant,
): Promise<Keyring> {
  const rows = await store.keyRows()
  const box = createSecretBox(masters, 'secrets', random)
  const kept = openStoredKeys(rows, masters, box)

  const batch = createCommitBatch(0)
  const all = new Map([...derivedKeys(masters), ...kept])
  stageKept(batch, all, rows, box)
  stageMasterKeys(batch, rows.masterKeys, masters, now)
  if (batch.hasRows()) await store.commit(batch.toCommit(now, null))
  return {
    masters,
    hashKey: all.get(HASH_KEY)!,
    tokenSecrets: tokenSecretsOf(all, masters[0].kid),
    cutOff: cutOffOf(rows.masterKeys, masters, now),
  }
}

/** Whether two books hash the requests of keys alike. The rows are the stored keys of both. */
export function haveSameHashKey(
  rows: readonly Row<'lastingKeys'>[],
  masters: MasterKeys,
  random: Random,
): boolean {
  const box = createSecretBox(masters, 'secrets', random)
  const [one, other, ...more] = rows
    .filter(({ id }) => id === HASH_KEY)
    .map(({ id, sealed }) => open(box, sealed, fieldOf(id)))
  return one !== undefined && one === other && more.length === 0
}

/** When the last token signed by an earlier master key has expired. */
export const othersTokensEndAt = (sealingSince: number): Instant =>
  plus(instant(sealingSince), SESSION_TTL_MAX_S * SECOND)

function derivedKeys(masters: MasterKeys): [string, Buffer][] {
  const oldest: MasterKey = masters.at(-1) ?? masters[0]
  return [
    [HASH_KEY, deriveKey(oldest, 'idempotency')],
    ...masters.map((m): [string, Buffer] => [TOKEN_KEY + m.kid, deriveKey(m, 'tokens')]),
  ]
}

function stageKept(
  batch: CommitBatch,
  all: ReadonlyMap<string, Buffer>,
  { lastingKeys }: KeyRows,
  box: SecretBox,
): void {
  const current = new Set(
    lastingKeys.filter(({ sealed }) => kidOf(sealed) === box.current).map(({ id }) => id),
  )
  for (const [id, key] of all) {
    if (current.has(id)) continue
    const sealed = seal(box, key.toString('base64url'), fieldOf(id))
    batch.stage('lastingKeys', id, { id, sealed })
  }
}

/** At the first start any master key can have encrypted something, so all are recorded. */
function stageMasterKeys(
  batch: CommitBatch,
  known: readonly Row<'masterKeys'>[],
  masters: MasterKeys,
  now: Instant,
): void {
  const sealing = masters[0].kid
  const noted = new Map(known.map((row) => [row.kid, row]))
  if (known.length === 0) {
    for (const { kid } of masters) noted.set(kid, { kid, sealing_since: null, emptied_at: null })
  }
  if (noted.get(sealing)?.sealing_since == null) {
    noted.set(sealing, { kid: sealing, sealing_since: now, emptied_at: null })
  }
  for (const row of noted.values()) {
    const next = row.kid === sealing ? row : { ...row, sealing_since: null }
    if (!known.includes(next)) batch.stage('masterKeys', row.kid, next)
  }
}

function tokenSecretsOf(all: ReadonlyMap<string, Buffer>, current: string): TokenSecret[] {
  const secrets = [...all]
    .filter(([id]) => id.startsWith(TOKEN_KEY))
    .map(([id, secret]) => ({ kid: id.slice(TOKEN_KEY.length), secret }))
  const isCurrent = ({ kid }: TokenSecret): boolean => kid === current
  return [...secrets.filter(isCurrent), ...secrets.filter((secret) => !isCurrent(secret))]
}

function cutOffOf(
  known: readonly Row<'masterKeys'>[],
  masters: MasterKeys,
  now: Instant,
): readonly string[] {
  const since = known.find(({ kid }) => kid === masters[0].kid)?.sealing_since ?? now
  if (now >= othersTokensEndAt(since)) return []
  return known.filter(({ kid }) => !isAmong(masters, kid)).map(({ kid }) => kid)
}
