/** Moves seed data from SQLite files to the PostgreSQL server that a stack runs in its folder. */
import { join } from 'node:path'
import { systemRandom } from '../../../src/base/random.js'
import { FILES, webhookSchema } from '../../../src/base/subjects.js'
import { importSchemas } from '../../../src/store/postgres/copy.js'
import { ensurePassword } from '../../../src/supervisor/nats_server.js'
import { removeDatabase } from '../../support/books.js'
import { serverIn } from '../../support/postgres_server.js'
import { untilStarted } from '../../support/program.js'
import { DEFAULT_STORE } from '../stored.js'

export async function moveToPostgres(dataDir: string): Promise<void> {
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
