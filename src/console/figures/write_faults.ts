/** Why a shard takes no payments, by the last reading of the metrics. */
import type { ProcessValues } from './metrics_text.js'

/** By shard. The name is empty where there is only one set of books. */
export function writeFaultsOn(
  scraped: readonly ReadonlyMap<string, ProcessValues>[],
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  for (const values of scraped.flatMap((found) => [...found.values()])) {
    for (const [shard, isFault] of values.get('causeway_shard_settings_fault') ?? []) {
      if (isFault > 0) faults.set(shard, 'a setting cannot be applied')
    }
    // The supervisor has a disk, and no books.
    const hasBooks = values.has('causeway_commit_duration_seconds_bucket')
    if (!hasBooks || (values.get('causeway_disk_low')?.get('') ?? 0) === 0) continue
    const owned = values.get('causeway_shard_epoch')?.keys() ?? ['']
    for (const shard of owned) faults.set(shard, 'the disk is almost full')
  }
  return faults
}
