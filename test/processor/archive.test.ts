/**
 * Ended payments leave the books for an archive: nothing is lost or counted twice, whatever step a
 * crash ends, and the audit is clean before, during and after.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  openArchive,
  type Archived,
  type MovablePage,
  type MovingBooks,
} from '../../src/backup/archive_file.js'
import { DAY, plus } from '../../src/base/clock.js'
import type { PayoutId } from '../../src/base/ids.js'
import { createRetention } from '../../src/processor/background/retention.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import {
  archivePayments,
  type RemovedPayments,
} from '../../src/processor/commands/retention/payments_archive.js'
import { listArchivable } from '../../src/processor/queries/archivable_list.js'
import { find } from '../../src/processor/queries/find.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { inBooks } from '../support/books.js'
import { aPayout } from '../support/requests.js'
import { SILENT_LOG } from '../support/logs.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { brokenIn } from './audited_world.js'
import { authorized, captured, intentAt } from './intent_lifecycle.js'
import { executed, OPERATOR, read } from './scenarios.js'

const USER = 'maria.garcia'

/** The name of the check that fails, on pages of a few rows. */
const audited = (world: World, archive?: string) => brokenIn(world, { archive, page: 3 })

/** The payer of each limit counter. */
async function countedPayers(world: World): Promise<readonly string[]> {
  const rows = await inBooks(world.folder, ({ all }) =>
    all<{ key: string }>('SELECT key FROM limit_usage ORDER BY key'),
  )
  return rows.map(({ key }) => {
    const [, payer = ''] = JSON.parse(key.slice(0, key.lastIndexOf(' '))) as readonly string[]
    return payer
  })
}

const payoutWith = (world: World, key: string) =>
  world.run(createPayout(DEMO, aPayout({ idempotency_key: key })))

async function completed(world: World, key: string): Promise<string> {
  const { id } = viewOf<{ id: string }>(await payoutWith(world, key))
  await world.railReports(executed(id as PayoutId, { transactionId: id }))
  return id
}

async function paid(world: World, user = USER): Promise<string> {
  const lifecycle = await intentAt(world, captured, { user })
  return lifecycle.id
}

/** As `archive FILE` does. @param steps calls of the books until the process is killed */
const booksOf = (
  world: World,
  { id, path }: { readonly id: string; readonly path: string },
  steps = Number.POSITIVE_INFINITY,
): MovingBooks => {
  const before = plus(world.clock.now(), -180 * DAY)
  let left = steps
  const killed = (): void => {
    left -= 1
    if (left < 0) throw new Error('killed')
  }
  return {
    page: async (after) => {
      killed()
      const query = listArchivable(world.memory(), { before, after }, world.clock)
      return viewOf<MovablePage>(await read(world, query))
    },
    claim: async () => {
      viewOf(await world.run(archivePayments(OPERATOR, { id, path }, [])))
    },
    remove: async (payments) => {
      killed()
      const command = archivePayments(OPERATOR, { id, path }, payments)
      const { removed } = viewOf<RemovedPayments>(await world.run(command))
      killed()
      return removed
    },
  }
}

async function archived(world: World, path: string, steps?: number): Promise<Archived | Error> {
  const file = await openArchive(path)
  return file
    .move(booksOf(world, file, steps))
    .catch((error: unknown) => error as Error)
    .finally(() => file.close())
}

function archivePath(world: World): string {
  const folder = join(world.folder, 'archive')
  mkdirSync(folder, { mode: 0o700 })
  return join(folder, 'payments.db')
}

/** Keys of old intents are deleted: those of the day of the first one, and later ones. */
async function deleteKeys(world: World): Promise<void> {
  const keep = { events: 0, payoutKeys: 0, otherKeys: 31, requests: 0 }
  await createRetention({
    ...{ keep, clock: world.clock, lists: world.store.lists, memory: world.memory() },
    isSteady: () => true,
    pipeline: { submit: (work) => world.submit(work) },
    log: SILENT_LOG,
    pauseMs: 0,
  }).run()
}

/** Two old payouts, two old intents of one payer, one old payment that is open, one young one. */
async function oldBooks(world: World) {
  const old = [await completed(world, 'a'), await completed(world, 'b')]
  old.push(await paid(world), await paid(world, 'u-other'))
  const waits = await intentAt(world, authorized, { user: 'u-open' })
  world.clock.pass(2 * DAY)
  const later = await paid(world, 'u-later')
  world.clock.pass(2 * DAY)
  await deleteKeys(world) // records the age of the keys
  world.clock.pass(40 * DAY)
  await deleteKeys(world)
  world.clock.pass(170 * DAY)
  return { old: [...old, later].sort(), open: waits.id, young: await paid(world) }
}

/** A byte of the header of a SQLite file. */
const WRITE_VERSION = 18
const WITHOUT_WAL = 1

const pools = { requestAll: () => Promise.resolve({ ok: true, value: [] }), missingPools: [] }
const foundOf = async (world: World, id: string) =>
  viewOf<{ data: readonly object[] }>(await read(world, find(pools as never, world.memory(), id)))
    .data

