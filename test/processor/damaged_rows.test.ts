/** Corrupt rows: only the commands that need one fail; everything else continues. */
import t from 'tap'
import { createTimers } from '../../src/processor/background/timers.js'
import type { EndpointId } from '../../src/base/ids.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_delete.js'
import {
  getWebhookEndpoint,
  listWebhookEndpoints,
} from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_get.js'
import { switchWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_switch.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { approvePayout } from '../../src/processor/commands/payouts/payout_review.js'
import { getPayout } from '../../src/processor/commands/payouts/payout_get.js'
import { reencryptSecretRows } from '../../src/processor/commands/partners/secrets_reencrypt.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import { showIntent } from '../../src/processor/queries/intent_show.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import { showPayout } from '../../src/processor/queries/payout_show.js'
import {
  encryptedRowsPage,
  type EncryptedRowsPage,
} from '../../src/processor/queries/encrypted_rows_page.js'
import { listUserIntents } from '../../src/processor/queries/user_intent_list.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import type { MasterKey } from '../../src/auth/master_key.js'
import { changeContexts } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { codeOf, createWorld, DEMO, MASTER, viewOf } from '../support/world.js'
import { damage, rowsOf } from './damaged_world.js'
import { authorized, beginLifecycle, captured, scanned, intentAt } from './intent_lifecycle.js'
import {
  executed,
  idsOf,
  OPERATOR,
  pay,
  payout,
  payoutTo,
  read,
  readAll,
  readRawJson,
} from './scenarios.js'
import { aPayout } from '../support/requests.js'

const HALF_AN_HOUR = 1_800_000

/** Its account number cannot be decrypted. */
const unsealable = (context: string): string =>
  context.replace(/"sealedAccount":"[^"]*"/, '"sealedAccount":"k1.AAAA"')

t.test('a corrupt actor is reported and skipped, all others continue', async (t) => {
  const world = await createWorld(t)
  world.setRail(false)
  const [unread, sealed, whole] = [
    (await pay(world)).id,
    (await pay(world)).id,
    (await pay(world)).id,
  ]
  const intent = (await beginLifecycle(world)).id
  await damage(world, async (books) => {
    await changeContexts(books, 'payouts', () => '{', unread)
    await changeContexts(books, 'intents', () => '', intent)
    await changeContexts(books, 'payouts', unsealable, sealed)
  })
  const damagedRows = async (): Promise<{ id: string }[]> =>
    (await rowsOf<{ id: string }>(world, 'payouts'))
      .filter(({ id }) => id !== whole)
      .sort((a, b) => a.id.localeCompare(b.id))
  const kept = await damagedRows()
  world.setRail(true)
  world.clock.pass(HALF_AN_HOUR)
  const timers = createTimers({
    clock: world.clock,
    store: world.store,
    pipeline: { submit: world.submit },
    rail: { up: () => true },
    memory: world.memory(),
    corruptRows: world.memory().corruptRows,
    log: SILENT_LOG,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  })
  timers.start()
  await eventually('the intact payout is submitted', () => world.railInstructions.length > 0)
  await eventually('three actors are reported corrupt', () => timers.corruptActors === 3)
  await timers.stop()
  t.match(world.railInstructions, [{ kind: 'instruct', instruction: { id: whole } }])
  t.equal(timers.corruptActors, 3, 'each one once')
  t.same(await damagedRows(), kept, 'corrupt rows are unchanged')
  t.ok((await world.run(createPayout(DEMO, payout()))).ok, 'other payouts are accepted')
})

const WAYS = {
  'not JSON': () => '{',
  truncated: (context: string) => context.slice(0, context.length / 2),
  'with the id of another row': (context: string) =>
    JSON.stringify({ ...(JSON.parse(context) as object), id: 'pi_other' }),
  'with an impossible moment': (context: string) =>
    context.replace(/"createdAt":\d+/, '"createdAt":1000000000000000000'),
  'not an object': () => '1',
  null: () => 'null',
} as const

for (const [way, change] of Object.entries(WAYS)) {
  t.test(`a corrupt context (${way}) fails its own reads and no list`, async (t) => {
    const world = await createWorld(t)
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      ids.push((await pay(world)).id)
      world.clock.pass(1)
    }
    const corrupt = ids[2]!
    await damage(world, (books) => changeContexts(books, 'payouts', change, corrupt))
    t.equal(codeOf(await world.run(getPayout(DEMO, corrupt))), 'internal_error')
    t.equal(codeOf(await world.run(getPayout(DEMO, ids[1]!))), 'ok')
    t.equal(world.memory().corruptRows.count, 1)
    const whole = ids.filter((id) => id !== corrupt).reverse()
    const list = (limit: number): Promise<{ id: string }[]> =>
      readAll(world, (page) => listPayouts(DEMO, { limit, ...page }))
    for (const limit of [1, 2, 3, 100]) {
      t.same(idsOf(await list(limit)), whole, `pages of ${limit}`)
    }
    const again = await readRawJson(world, listPayouts(DEMO, {}))
    t.notMatch(JSON.stringify(again), corrupt, 'lists omit the corrupt payout')
    const record = viewOf<object>(await read(world, showPayout(corrupt)))
    t.match(record, { corrupt: true, payout: { id: corrupt, status: 'processing' } })
    t.match(JSON.stringify(record), 'payout_accepted', 'its ledger entries are shown')
    t.ok((await world.run(createPayout(DEMO, payout()))).ok, 'other payouts are accepted')
  })

  t.test(`a corrupt intent (${way}) is left out of its user's list`, async (t) => {
    const world = await createWorld(t)
    const first = await beginLifecycle(world)
    const second = await first.another()
    const third = await second.another()
    await captured(third)
    await damage(world, (books) => changeContexts(books, 'intents', change, second.id))
    for (const limit of [1, 2, 100]) {
      const found = await readAll<{ intent_id: string }>(world, (page) =>
        listUserIntents(DEMO, first.user, { limit, ...page }, world.memory().lastIntentNumber),
      )
      t.same(
        found.map(({ intent_id }) => intent_id),
        [third.id, first.id],
      )
    }
    for (const call of [second.get, second.scan, second.confirm, second.cancel, second.refund]) {
      t.equal(codeOf(await call()), 'internal_error')
    }
    await second.recallRefused()
    await world.railReports({ status: 'not_found', id: second.id, reportId: null })
    t.equal(codeOf(await second.timer()), 'internal_error')
    t.match(viewOf(await read(world, showIntent(second.id))), {
      corrupt: true,
      intent: { intent_id: second.id, status: 'created' },
    })
    t.ok((await first.get()).ok, 'the process keeps serving')
  })
}

