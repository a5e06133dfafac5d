/** A user is erased: its payments, its limits, its list, and what the books still name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { DAY, plus } from '../../src/base/clock.js'
import type { IntentId } from '../../src/base/ids.js'
import { createUserExpiry } from '../../src/processor/background/user_expiry.js'
import { createUserErasures } from '../../src/processor/background/user_erasures.js'
import {
  findUserIntents,
  type FoundIntents,
} from '../../src/processor/commands/intents/user_intents_find.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { expireUsers } from '../../src/processor/commands/partners/users_expire.js'
import { eraseUser, eraseUserStep } from '../../src/processor/commands/partners/user_erase.js'
import { refuse, type Answer } from '../../src/processor/cycle/answer.js'
import {
  findUsersPayment,
  listUserErasures,
} from '../../src/processor/queries/user_erasure_list.js'
import { listUserIntents } from '../../src/processor/queries/user_intent_list.js'
import { TABLES } from '../../src/store/tables.js'
import { inBooks, sqliteOnly } from '../support/books.js'
import { brokenIn } from './audited_world.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  failed,
  type Lifecycle,
  intentAt,
} from './intent_lifecycle.js'
import { dependenciesOf, OPERATOR, read } from './scenarios.js'

const USER = 'maria.garcia'
const MONTH = 31 * DAY

/** @param steps commits until the cycle refuses any further one, as one that stops does */
const erasuresOf = (world: World, steps = Number.POSITIVE_INFINITY) => {
  let left = steps
  return createUserErasures({
    ...dependenciesOf(world),
    pipeline: {
      submit: (work) => {
        left -= 1
        if (left >= 0) world.submit(work)
        else work.reply(refuse('configuration_error'))
      },
    },
    ...{ linksAStep: 2, pauseMs: 0 },
  })
}

const paid = async (world: World, user = USER): Promise<Lifecycle> => {
  const lifecycle = await intentAt(world, captured, { user })
  world.clock.pass(DAY / 2)
  return lifecycle
}

async function lastOf(world: World, user: string): Promise<number> {
  return viewOf<FoundIntents>(await world.run(findUserIntents(DEMO, user))).last
}

async function idsOf(world: World, user: string): Promise<readonly string[]> {
  const list = listUserIntents(DEMO, user, { limit: 100 }, await lastOf(world, user))
  const { data } = viewOf<{ data: { intent_id: string }[] }>(await read(world, list))
  return data.map(({ intent_id }) => intent_id)
}

const paymentOf = async (world: World, user = USER): Promise<Answer> =>
  read(world, findUsersPayment(DEMO, user, await lastOf(world, user)))

async function erase(world: World, user = USER): Promise<string> {
  const { intentId } = viewOf<{ intentId: IntentId }>(await paymentOf(world, user))
  return viewOf<{ id: string }>(await world.run(eraseUser(OPERATOR, DEMO, intentId))).id
}

type Erasure = Readonly<Record<string, unknown>>

const erasures = async (world: World): Promise<readonly Erasure[]> =>
  viewOf<{ data: Erasure[] }>(await read(world, listUserErasures())).data

const erasure = async (world: World): Promise<Erasure> => (await erasures(world))[0]!

/** The tables that have the text. */
const tablesNaming = (world: World, text: string): Promise<readonly string[]> =>
  inBooks(world.folder, async (books) => {
    const named: string[] = []
    for (const { name } of Object.values(TABLES)) {
      const rows = await books.all<Record<string, unknown>>(`SELECT * FROM ${name}`)
      const values = rows.flatMap((row) => Object.values(row))
      if (values.some((value) => String(value).includes(text))) named.push(name)
    }
    return named
  })

