/**
 * The keyring: master keys from their file, and the keys that must outlive them.
 *
 * Owns: which master keys are still needed, keeping what was derived from them once. Does not own:
 * the file (auth/master_key), what the keys are used for (vault), sealing the rest anew
 * (partners/secrets_reencrypt).
 *
 * - The key of request hashes is derived once, from the oldest master key of the first start, and
 *   kept: an idempotency key never expires, so its hash must not change when master keys do.
 * - Every master key's token key is kept: a replay answers the session token of the first answer,
 *   byte for byte. Only those of master keys in the file verify.
 * - What is kept is sealed with the first master key at every start.
 * - A start without a master key that may have sealed something is refused, and so is one with a
 *   key of the same name and other bytes.
 */
import { createSecretBox, kidOf, open, seal, type SecretBox } from '../../auth/secret_box.js'
import { deriveKey, type MasterKey, type MasterKeys } from '../../auth/master_key.js'
import type { TokenSecret } from '../../auth/token.js'
import { SESSION_TTL_MAX_S } from '../../base/constants.js'
import { instant, plus, SECOND, type Instant } from '../../base/clock.js'
import type { Random } from '../../base/random.js'
import type { KeyRows, Store } from '../../store/store.js'
import type { Row } from '../../store/tables.js'
import { createCommitBatch, type CommitBatch } from '../cycle/commit_batch.js'

export interface Keyring {
  /** Of the file, the one that seals first. */
  readonly masters: MasterKeys
  readonly hashKey: Buffer
  /** Of every master key there ever was; the one that signs first. */
  readonly tokenSecrets: readonly TokenSecret[]
  /** Master keys that left the file while tokens they signed may be alive: those end now. */
  readonly cutOff: readonly string[]
}

const HASH_KEY = 'idempotency'
const TOKEN_KEY = 'tokens.'

/** Reads what is kept and adds what is missing. Throws an Error that says what to do. */
export async function openKeyring(
  store: Pick<Store, 'keyRows' | 'commit'>,
  masters: MasterKeys,
  random: Random,
  now: Instant,
): Promise<Keyring> {
  const rows = await store.keyRows()
  refuseLackingKeys(rows, masters)
  const box = createSecretBox(masters, 'secrets', random)
  const kept = openKept(rows, box)
  refuseOtherBytes(kept, masters)

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

/** From when on no token is alive that a master key signed which this one followed. */
export const othersTokensEndAt = (sealingSince: number): Instant =>
  plus(instant(sealingSince), SESSION_TTL_MAX_S * SECOND)

function refuseLackingKeys({ masterKeys }: KeyRows, masters: MasterKeys): void {
  for (const { kid, emptied_at } of masterKeys) {
    if (emptied_at !== null || isAmong(masters, kid)) continue
    throw new Error(
      `the master key file lacks ${kid}, which secrets are sealed with: put its line back, then ` +
        'make ops ARGS="master-key reencrypt"',
    )
  }
}

const isAmong = (masters: MasterKeys, kid: string): boolean => masters.some((m) => m.kid === kid)

function openKept({ lastingKeys }: KeyRows, box: SecretBox): Map<string, Buffer> {
  return new Map(
    lastingKeys.map(({ id, sealed }) => {
      const text = open(box, sealed, placeOf(id))
      if (text === undefined) throw new Error(otherBytes(kidOf(sealed) ?? ''))
      return [id, Buffer.from(text, 'base64url')]
    }),
  )
}

const placeOf = (id: string): string => `lasting_keys.sealed.${id}`

function refuseOtherBytes(kept: ReadonlyMap<string, Buffer>, masters: MasterKeys): void {
  for (const master of masters) {
    const known = kept.get(TOKEN_KEY + master.kid)
    if (known?.equals(deriveKey(master, 'tokens')) === false)
      throw new Error(otherBytes(master.kid))
  }
}

const otherBytes = (kid: string): string =>
  `the master key ${kid} of the file is not the one that sealed: put the right line back, and ` +
  'give a new key a name of its own'

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
    const sealed = seal(box, key.toString('base64url'), placeOf(id))
    batch.stage('lastingKeys', id, { id, sealed })
  }
}

/** At the very first start nobody knows what older versions sealed, so every key counts. */
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
