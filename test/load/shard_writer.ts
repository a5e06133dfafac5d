/**
 * One writer of `bench-shards`: a process that owns a shard on PostgreSQL and commits to it.
 *
 * - All its batches exist before it reports that it is warm; from the word to begin on it commits
 *   one after the other, as the processor does, and creates nothing.
 */
import { once } from 'node:events'
import { systemPause } from '../../src/base/clock.js'
import { programOptions } from '../../src/process/program_options.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import { SILENT_LOG } from '../support/logs.js'
import { createBatches } from './create_batches.js'

/** When each measured commit was on disk, in epoch milliseconds with their fraction. */
export type CommitTimes = readonly number[]

const options = programOptions('shard-writer', 'Commits prepared batches to one shard.', {
  url: { value: 'URL', about: 'the PostgreSQL server', required: true },
  shard: { value: 'NAME', about: 'the schema', required: true },
  folder: { value: 'FOLDER', about: 'for preparing', required: true },
  warmUp: { value: 'N', about: 'batches before the measured ones', kind: 'number', required: true },
  batches: { value: 'N', about: 'measured batches', kind: 'number', required: true },
})
process.once('disconnect', () => process.exit())

const { url, shard, folder, warmUp, batches: measured } = options
const batches = await createBatches(folder, warmUp + measured)
const store = await openPostgresStore({
  ...{ url, shard, holder: `writer of ${shard}`, elapsed: () => performance.now() },
  pause: systemPause,
  log: SILENT_LOG,
})
for (const batch of batches.slice(0, warmUp)) await store.commit(batch)
// The garbage of preparing is not collected while it is measured.
globalThis.gc?.()
const word = once(process, 'message')
process.send?.('warm')
await word
const times: number[] = []
for (const batch of batches.slice(warmUp)) {
  await store.commit(batch)
  times.push(performance.timeOrigin + performance.now())
}
process.send?.(times)