t.test('payments of earlier months name the user no more, others wait', async (t) => {
  const world = await createWorld(t)
  await paid(world, 'bob')
  const payments: Lifecycle[] = []
  for (let i = 0; i < 3; i++) payments.push(await paid(world))
  const refused = await intentAt(world, failed, { user: USER })
  world.clock.pass(MONTH)
  const late = await paid(world)
  const open = await beginLifecycle(world, { user: USER })
  const all = [...payments, refused, late, open].map(({ id }) => id).reverse()
  t.same(await idsOf(world, USER), all)
  t.ok((await tablesNaming(world, USER)).includes('limit_usage'))

  const id = await erase(world)
  t.same(await idsOf(world, USER), [], 'the list is no longer found by the user')
  t.match(await erasure(world), { id, tenant: DEMO, status: 'running', payments: 0 })
  t.equal(await brokenIn(world), null, 'none is erased yet')
  await erasuresOf(world).run()
  t.match(await erasure(world), { status: 'waiting', payments: 4, waiting: 2 })
  t.equal(await brokenIn(world), null, 'two wait')
  t.same(await idsOf(world, id), all.slice(2), 'the list is found by the id of the erasure')

  const later = await paid(world)
  t.same(await idsOf(world, USER), [later.id], 'a later payment begins a list')
  await open.timer()
  world.clock.pass(MONTH)
  await world.rebuild()
  t.same(await idsOf(world, USER), [later.id], 'also after a restart')
  await erasuresOf(world).run()
  t.match(await erasure(world), { status: 'ended', payments: 6, waiting: 0 })
  t.equal(await brokenIn(world), null)
  await world.rebuild()
  t.same(await idsOf(world, id), all)
  t.same(await idsOf(world, USER), [later.id])
  t.equal((await idsOf(world, 'bob')).length, 1)
  t.ok((await tablesNaming(world, USER)).includes('intents'), 'the later payment')

  await erase(world)
  await erasuresOf(world).run()
  t.match(await erasure(world), { status: 'ended', payments: 1 }, 'a second time')
  t.equal(await brokenIn(world), null)
  t.same(await tablesNaming(world, USER), [], 'no table names the user')
  t.ok((await world.trialBalance()).balanced)
})

t.test('a step of which one payment must wait after all erases none', async (t) => {
  const world = await createWorld(t)
  const old = await paid(world)
  world.clock.pass(MONTH)
  const open = await beginLifecycle(world, { user: USER })
  const step = { intents: [old.id, open.id], userFingerprints: [] }
  t.equal(codeOf(await world.run(eraseUserStep(await erase(world), step))), 'invalid_request')
  t.match(await erasure(world), { payments: 0 })
  t.equal(world.memory().intents.get(old.id)?.context.userId, USER)
})

t.test('VACUUM leaves no byte of the user', { skip: sqliteOnly('its file') }, async (t) => {
  const world = await createWorld(t)
  await paid(world)
  await intentAt(world, failed, { user: USER })
  const compactedHasUser = async (name: string): Promise<boolean> => {
    const file = join(world.folder, name)
    await inBooks(world.folder, (books) => books.run('VACUUM INTO ?', [file]))
    return readFileSync(file).includes(USER)
  }
  t.ok(await compactedHasUser('before.db'))
  world.clock.pass(MONTH)
  await erase(world)
  await erasuresOf(world).run()
  t.match(await erasure(world), { status: 'ended', payments: 2 })
  t.notOk(await compactedHasUser('after.db'))
})

t.test('an erasure goes on where a crash has ended it, at any commit', async (t) => {
  const world = await createWorld(t)
  const batch = await Promise.all([1, 2].map(() => beginLifecycle(world, { user: USER })))
  for (const lifecycle of batch) await lifecycle.cancel()
  for (let i = 0; i < 3; i++) await paid(world)
  const all = await idsOf(world, USER)
  world.clock.pass(MONTH)
  const id = await erase(world)
  for (let steps = 1; (await erasure(world))['status'] !== 'ended'; steps++) {
    t.ok(steps < 9, 'it ends')
    await erasuresOf(world, 1).run()
    t.equal(await brokenIn(world), null, `after ${steps} commits`)
    await world.rebuild()
    t.same(await idsOf(world, USER), [])
  }
  t.same(await idsOf(world, id), all)
  t.same(await tablesNaming(world, USER), [])
})

t.test('the limits of the current month stay those of the user', async (t) => {
  const world = await createWorld(t)
  /** A quarter of the limit of a day. */
  const confirm = async (): Promise<string> => {
    world.clock.pass(61_000)
    const lifecycle = await beginLifecycle(world, { user: USER })
    const scan = codeOf(await lifecycle.scan('5000000'))
    return scan === 'ok' ? codeOf(await lifecycle.confirm()) : scan
  }
  t.equal(await confirm(), 'ok')
  await erase(world)
  await erasuresOf(world).run()
  t.match(await erasure(world), { status: 'waiting', waiting: 1 })
  for (let i = 0; i < 3; i++) t.equal(await confirm(), 'ok')
  t.equal(await confirm(), 'user_limit_exceeded')
})

