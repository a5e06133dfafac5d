/**
 * Commands about master keys, which encrypt the stored secrets.
 *
 * - Re-encryption runs page by page and can be interrupted and repeated at any time.
 */
import type { MasterKeyRecord__Output as MasterKey } from '../../protos/types/causeway/operator/v1/MasterKeyRecord.js'
import { actorOf, CHANGE, type Actor } from './actor.js'
import type { CliCommand, Context, Report } from './command.js'
import { page } from './page.js'
import { table } from './terminal.js'

export const masterKeyList: CliCommand = {
  usage: 'master-key list',
  about: 'number of secrets under each master key, and which keys can be removed',
  run: async (context) => reportOf(await scan(context, { count_only: true })),
}

export const masterKeyReencrypt: CliCommand = {
  usage: 'master-key reencrypt',
  about: 're-encrypt all secrets with the first master key; can be interrupted and repeated',
  options: CHANGE,
  run: async (context) => {
    const { corrupt } = await scan(context, { actor: actorOf(context, 'sandbox') })
    const counted = await scan(context, { count_only: true })
    const all = new Set([...corrupt, ...counted.corrupt])
    const report = reportOf({ ...counted, corrupt: all })
    return all.size === 0 ? report : { ...report, exitCode: EXIT_CORRUPT }
  },
}

/** No key can be removed while a corrupt row may need it. */
const EXIT_CORRUPT = 1

interface Scan {
  /** Encrypted values by master key. */
  readonly counts: ReadonlyMap<string, number>
  readonly keys: readonly MasterKey[]
  /** Ids of rows that cannot be read or decrypted. */
  readonly corrupt: ReadonlySet<string>
}

async function scan(
  { partners }: Context,
  request: { actor: Actor } | { count_only: true },
): Promise<Scan> {
  const counts = new Map<string, number>()
  const corrupt = new Set<string>()
  let cursor: string | undefined
  for (;;) {
    const batch = await partners.call('ReencryptSecrets', { ...request, ...page(cursor) })
    for (const { kid, values } of batch.found) counts.set(kid, (counts.get(kid) ?? 0) + values)
    for (const id of batch.corrupt) corrupt.add(id)
    if (batch.next_cursor === undefined) return { counts, keys: batch.keys, corrupt }
    cursor = batch.next_cursor
  }
}

function reportOf({ counts, keys, corrupt }: Scan): Report {
  const data = keys.map((key) => ({ ...key, values: counts.get(key.kid) ?? 0 }))
  const rows = data.map((key) => [key.kid, `${key.values} values`, stateOf(key)])
  const value = { data, corrupt: [...corrupt] }
  const corruptLines = [...corrupt].map((id) => `corrupt, not re-encrypted: ${id}`)
  return { value, lines: [table(rows, [1]), ...corruptLines] }
}

function stateOf({ in_file, sealing_since, removable_from }: MasterKey): string {
  if (sealing_since !== undefined) return `encrypts since ${sealing_since}`
  if (removable_from === undefined) return 'still in use: run master-key reencrypt first'
  return in_file ? `unused: can be removed from the file from ${removable_from}` : 'removed'
}
