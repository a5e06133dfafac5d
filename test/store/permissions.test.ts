/** File modes: a writer restricts a restored database to its owner. */
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openWebhookStore } from '../../actors/webhook/store/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { NO_REPORTS } from '../support/webhook_store.js'

const PARTS = ['', '-wal', '-shm']

const modesOf = (file: string): string[] =>
  PARTS.map((part) => (statSync(file + part).mode & 0o777).toString(8))

/** A database that is readable by everyone, as restored from an archive. */
async function restored(t: Test): Promise<string> {
  const file = join(t.testdir(), 'webhooks.db')
  const database = await openDatabase(file)
  await database.exec('CREATE TABLE kept (id INTEGER)')
  for (const part of PARTS) chmodSync(file + part, 0o644)
  t.teardown(() => database.close())
  return file
}

t.test('a writer restricts its file and the WAL to the owner', async (t) => {
  const file = await restored(t)
  t.same(modesOf(file), ['644', '644', '644'])
  const writer = await openDatabase(file, { sole: true })
  t.teardown(() => writer.close())
  t.same(modesOf(file), ['600', '600', '600'])
})

t.test('a writer restricts the file of its lock, which a reader of it could hold', async (t) => {
  const file = await restored(t)
  writeFileSync(`${file}.lock`, '')
  chmodSync(`${file}.lock`, 0o644)
  const writer = await openDatabase(file, { sole: true })
  t.teardown(() => writer.close())
  t.equal(statSync(`${file}.lock`).mode & 0o777, 0o600)
})

t.test('a reader does not change the modes', async (t) => {
  const file = await restored(t)
  const reader = await openDatabase(file, { readOnly: true })
  t.teardown(() => reader.close())
  t.same(modesOf(file), ['644', '644', '644'])
})

t.test('the webhook pool restricts its file', async (t) => {
  const file = join(t.testdir(), 'webhooks.db')
  await (await openWebhookStore(file, NO_REPORTS)).close()
  chmodSync(file, 0o666)
  const store = await openWebhookStore(file, NO_REPORTS)
  t.equal(statSync(file).mode & 0o777, 0o600)
  await store.close()
})
