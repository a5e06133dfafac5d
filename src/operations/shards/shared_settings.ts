/**
 * Waits until the shards of a cluster have applied a setting for all of them.
 *
 * - A shard without an owner applies it later: the command does not wait for it, and reports it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ShardRecord__Output as ShardRecord } from '../../../protos/types/causeway/operator/v1/ShardRecord.js'
import type { Context, Report } from '../cli/command.js'
import { listShards } from './shard_commands.js'

const APPLIED_WITHIN_LOOKS = 20
const LOOK_EVERY_MS = 250

/** @param version undefined if the books of the processor have it, which is no cluster's */
export async function settingReport(
  context: Context,
  version: string | undefined,
): Promise<Report> {
  if (version !== undefined) return appliedReport(await appliedBy(context, version), version)
  if (context.access.shards?.isCluster !== true) return { value: {}, lines: [] }
  const why = 'the processor is in recovery mode, or of an earlier version'
  const line = `NOT SET IN ALL SHARDS: ${why}. Repeat it later.`
  return { value: {}, lines: [line], exitCode: 1 }
}

interface Applied {
  readonly by: readonly string[]
  /** They are served. */
  readonly notYetBy: readonly string[]
  readonly unserved: readonly string[]
}

/** Null means that the shards cannot be seen. */
async function appliedBy(context: Context, version: string): Promise<Applied | null> {
  for (let looks = 1; ; looks++) {
    const list = await listShards(context).catch(() => null)
    const found = list && appliedIn(list.data, version)
    if (found?.notYetBy.length === 0 || looks === APPLIED_WITHIN_LOOKS) return found
    await sleep(LOOK_EVERY_MS)
  }
}

function appliedIn(shards: readonly ShardRecord[], version: string): Applied {
  const has = (record: ShardRecord): boolean => BigInt(record.settings_version) >= BigInt(version)
  const namesOf = (fits: (record: ShardRecord) => boolean): string[] =>
    shards.filter(fits).map(({ shard }) => shard)
  return {
    by: namesOf(has),
    notYetBy: namesOf((record) => !has(record) && record.connected),
    unserved: namesOf((record) => !has(record) && !record.connected),
  }
}

function appliedReport(found: Applied | null, version: string): Report {
  if (found === null) {
    const line = `settings version ${version}: stored. What shards have applied: shard list.`
    return { value: { settings_version: version }, lines: [line], exitCode: 1 }
  }
  const { by, notYetBy, unserved } = found
  const lines = [`settings version ${version}: applied by ${by.join(', ') || 'no shard'}`]
  if (unserved.length > 0)
    lines.push(`not served, applied before they serve again: ${unserved.join(', ')}`)
  if (notYetBy.length > 0)
    lines.push(`NOT APPLIED YET: ${notYetBy.join(', ')}. It is stored: see shard list.`)
  const value = { settings_version: version, applied_by: by, not_applied_by: notYetBy, unserved }
  return { value, lines, exitCode: notYetBy.length === 0 ? 0 : 1 }
}
