/**
 * Encryption of accounts and instructions in an adapter's journal, with a key of its own.
 *
 * Owns: the key file beside the journal, sealing of rows that earlier versions wrote. Does not own:
 * the sealed form (auth/secret_box), when an account is needed (journal, statement).
 *
 * - The key file is created with the first journal, and never for a journal that has sealed rows.
 * - Sealing old rows resumes after a crash. It ends with a rewrite of the file, because free space
 *   and the WAL can still have accounts.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadMasterKeys, type MasterKeys } from '../../auth/master_key.js'
import { createSecretBox, open, seal, type SecretBox } from '../../auth/secret_box.js'
import { systemRandom, type Random } from '../../base/random.js'
import { FILES } from '../../base/subjects.js'
import type { Database, Reader } from '../../store/database.js'

export interface StoredAccount {
  readonly id: string
  /** In the clear: a row of an earlier version. */
  readonly account: string
  readonly sealed_account: string | null
}

export interface AccountBox {
  seal(id: string, account: string): string
  /** @throws Error when the row was sealed with another key */
  open(row: StoredAccount): string
  sealInstruction(id: string, text: string): string
  /** @throws Error when it was sealed with another key */
  openInstruction(id: string, sealed: string): string
}

/** The box of the rail itself: creates the key file of a new journal. */
export async function openAccountBox(
  journal: Reader,
  file: string,
  random: Random,
): Promise<AccountBox> {
  const [sealed] = await journal.all<StoredAccount>(ANY_SEALED)
  const keys = keysBeside(file, sealed === undefined, random)
  const box = createSecretBox(keys, 'accounts', random)
  const accounts = accountBox(() => box)
  if (sealed !== undefined) accounts.open(sealed)
  return accounts
}

/** For a restore, of any earlier journal. @throws Error when the key file does not open it */
export async function requireOpens(keyFile: string, journal: Reader): Promise<void> {
  const random = systemRandom()
  const keys = loadMasterKeys(keyFile, { create: false }, random)
  if ((await journal.all(HAS_SEALED)).length === 0) return
  const [sealed] = await journal.all<StoredAccount>(ANY_SEALED)
  if (sealed !== undefined) accountBox(() => createSecretBox(keys, 'accounts', random)).open(sealed)
}

/** For readers: the key file is read with the first sealed row. */
export function readAccountBox(file: string, random: Random): AccountBox {
  let box: SecretBox | undefined
  return accountBox(
    () => (box ??= createSecretBox(keysBeside(file, false, random), 'accounts', random)),
  )
}

const HAS_SEALED = `SELECT 1 FROM pragma_table_info('instructions') WHERE name = 'sealed_account'`
const ANY_SEALED = `SELECT id, account, sealed_account FROM instructions
  WHERE sealed_account IS NOT NULL LIMIT 1`

function keysBeside(file: string, create: boolean, random: Random): MasterKeys {
  const keyFile = join(dirname(file), FILES.railKey)
  if (!create && !existsSync(keyFile)) {
    throw new Error(`${keyFile} is missing: restore it, the accounts in ${file} need it`)
  }
  return loadMasterKeys(keyFile, { create }, random)
}

const fieldOf = (id: string): string => `instructions.sealed_account.${id}`

const instructionFieldOf = (id: string): string => `instructions.sealed_instruction.${id}`

const accountBox = (box: () => SecretBox): AccountBox => ({
  seal: (id, account) => seal(box(), account, fieldOf(id)),
  open: ({ id, account, sealed_account: sealed }) =>
    sealed === null ? account : opened(open(box(), sealed, fieldOf(id)), id),
  sealInstruction: (id, text) => seal(box(), text, instructionFieldOf(id)),
  openInstruction: (id, sealed) => opened(open(box(), sealed, instructionFieldOf(id)), id),
})

function opened(text: string | undefined, id: string): string {
  if (text !== undefined) return text
  throw new Error(`the account of ${id} was sealed with another key than ${FILES.railKey}`)
}

export const lastFourOf = (account: string): string => account.slice(-4)

const PAGE_ROWS = 5_000
const IS_IN_CLEAR = 'SELECT since FROM accounts_in_clear'
const IN_CLEAR = `SELECT id, account, sealed_account FROM instructions
  WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}`
const SEAL = `
  UPDATE instructions SET account = '', sealed_account = given.value ->> 1,
      account_last4 = given.value ->> 2
    FROM json_each(?) AS given
    WHERE instructions.id = given.value ->> 0 AND instructions.sealed_account IS NULL`

/** Seals the accounts of rows that earlier versions wrote. */
export async function sealOldAccounts(journal: Database, accounts: AccountBox): Promise<void> {
  if ((await journal.all(IS_IN_CLEAR)).length === 0) return
  for (let after = ''; ;) {
    const page = await journal.all<StoredAccount>(IN_CLEAR, [after])
    const rows = page
      .filter(({ sealed_account: sealed }) => sealed === null)
      .map(({ id, account }) => [id, accounts.seal(id, account), lastFourOf(account)])
    if (rows.length > 0) await journal.run(SEAL, [JSON.stringify(rows)])
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_ROWS) break
    after = last.id
  }
  await journal.exec('VACUUM')
  const [checkpoint] = await journal.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')
  if (checkpoint?.busy === 0) await journal.exec('DELETE FROM accounts_in_clear')
}
