/** Moves seed data from SQLite files to the PostgreSQL server that a stack runs in its folder. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemRandom } from '../../../src/base/random.js'
import { FILES, webhookSchema } from '../../../src/base/subjects.js'
import { importSchemas, type SchemaFile } from '../../../src/store/postgres/copy.js'
import { ensurePassword } from '../../../src/supervisor/nats_server.js'
import { freePort } from '../../../src/supervisor/ports.js'
import { findPostgres, postgresServer } from '../../../src/supervisor/postgres_server.js'
import { run } from '../../../src/supervisor/program.js'
import { findInstalled } from '../../support/postgres_server.js'
import { DEFAULT_STORE } from '../stored.js'

export async function moveToPostgres(dataDir: string): Promise<void> {
  const port = await freePort('127.0.0.1')
  const server = postgresServer({
    binaries: findPostgres(findInstalled),
    folder: join(dataDir, 'postgres'),
    password: ensurePassword(join(dataDir, 'postgres.password'), systemRandom()),
    environment: process.env,
  })
  const running = run(server.program(port), join(dataDir, 'seed_postgres.log'))
  const started = await running.started
  if (!started.ready) throw new Error(started.why)
  const { SHARD, WEBHOOK_POOL_SCHEMA } = DEFAULT_STORE
  const files: readonly SchemaFile[] = [
    { schema: SHARD, file: join(dataDir, FILES.processorDatabase), holds: 'books' },
    {
      schema: webhookSchema(WEBHOOK_POOL_SCHEMA, 1),
      file: join(dataDir, FILES.webhookDatabase),
      holds: 'pool',
    },
  ]
  try {
    await importSchemas(server.url(port), files)
  } finally {
    await running.stop()
  }
  for (const { file } of files) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  }
}