t.test('a user whose newest payments are in an archive is erased by an older one', async (t) => {
  const world = await createWorld(t)
  const kept = await intentAt(world, captured, { user: USER })
  const newer: string[] = []
  for (let i = 0; i < 60; i++) newer.push((await beginLifecycle(world, { user: USER })).id)
  const remove = (which: string) =>
    inBooks(world.folder, (books) => books.run(`DELETE FROM intents WHERE ${which}`))
  await remove(`id <> '${kept.id}'`)
  t.same(viewOf(await paymentOf(world)), { intentId: kept.id })
  await remove('true')
  t.equal(codeOf(await paymentOf(world)), 'payment_intent_not_found')
})

t.test('a user without payments cannot be erased, nor by a payment of others', async (t) => {
  const world = await createWorld(t)
  t.equal(codeOf(await paymentOf(world)), 'payment_intent_not_found')
  const lifecycle = await intentAt(world, authorized, { user: USER })
  const other = await world.run(eraseUser(OPERATOR, 'acme_sandbox' as never, lifecycle.id))
  t.equal(codeOf(other), 'payment_intent_not_found')
  await erase(world)
  const again = await world.run(eraseUser(OPERATOR, DEMO, lifecycle.id))
  t.equal(codeOf(again), 'payment_intent_not_found', 'it is being erased')
})

const expiryOf = (world: World, keepDays: number) =>
  createUserExpiry({
    ...dependenciesOf(world),
    ...{ keepDays, isSteady: () => true },
    ...{ usersAtOnce: 2, pauseMs: 0, lookMs: 1 },
  })

/** Both kinds of work at once, as in the processor. */
async function expire(world: World, keepDays = 90): Promise<void> {
  const running = erasuresOf(world)
  let isDone = false
  const expired = expiryOf(world, keepDays)
    .run()
    .finally(() => (isDone = true))
  while (!isDone) {
    await running.run()
    await pause(1)
  }
  await expired
  await running.run()
}

const statuses = async (world: World): Promise<readonly unknown[]> =>
  (await erasures(world)).map(({ status }) => status)

t.test('users without a payment for as long as the setting says are erased', async (t) => {
  const world = await createWorld(t)
  const users = ['u-one', 'u-two', 'u-three', 'u-four', 'u-five']
  for (const user of users) await paid(world, user)
  await paid(world)
  const waits = await intentAt(world, authorized, { user: 'u-open' })
  world.clock.pass(80 * DAY)
  const recent = await paid(world)
  world.clock.pass(30 * DAY)
  await expire(world, 120)
  t.same(await statuses(world), [], 'none is old enough')

  await expire(world)
  const ended = users.map(() => 'ended')
  t.same(await statuses(world), ended)
  t.equal(await brokenIn(world), null)
  for (const user of users) t.same(await tablesNaming(world, user), [], user)
  t.equal((await idsOf(world, USER)).length, 2, 'this user has paid since')
  t.same(await idsOf(world, 'u-open'), [waits.id], 'an open payment waits')
  t.ok((await world.trialBalance()).balanced)

  await world.rebuild()
  await expire(world)
  t.equal((await statuses(world)).length, users.length, 'an erased user is not found again')
  world.clock.pass(60 * DAY)
  await expire(world)
  t.same(await idsOf(world, USER), [], 'the user of the recent payment is old now')
  const { id, payments } = await erasure(world)
  t.equal(payments, 2)
  t.equal((await idsOf(world, String(id)))[0], recent.id)
  t.equal(await brokenIn(world), null)
})

t.test('while the books are read-only, the expiry looks again within an hour', async (t) => {
  const world = await createWorld(t)
  await paid(world)
  world.clock.pass(100 * DAY)
  await world.run(enterRecovery('a test'))
  t.equal(await expiryOf(world, 90).run(), false)
  t.same(await statuses(world), [])
  t.equal(await expiryOf(world, 120).run(), true, 'it has no user to erase')
})

t.test('a user who pays while the expiry looks keeps the name', async (t) => {
  const world = await createWorld(t)
  const first = await paid(world)
  world.clock.pass(100 * DAY)
  const number = await lastOf(world, USER)
  const payments = [{ id: first.id, number }]
  await paid(world)
  const before = plus(world.clock.now(), -90 * DAY)
  t.same(viewOf(await world.run(expireUsers(payments, before))), { users: 0 })
  t.equal((await idsOf(world, USER)).length, 2)
})
