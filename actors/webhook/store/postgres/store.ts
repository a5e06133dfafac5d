/**
 * A webhook pool's store on PostgreSQL.
 *
 * Does not own: the port and group commit (store/store), ownership and connections
 * (src/store/postgres/owned_schema).
 *
 * - A failed read ends the process as a failed commit does: its connection is not replaced.
 */
import { join } from 'node:path'
import { projectRoot } from '../../../../src/base/project_root.js'
import { bigintArray } from '../../../../src/store/postgres/arrays.js'
import type { OwnedSchemaDefinition } from '../../../../src/store/postgres/migrate.js'
import { openOwnedSchema, type SchemaOptions } from '../../../../src/store/postgres/owned_schema.js'
import { createAdminQueries, type AdminQueries } from '../admin_queries.js'
import { createWebhookStore, type WebhookStore } from '../store.js'
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

/** @param onFailure called once; the process must exit: with Deposed another one owns the pool */
export async function openPostgresPool(
  options: SchemaOptions,
  onFailure: (fault: unknown) => void,
): Promise<PostgresPool> {
  const schema = await openOwnedSchema(options, POOL, {
    reads: 'by index',
    queries: 'by cost',
  })
  const { writer, readers } = schema
  const { reads, queries } = readers
  let failed = false
  const fail = (fault: unknown): void => {
    if (!failed) onFailure(fault)
    failed = true
  }
  /** Never settles after a failure: its caller must not continue. */
  const orFail = <T>(work: Promise<T>): Promise<T> =>
    work.catch((fault: unknown) => {
      fail(fault)
      return new Promise<never>(() => undefined)
    })
  schema.onFailure(fail)
  const store = await createWebhookStore(
    {
      reader: {
        dialect: reads.dialect,
        all: <Row>(...query: Parameters<typeof reads.all>) => orFail(reads.all<Row>(...query)),
      },
      commit: (batch) => schema.commit((epoch, number) => commitValues(batch, epoch, number)),
      remove: async (positions) => {
        const { epoch } = schema.ownership()
        await orFail(writer.run(REMOVE, [epoch, bigintArray(positions)]))
      },
      close: schema.close,
    },
    fail,
  )
  return { store, adminQueries: createAdminQueries(queries, () => Promise.resolve()) }
}