t.test('old payments move to the archive, and the books stay whole', async (t) => {
  const world = await createWorld(t)
  const { old, open, young } = await oldBooks(world)
  const path = archivePath(world)
  const balances = await world.trialBalance()
  t.equal(await audited(world), null)
  t.equal((await countedPayers(world)).filter((payer) => payer === 'u-other').length, 2)
  t.match(await archived(world, path), { moved: old.length, kept: 1 })
  const payers = [USER, USER, 'u-open', 'u-open']
  t.same(await countedPayers(world), payers, 'days and months of the payments that stay')

  t.equal(readFileSync(path)[WRITE_VERSION], WITHOUT_WAL, 'it is read where nothing may be written')
  t.equal(await audited(world), null)
  t.same(await world.trialBalance(), balances)
  for (const id of old) {
    t.match(await foundOf(world, id), [{ id, state: 'archived', archive: path }], id)
  }
  t.match(await foundOf(world, open), [{ id: open, state: 'authorized' }])
  t.match(await foundOf(world, young), [{ id: young, state: 'captured' }])
  t.match(await archived(world, path), { moved: 0, kept: 1 }, 'a second run finds nothing')

  const replayed = await payoutWith(world, 'a')
  t.match(viewOf(replayed), { status: 'processing' }, 'the key of a payout still answers')
  await world.rebuild()
  t.match(viewOf(await payoutWith(world, 'b')), { status: 'processing' })
  t.ok(await world.store.marks.hasInstruction(old[0]!))
  await world.railReports(executed(old.at(-1) as PayoutId, { status: 'returned' }))
  t.equal(await audited(world), null, 'what the rail returns later is a discrepancy')
})

t.test('a crash at any step loses nothing and counts nothing twice', async (t) => {
  const world = await createWorld(t)
  const { old } = await oldBooks(world)
  const path = archivePath(world)
  const balances = await world.trialBalance()
  // Before and after the removal of the intents, then of the payouts.
  for (const steps of [0, 1, 2, 2, 3, Number.POSITIVE_INFINITY]) {
    const done = await archived(world, path, steps)
    t.equal(done instanceof Error, steps < Number.POSITIVE_INFINITY)
    t.equal(await audited(world), null, `killed after step ${steps}`)
    t.same(await world.trialBalance(), balances)
    await world.rebuild()
  }
  const file = await openDatabase(path, { readOnly: true })
  const rows = await file.all<{ id: string }>('SELECT id FROM intents UNION SELECT id FROM payouts')
  await file.close()
  t.same(rows.map(({ id }) => id).sort(), old)
})

t.test('of two first runs with a file each, one is refused before it writes', async (t) => {
  const world = await createWorld(t)
  const { old } = await oldBooks(world)
  const path = archivePath(world)
  const other = await openArchive(join(world.folder, 'archive', 'other.db'))
  const books = booksOf(world, other)
  const early = [await books.page('')]
  t.match(await archived(world, path), { moved: old.length })
  await books.claim()
  const page = (after: string) => Promise.resolve(early.pop()).then((it) => it ?? books.page(after))
  await t.rejects(other.move({ ...books, page }), {
    message: /have another archive, .*payments.db/,
  })
  await other.close()
  t.notOk(existsSync(other.path))
  t.equal(await audited(world), null)
})

t.test('intents of a partner that has come stay', async (t) => {
  const world = await createWorld(t)
  const { old } = await oldBooks(world)
  await inBooks(world.folder, ({ run }) =>
    run(
      `INSERT INTO operator_log (at, actor, reason, action, subject)
        VALUES (?, 'ann', 'size', 'move_partner', 'demo books_2 books_1')`,
      [world.clock.now()],
    ),
  )
  const intents = old.filter((id) => id.startsWith('pi_'))
  const moved = { moved: old.length - intents.length, kept: 1 + intents.length }
  t.match(await archived(world, archivePath(world)), moved, 'their keys are as old as the move')
})

t.test('a payment that has changed since it was read stays', async (t) => {
  const world = await createWorld(t)
  const { old } = await oldBooks(world)
  const [, id = ''] = old
  const archive = { id: 'a'.repeat(32), path: '/archive/payments.db' }
  const remove = (digest: string) => world.run(archivePayments(OPERATOR, archive, [{ id, digest }]))
  t.match(viewOf(await remove('another')), { removed: 0 })
  const many = Array.from({ length: 101 }, () => ({ id, digest: '' }))
  t.equal(codeOf(await world.run(archivePayments(OPERATOR, archive, many))), 'invalid_request')
  t.match(await foundOf(world, id), [{ id, state: /captured|completed/ }])
})

async function damagePage(path: string, table: string): Promise<void> {
  const file = await openDatabase(path)
  const [page] = await file.all<{ start: number; bytes: number }>(
    `SELECT (rootpage - 1) * page_size AS start, page_size AS bytes
      FROM sqlite_schema, pragma_page_size WHERE name = ?`,
    [table],
  )
  await file.close()
  const { start, bytes } = page!
  writeFileSync(path, readFileSync(path).fill(0xff, start, start + bytes))
}

t.test('the audit needs the archive of the books, as it was written', async (t) => {
  const world = await createWorld(t)
  await oldBooks(world)
  const path = archivePath(world)
  await archived(world, path)
  t.equal(await audited(world, join(world.folder, 'lost.db')), 'archive_has_what_left')

  const other = join(world.folder, 'archive', 'other.db')
  t.match(await archived(world, other), { name: 'BackupFault', message: /have another archive/ })
  t.notOk(existsSync(other))
  await (await openArchive(other)).close()
  t.equal(await audited(world, other), 'archive_has_what_left')
  t.equal(await audited(world, join(world.folder, 'archive')), null, 'its folder is enough')

  for (const sql of [
    "UPDATE payouts SET context = replace(context, '\"state\"', '\"State\"') || ' '",
    'DELETE FROM intents WHERE id = (SELECT max(id) FROM intents)',
  ]) {
    const file = await openDatabase(path)
    await file.run(sql)
    await file.close()
    t.equal(await audited(world), 'archive_has_what_left', sql)
  }
  await damagePage(path, 'payouts')
  t.equal(await audited(world), 'files_are_intact', 'a damaged page')
  writeFileSync(path, 'no database')
  t.equal(await audited(world), 'archive_has_what_left', 'another file')
})
