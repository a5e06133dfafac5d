/** The recovery of a start of the processor on a world's books. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FILES } from '../../../src/base/subjects.js'
import {
  createRecovery,
  type Recovery,
  type RecoveryOptions,
} from '../../../src/processor/background/recovery.js'
import type { Progress } from '../../../src/store/progress.js'
import { iterations } from '../../support/event_loop.js'
import { SILENT_LOG } from '../../support/logs.js'
import type { World } from '../../support/world.js'

export const recoveryOn = (world: World, over: Partial<RecoveryOptions> = {}): Promise<Recovery> =>
  createRecovery({
    books: world.store,
    highWaterFile: join(world.folder, FILES.highWater),
    clock: world.clock,
    pause: () => iterations(),
    log: SILENT_LOG,
    ...over,
  })

/** Writes a high-water mark into the world's folder. */
export const writeMark = (
  { folder, store }: World,
  { booksId, epoch, lastBatch }: Progress = store.marks.progress(),
  file: string = FILES.highWater,
): void =>
  writeFileSync(join(folder, file), JSON.stringify({ books: booksId, epoch, batch: lastBatch }))
