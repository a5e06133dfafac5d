/**
 * The databases that a run is measured on.
 *
 * - A run works on a copy of databases that are kept, so that the next run finds the same rows.
 * - Data is seeded on SQLite; for stacks on PostgreSQL it is then moved there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES, webhookSchema } from '../../../src/base/subjects.js'
import { importSchemas } from '../../../src/store/postgres/copy.js'
import { ensurePassword } from '../../../src/supervisor/nats_server.js'
import { removeDatabase } from '../../support/books.js'
import { serverIn } from '../../support/postgres_server.js'
import { untilStarted } from '../../support/program.js'
import type { Tools } from '../measured_window.js'
import { DEFAULT_STORE } from '../../support/stored_rows.js'
import { writeSeedData } from './seed_data.js'

/** Data that only this run uses, in its store. A kept folder gets its name once it is complete. */
export async function ownSeedData(
  { folder, store, progress }: Tools,
  kept: string | undefined,
  name: string,
  count: number,
  { open = 0, partners = 0 } = {},
): Promise<string> {
  const seeded = join(kept ?? folder, `${name}-${count}`)
  if (!existsSync(seeded)) {
    const partial = `${seeded}.partial`
    await rm(partial, { recursive: true, force: true })
    const what = ['payouts', 'intents'] as const
    await writeSeedData({
      ...{ folder: partial, count, open, partners, what },
      now: systemClock.now(),
    })
    await rename(partial, seeded)
  }
  const dataDir = kept === undefined ? seeded : join(folder, `copy-${name}`)
  if (kept !== undefined)
    await cp(seeded, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
  if (store === 'postgres') {
    progress(`moving the ${name} database to PostgreSQL`)
    await moveToPostgres(dataDir)
  }
  execFileSync('sync', ['-f', dataDir]) // Flushed to disk before the measurement.
  return dataDir
}

/** Moves it to the PostgreSQL server that a stack runs in its folder. */
async function moveToPostgres(dataDir: string): Promise<void> {
  const password = ensurePassword(join(dataDir, 'postgres.password'), systemRandom())
  const server = await serverIn(join(dataDir, 'postgres'), password)
  const running = server.run()
  const { processorDatabase, webhookDatabase } = FILES
  const pool = webhookSchema(DEFAULT_STORE.WEBHOOK_POOL_SCHEMA, 1)
  try {
    await untilStarted(running)
    await importSchemas(server.url, [
      { schema: DEFAULT_STORE.SHARD, file: join(dataDir, processorDatabase), holds: 'books' },
      { schema: pool, file: join(dataDir, webhookDatabase), holds: 'pool' },
    ])
  } finally {
    await running.stop()
  }
  for (const file of [processorDatabase, webhookDatabase]) removeDatabase(dataDir, file)
}

/** Reads all files into the system's memory; those that a running server removes are left out. */
export const readAll = (dataDir: string): void =>
  void spawnSync('find', [dataDir, '-type', 'f', '-exec', 'cat', '{}', '+'], { stdio: 'ignore' })