t.test('operators see a corrupt held payout in the list', async (t) => {
  const world = await createWorld(t)
  const held = async (): Promise<string> => (await pay(world, { reference: 'sandbox:review' })).id
  const whole = await held()
  world.clock.pass(1)
  const corrupt = await held()
  await damage(world, (books) => changeContexts(books, 'payouts', () => '', corrupt))
  t.match(await readAll(world, (page) => listHeldPayouts({ limit: 1, ...page })), [
    { payout: { id: whole } },
    { corrupt, tenant: DEMO },
  ])
  t.equal(codeOf(await world.run(approvePayout(OPERATOR, corrupt))), 'internal_error')
})

t.test('an account number that cannot be decrypted affects its own payout only', async (t) => {
  const world = await createWorld(t)
  const held = (await pay(world, { reference: 'sandbox:review' })).id
  const out = (await pay(world)).id
  const lifecycle = await intentAt(world, scanned)
  const intentOut = await intentAt(world, authorized)
  const { beneficiary } = aPayout()
  const { id: stored } = viewOf<{ id: string }>(
    await world.run(createBeneficiary(DEMO, beneficiary as never)),
  )
  world.railInstructions.length = 0
  await damage(world, async (books) => {
    await changeContexts(books, 'payouts', unsealable)
    await changeContexts(books, 'intents', unsealable)
    await books.run("UPDATE beneficiaries SET sealed_account = 'k1.AAAA' WHERE id = ?", [stored])
  })
  const events = world.events.length
  for (const code of [
    codeOf(await world.run(approvePayout(OPERATOR, held))),
    codeOf(await lifecycle.confirm()),
    codeOf(await world.run(createPayout(DEMO, payoutTo(stored)))),
  ]) {
    t.equal(code, 'internal_error')
  }
  for (const id of [out, intentOut.id] as const) {
    await world.railReports({ status: 'not_found', id: id as never, reportId: null })
  }
  await world.railReports(executed(out))
  t.same(
    world.railInstructions,
    [],
    'nothing is sent, and a report that cannot be compared is not acknowledged',
  )
  t.equal(world.events.length, events, 'no event is published')
  t.equal(world.memory().corruptRows.count, 5)
  t.ok((await world.run(createPayout(DEMO, payout()))).ok, 'other payouts are accepted')
  t.ok((await world.trialBalance()).balanced)
})

