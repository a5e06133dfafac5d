/**
 * A webhook pool's store on PostgreSQL.
 *
 * Does not own: the port and group commit (store/store), ownership and connections
 * (src/store/postgres/owned_schema).
 */
import { join } from 'node:path'
import { projectRoot } from '../../../../src/base/project_root.js'
import { bigintArray } from '../../../../src/store/postgres/arrays.js'
import type { OwnedSchemaDefinition } from '../../../../src/store/postgres/migrate.js'
import { openOwnedSchema, type SchemaOptions } from '../../../../src/store/postgres/owned_schema.js'
import { createAdminQueries, type AdminQueries } from '../admin_queries.js'
import { createWebhookStore, type StoreReports, type WebhookStore } from '../store.js'
import { COMMIT_FUNCTION, commitValues } from './commit.js'

export const POOL: OwnedSchemaDefinition = {
  migrations: join(projectRoot(), 'actors/webhook/store/postgres/schema'),
  commitFunction: COMMIT_FUNCTION,
}

/**
 * Checks again: a redrive may have reopened an event since the scan. The lock of the owner's row
 * ensures that no other process takes over before it.
 */
const REMOVE = `
  WITH mine AS (SELECT 1 FROM owner WHERE epoch = ? FOR UPDATE)
  DELETE FROM events
  WHERE position = ANY (?) AND open = 0 AND reported = 1 AND EXISTS (SELECT 1 FROM mine)`

export interface PostgresPool {
  readonly store: WebhookStore
  /** Its `close` is that of the store. */
  readonly adminQueries: AdminQueries
}

/** `reports.failed` with Deposed: another process owns the pool. */
export async function openPostgresPool(
  options: SchemaOptions,
  reports: StoreReports,
): Promise<PostgresPool> {
  const schema = await openOwnedSchema(options, POOL, {
    reads: 'by index',
    queries: 'by cost',
  })
  const { writer, readers } = schema
  const { reads, queries } = readers
  let hasFailed = false
  const failed = (fault: unknown): void => {
    if (!hasFailed) reports.failed(fault)
    hasFailed = true
  }
  schema.onFailure(failed)
  const store = await createWebhookStore(
    {
      reader: reads,
      commit: (batch) => schema.commit((epoch, number) => commitValues(batch, epoch, number)),
      remove: async (positions) => {
        const { epoch } = schema.ownership()
        await writer.run(REMOVE, [epoch, bigintArray(positions)])
      },
      close: schema.close,
    },
    { ...reports, failed },
  )
  return { store, adminQueries: createAdminQueries(queries, () => Promise.resolve()) }
}
