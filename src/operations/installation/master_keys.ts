/**
 * Commands about master keys, which encrypt the stored secrets.
 *
 * - Re-encryption runs page by page and can be interrupted and repeated at any time.
 */
import type { MasterKeyRecord__Output as MasterKey } from '../../../protos/types/causeway/operator/v1/MasterKeyRecord.js'
import { actorOf, CHANGE } from '../cli/actor.js'
import type { CliCommand, Report } from '../cli/command.js'
import { scanSecrets, type Scan } from './master_key_scan.js'
import { MISSING_SHARDS } from '../calls/shards.js'
import { table } from '../cli/terminal.js'

export const masterKeyList: CliCommand = {
  usage: 'master-key list',
  about: 'number of secrets under each master key, and which keys can be removed',
  run: async (context) => reportOf(await scanSecrets(context, { count_only: true })),
}

export const masterKeyReencrypt: CliCommand = {
  usage: 'master-key reencrypt',
  about: 're-encrypt all secrets with the first master key; can be interrupted and repeated',
  options: CHANGE,
  run: async (context) => {
    const { corrupt } = await scanSecrets(context, { actor: actorOf(context, 'sandbox') })
    const counted = await scanSecrets(context, { count_only: true })
    const all = new Set([...corrupt, ...counted.corrupt])
    const report = reportOf({ ...counted, corrupt: all })
    return all.size === 0 ? report : { ...report, exitCode: EXIT_CORRUPT }
  },
}

/** No key can be removed while a corrupt row may need it. */
const EXIT_CORRUPT = 1

function reportOf({ counts, keys, corrupt, missing }: Scan): Report {
  const data = keys.map((key) => ({ ...key, values: counts.get(key.kid) ?? 0 }))
  const rows = data.map((key) => [key.kid, `${key.values} values`, stateOf(key)])
  const value = {
    ...{ data, corrupt: [...corrupt] },
    ...(missing.length === 0 ? {} : { [MISSING_SHARDS]: missing }),
  }
  const corruptLines = [...corrupt].map((id) => `corrupt, not re-encrypted: ${id}`)
  return { value, lines: [table(rows, [1]), ...corruptLines] }
}

function stateOf({ in_file, sealing_since, removable_from }: MasterKey): string {
  if (sealing_since !== undefined) return `encrypts since ${sealing_since}`
  if (removable_from === undefined) return 'still in use: run master-key reencrypt first'
  return in_file ? `unused: can be removed from the file from ${removable_from}` : 'removed'
}
