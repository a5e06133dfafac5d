/**
 * Commands about the master keys that secrets are sealed with.
 *
 * Owns: walking all that is sealed, slice by slice, and saying which keys can go. Does not own:
 * sealing (the processor), the key file (whoever runs the stack).
 *
 * - The walk may be broken off and begun again at any time; what is done stays done.
 */
import type { MasterKeyRecord__Output as MasterKey } from '../../protos/types/causeway/v1/MasterKeyRecord.js'
import { actorOf, CHANGE, type Actor } from './actor.js'
import type { Command, Context, Report } from './command.js'
import { page } from './page.js'
import { table } from './terminal.js'

export const masterKeyList: Command = {
  usage: 'master-key list',
  about: 'how much is sealed with each master key, and which can be removed',
  run: async (context) => reportOf(await walk(context, { count_only: true })),
}

export const masterKeyReencrypt: Command = {
  usage: 'master-key reencrypt',
  about: 'seal all secrets with the first master key; may be broken off and repeated',
  options: CHANGE,
  run: async (context) => {
    const { corrupt } = await walk(context, { actor: actorOf(context, 'sandbox') })
    const counted = await walk(context, { count_only: true })
    const all = new Set([...corrupt, ...counted.corrupt])
    const report = reportOf({ ...counted, corrupt: all })
    return all.size === 0 ? report : { ...report, exitCode: CORRUPT }
  },
}

/** What is sealed in a corrupt row is not known, so no key can go. */
const CORRUPT = 1

interface Walked {
  /** Sealed texts by master key. */
  readonly counts: ReadonlyMap<string, number>
  readonly keys: readonly MasterKey[]
  /** Rows that could not be read or opened. */
  readonly corrupt: ReadonlySet<string>
}

async function walk(
  { partners }: Context,
  request: { actor: Actor } | { count_only: true },
): Promise<Walked> {
  const counts = new Map<string, number>()
  const corrupt = new Set<string>()
  let cursor: string | undefined
  for (;;) {
    const slice = await partners.call('ReencryptSecrets', { ...request, ...page(cursor) })
    for (const { kid, sealed } of slice.found) counts.set(kid, (counts.get(kid) ?? 0) + sealed)
    for (const id of slice.corrupt) corrupt.add(id)
    if (slice.next_cursor === undefined) return { counts, keys: slice.keys, corrupt }
    cursor = slice.next_cursor
  }
}

function reportOf({ counts, keys, corrupt }: Walked): Report {
  const data = keys.map((key) => ({ ...key, sealed: counts.get(key.kid) ?? 0 }))
  const rows = data.map((key) => [key.kid, `${key.sealed} sealed`, stateOf(key)])
  const value = { data, corrupt: [...corrupt] }
  const named = [...corrupt].map((id) => `corrupt, not re-encrypted: ${id}`)
  return { value, lines: [table(rows, [1]), ...named] }
}

function stateOf({ in_file, sealing_since, removable_from }: MasterKey): string {
  if (sealing_since !== undefined) return `seals since ${sealing_since}`
  if (removable_from === undefined) return 'must stay in the file: master-key reencrypt first'
  return in_file ? `empty: can be removed from the file from ${removable_from} on` : 'removed'
}
