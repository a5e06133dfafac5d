/** A schema is migrated while its owner commits and others read. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { migrate } from '../../src/store/postgres/migrate.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { connected, longPause, newShard } from './postgres_books.js'

t.test('commits do not wait for a migration that waits for a snapshot', async (t) => {
  const schema = newShard()
  const [migrating, owner, reader] = [
    await connected(t, schema),
    await connected(t, schema),
    await connected(t, schema),
  ]
  const migrations = tempFolder(t)
  const add = (name: string, sql: string): void => writeFileSync(join(migrations, name), sql)
  add(
    '0001_items.sql',
    `CREATE TABLE owner (schema_version bigint NOT NULL); INSERT INTO owner VALUES (0);
     CREATE TABLE items (id bigint)`,
  )
  await migrate(migrating, schema, { migrations })

  add('0002_names.sql', 'ALTER TABLE items ADD COLUMN name text')
  await reader.exec('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.all('SELECT count(*) FROM items')
  let tries = 0
  const pause = (): Promise<void> => {
    tries += 1
    return longPause(100)
  }
  let said = 0
  const onBlocked = (): void => void (said += 1)
  const migrated = migrate(migrating, schema, { migrations }, { pause, onBlocked })
  const sql = `SELECT 1 FROM pg_stat_activity WHERE pid = ? AND wait_event_type = 'Lock'`
  await eventually('the migration waits', async () => {
    return (await owner.all(sql, [migrating.session])).length > 0
  })
  let commits = 0
  const commit = async (): Promise<void> => {
    await owner.run('INSERT INTO items (id) VALUES (1)')
    commits += 1
  }
  commit().catch(t.fail)
  await eventually('a commit is answered', () => commits > 0)
  await eventually('the migration begins again', () => tries > 0)
  await reader.exec('ROLLBACK')
  await migrated
  t.equal(said, 1, 'it is said once')
  t.same(await owner.all('SELECT id, name FROM items'), [{ id: 1, name: null }])
})

t.test('a schema whose row of the version is lost is not made a second time', async (t) => {
  const schema = newShard()
  const connection = await connected(t, schema)
  await migrate(connection, schema, BOOKS)
  await connection.exec('DELETE FROM owner')
  const message = `${schema}.owner has no row: restore it`
  await t.rejects(migrate(connection, schema, BOOKS), { message })
})

t.test('a role that may not create its schema is told how it is made for it', async (t) => {
  const schema = newShard()
  const connection = await connected(t, schema)
  await connection.exec('CREATE ROLE limited; SET ROLE limited')
  await t.rejects(migrate(connection, schema, BOOKS), {
    message:
      `causeway may not create the schema ${schema} in the database postgres: ` +
      `CREATE SCHEMA ${schema} AUTHORIZATION causeway`,
  })
})
