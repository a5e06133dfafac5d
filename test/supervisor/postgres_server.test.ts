/** Which of several installed PostgreSQL servers is used. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { clusterVersion, findPostgres } from '../../src/supervisor/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'

t.test('the server of the cluster is used, else the newest one', async (t) => {
  const installed = tempFolder(t)
  for (const [version, program] of [
    ['9.6', 'postgres'],
    ['15', 'postgres'],
    ['17', 'postgres'],
    ['18', 'psql'],
  ] as const) {
    const bin = join(installed, version, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, program), '')
  }
  const serverFor = (version?: number): string =>
    findPostgres(() => undefined, { version, installed }).postgres
  const at = (version: string): string => join(installed, version, 'bin/postgres')
  t.equal(serverFor(), at('17'), 'version 18 has its clients only')
  t.equal(serverFor(15), at('15'))
  t.equal(serverFor(16), at('17'), 'its own message says what is missing')
  t.equal(serverFor(9.6), at('17'))
  t.throws(() => findPostgres(() => undefined, { installed: join(installed, '18') }), {
    name: 'StartupError',
    message: /^PostgreSQL 15 or newer is missing/,
  })
})

t.test('the version of a cluster', async (t) => {
  const folder = tempFolder(t)
  t.equal(clusterVersion(folder), undefined)
  writeFileSync(join(folder, 'PG_VERSION'), '15\n')
  t.equal(clusterVersion(folder), 15)
})
