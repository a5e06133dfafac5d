/** The audit of a world's books. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../src/audit/audit.js'
import { openBooks } from '../../src/audit/books.js'
import { FILES } from '../../src/base/subjects.js'
import { exportSchemas } from '../../src/store/postgres/copy.js'
import { isOnPostgres, server, shardOf } from '../support/books.js'
import type { World } from '../support/world.js'

/** The name of the check that fails. */
export async function brokenIn(
  world: World,
  options: Parameters<typeof openBooks>[2] = {},
): Promise<string | null> {
  const books = await openBooks(await bookFolder(world), world.clock, options)
  const report = await audit(books, {
    ...{ live: true, isRailElsewhere: true },
    ...{ stopwatch: () => 0, onCheck: () => undefined },
  })
  await books.close()
  return report.broken?.name ?? null
}

/** With the books as a file. */
async function bookFolder(world: World): Promise<string> {
  if (!isOnPostgres()) return world.folder
  const folder = join(world.folder, 'exported')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const file = join(folder, FILES.processorDatabase)
  await exportSchemas(server(), [{ schema: shardOf(world.folder), file, holds: 'books' }])
  return folder
}
