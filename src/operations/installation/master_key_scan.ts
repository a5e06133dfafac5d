/**
 * A scan of the stored secrets of all shards, which are encrypted with one master key file.
 *
 * - A key is removable once it is so in every shard, and no shard is missing.
 */
import type { MasterKeyRecord__Output as MasterKey } from '../../../protos/types/causeway/operator/v1/MasterKeyRecord.js'
import type { Actor } from '../cli/actor.js'
import { CommandFault, type Context } from '../cli/command.js'
import { connectPartnerAdmin, type PartnerAdminClient } from '../calls/operator_client.js'
import { page } from '../cli/page.js'

interface Scanned {
  /** Encrypted values by master key. */
  readonly counts: ReadonlyMap<string, number>
  readonly keys: readonly MasterKey[]
  /** Ids of rows that cannot be read or decrypted. */
  readonly corrupt: ReadonlySet<string>
}

export interface Scan extends Scanned {
  /** Shards that did not answer. */
  readonly missing: readonly string[]
}

type ScanRequest = { readonly actor: Actor } | { readonly count_only: true }

/** @throws CommandFault with `--shard` */
export async function scanSecrets(context: Context, request: ScanRequest): Promise<Scan> {
  const { access, partners, clock } = context
  if (access.among !== undefined) {
    throw new CommandFault('All shards have the same master key file: leave --shard out.')
  }
  const { shards, ...one } = access
  if (shards === undefined) return { ...(await scan(partners, request)), missing: [] }
  const { reached, missing } = shards
  const scanned: Scanned[] = []
  for (const address of reached.values()) {
    const client = connectPartnerAdmin({ ...one, address }, clock)
    scanned.push(await scan(client, request).finally(() => client.close()))
  }
  return merged(scanned, missing)
}

async function scan(partners: PartnerAdminClient, request: ScanRequest): Promise<Scanned> {
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

function merged(scanned: readonly Scanned[], missing: readonly string[]): Scan {
  const counts = new Map<string, number>()
  for (const [kid, values] of scanned.flatMap((each) => [...each.counts])) {
    counts.set(kid, (counts.get(kid) ?? 0) + values)
  }
  const byKid = new Map<string, MasterKey[]>()
  for (const key of scanned.flatMap(({ keys }) => keys)) {
    byKid.set(key.kid, [...(byKid.get(key.kid) ?? []), key])
  }
  const keys = [...byKid].map(([kid, records]) => mergedKey(kid, records, missing.length === 0))
  const corrupt = new Set(scanned.flatMap((each) => [...each.corrupt]))
  return { counts, keys, corrupt, missing }
}

function mergedKey(kid: string, records: readonly MasterKey[], isOfAll: boolean): MasterKey {
  const sealing = latest(records.flatMap(({ sealing_since: since }) => since ?? []))
  const emptied = records.flatMap(({ emptied_at: at }) => at ?? [])
  const removable = records.flatMap(({ removable_from: from }) => from ?? [])
  const isUnused = isOfAll && removable.length === records.length
  return {
    ...{ kid, in_file: records.some(({ in_file: isInFile }) => isInFile) },
    ...(sealing === undefined ? {} : { sealing_since: sealing }),
    ...(isUnused ? { emptied_at: latest(emptied)!, removable_from: latest(removable)! } : {}),
  }
}

/** Undefined means that there is none. */
const latest = (times: readonly string[]): string | undefined => [...times].sort().at(-1)