t.test(
  're-encryption lists corrupt rows, re-encrypts the others and keeps the old key',
  async (t) => {
    const world = await createWorld(t)
    const [whole, unread, sealed] = [
      (await pay(world)).id,
      (await pay(world)).id,
      (await pay(world)).id,
    ]
    await damage(world, async (books) => {
      await changeContexts(books, 'payouts', () => '{', unread)
      await changeContexts(books, 'payouts', unsealable, sealed)
    })
    const second: MasterKey = { kid: 'k2', bytes: Buffer.alloc(32, 8) }
    await world.rebuildWith([second, MASTER])
    const corrupt: string[] = []
    let cursor: string | undefined
    do {
      const slice = viewOf<EncryptedRowsPage>(await read(world, encryptedRowsPage(false, cursor)))
      const done = viewOf<{ corrupt: string[]; next_cursor?: string }>(
        await world.run(reencryptSecretRows(OPERATOR, slice)),
      )
      corrupt.push(...done.corrupt)
      cursor = done.next_cursor
    } while (cursor !== undefined)
    t.same(corrupt.sort(), [unread, sealed].sort())
    const rows = await rowsOf<{ id: string; context: string }>(world, 'payouts')
    const { context } = rows.find(({ id }) => id === whole)!
    t.match(context, '"sealedAccount":"v1.k2.', 'the other rows are re-encrypted')
    const masters = await rowsOf<{ emptied_at: number | null }>(world, 'master_keys')
    t.same(
      masters.filter(({ emptied_at }) => emptied_at !== null),
      [],
    )
  },
)

const ENDPOINT_DAMAGES = {
  'a filter that is not JSON': "enabled_events = '[\"*'",
  'a filter that is no list': "enabled_events = '{}'",
  'secrets that are not JSON': 'secrets = substr(secrets, 1, 30)',
  'secrets that are no list': "secrets = '7'",
  'an impossible moment': 'created_at = 1000000000000000000',
  'a moment before all': 'disabled_at = -5',
  'a secret that cannot be decrypted': `secrets = replace(secrets, '"sealed":"', '"sealed":"x')`,
} as const

for (const [what, change] of Object.entries(ENDPOINT_DAMAGES)) {
  t.test(`a webhook endpoint with ${what} is set apart`, async (t) => {
    const world = await createWorld(t)
    const add = async (): Promise<string> => {
      const request = { url: 'https://example.com/hooks', enabled_events: [] }
      return viewOf<{ id: string }>(await world.run(createWebhookEndpoint(DEMO, request))).id
    }
    const [corrupt, whole] = [await add(), await add()]
    await damage(world, (books) =>
      books.run(`UPDATE webhook_endpoints SET ${change} WHERE id = ?`, [corrupt]),
    )
    const known = world.memory().endpoints.get(corrupt as EndpointId)
    t.match(known, { status: 'disabled', disabledReason: 'corrupt', secrets: [] })
    for (const command of [
      getWebhookEndpoint(DEMO, corrupt),
      switchWebhookEndpoint(DEMO, corrupt, 'enabled'),
      deleteWebhookEndpoint(DEMO, corrupt),
    ]) {
      t.equal(codeOf(await world.run(command)), 'internal_error')
    }
    const { data } = viewOf<{ data: { id: string }[] }>(await world.run(listWebhookEndpoints(DEMO)))
    t.same(idsOf(data), [whole])
    t.equal(codeOf(await world.run(deleteWebhookEndpoint(DEMO, whole))), 'ok')
    t.equal(world.memory().corruptRows.count, 1)
  })
}
