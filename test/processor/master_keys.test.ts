/**
 * Rotation of master keys: values encrypted, hashed and signed with an older key stay valid, and a
 * start without a key that is still needed is refused.
 */
import t, { type Test } from 'tap'
import type { MasterKey, MasterKeys } from '../../src/auth/master_key.js'
import type { PayoutId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import {
  countSealed,
  reencryptSecretRows,
} from '../../src/processor/commands/partners/secrets_reencrypt.js'
import { openKeyring } from '../../src/processor/master_keys/keyring.js'
import { listBalanceTransactions } from '../../src/processor/queries/balance_transaction_list.js'
import {
  encryptedRowsPage,
  type EncryptedRowsPage,
} from '../../src/processor/queries/encrypted_rows_page.js'
import { inBooks } from '../support/books.js'
import { anIntent, aPayout } from '../support/requests.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { anEndpoint } from './webhook_endpoints.js'
import { codeOf, createWorld, DEMO, MASTER, viewOf, type World } from '../support/world.js'
import { beginLifecycle } from './intent_lifecycle.js'
import {
  executed,
  operatorLog,
  OPERATOR,
  payoutTo,
  read,
  see,
  runOnBothStores,
  type PayoutView,
  approve,
} from './scenarios.js'

const OLD = MASTER
const NEW: MasterKey = { kid: 'k2', bytes: Buffer.alloc(32, 9) }
const MINUTE = 60_000

interface PageView {
  readonly found: readonly { readonly kid: string; readonly values: number }[]
  readonly keys: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor?: string
}

const slice = async (world: World, isCount: boolean, cursor?: string): Promise<EncryptedRowsPage> =>
  viewOf<EncryptedRowsPage>(await read(world, encryptedRowsPage(isCount, cursor)))

const reencryptPage = async (world: World, cursor?: string): Promise<PageView> =>
  viewOf(await world.run(reencryptSecretRows(OPERATOR, await slice(world, false, cursor))))

/** Runs a command for each page. @returns what they answer */
async function eachPage(
  world: World,
  isCount: boolean,
  command: (page: EncryptedRowsPage) => Command | Promise<Command>,
): Promise<PageView[]> {
  const done: PageView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await slice(world, isCount, cursor)
    const view = viewOf<PageView>(await world.run(await command(page)))
    done.push(view)
    if (view.next_cursor === undefined) return done
    cursor = view.next_cursor
  }
}

/** @returns the keys after the last page */
const reencrypt = async (world: World): Promise<PageView['keys']> =>
  (await eachPage(world, false, (page) => reencryptSecretRows(OPERATOR, page))).at(-1)!.keys

async function count(world: World): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const found = (await eachPage(world, true, countSealed)).flatMap((page) => page.found)
  for (const { kid, values } of found) counts[kid] = (counts[kid] ?? 0) + values
  return counts
}

/** Past the longest lifetime of a token of the old key. */
async function rotate(world: World): Promise<void> {
  await world.rebuildWith([NEW, OLD])
  await reencrypt(world)
  world.clock.pass(15 * MINUTE)
  await world.rebuildWith([NEW])
}

const BENEFICIARY = aPayout().beneficiary ?? null
const beneficiary = async (world: World): Promise<string> =>
  viewOf<{ id: string }>(await world.run(createBeneficiary(DEMO, BENEFICIARY))).id

const held = async (world: World, beneficiaryId: string): Promise<string> => {
  const request = payoutTo(beneficiaryId, { reference: 'sandbox:review' })
  return viewOf<PayoutView>(await world.run(createPayout(DEMO, request))).id
}

const accountsOf = (world: World): string[] =>
  world.railInstructions.flatMap((railInstruction) =>
    railInstruction.kind === 'instruct' ? [railInstruction.instruction.destination.account] : [],
  )

/** Changes the books while the processor is stopped. */
const plant = (t: Test, sql: string): Promise<void> =>
  inBooks(t.testdirName, (books) => books.exec(sql))

runOnBothStores({
  'an older key can be removed when nothing is encrypted with it': async (t, world) => {
    const lifecycle = await beginLifecycle(world)
    viewOf(await lifecycle.scan())
    const id = await held(world, await beneficiary(world))
    const key = viewOf<{ secret: string }>(await world.run(issueKey(OPERATOR, DEMO)))
    const { made: endpoint } = await anEndpoint(world)
    // Two signing keys, a webhook secret, a beneficiary, its payout and a scanned intent.
    t.same(await count(world), { k1: 6 })

    await world.rebuildWith([NEW, OLD])
    t.same(await count(world), { k1: 6 }, 'a new first key re-encrypts nothing by itself')
    const before = world.railInstructions.length
    const sequence = world.memory().lastPosition
    const [first, second] = await reencrypt(world)
    t.match(first, { kid: 'k2', in_file: true, sealing_since: '2026-11-21T03:00:00.000Z' })
    const removable = { kid: 'k1', in_file: true, removable_from: '2026-11-21T03:15:00.000Z' }
    t.match(second, removable, 'once the last token it signed has expired')
    t.same(await count(world), { k2: 6 })
    t.equal(world.railInstructions.length, before, 'nothing is sent to the rail')
    t.equal(world.memory().lastPosition, sequence, 'no event is published')
    t.match((await operatorLog(t)).slice(-2), [
      { action: 'reencrypt_begun', subject: 'k2' },
      { action: 'reencrypt_done', subject: 'k2' },
    ])

    world.clock.pass(15 * MINUTE)
    await world.rebuildWith([NEW])
    viewOf(await approve(world, id))
    viewOf(await lifecycle.scan())
    viewOf(await lifecycle.confirm())
    const accounts = ['0123456789', '0066812345678']
    t.same(accountsOf(world), accounts, 'account numbers are decrypted for the rail')
    const secrets = [...world.memory().keys.values()].map(({ secret }) => secret)
    t.ok(secrets.includes(key.secret), 'the signing secret is unchanged')
    const endpoints = [...world.memory().endpoints.values()]
    t.match(endpoints, [{ id: endpoint.id, secrets: [{ secret: endpoint.secret }] }])
  },

  'a webhook endpoint deleted long ago does not block a rotation': async (t, world) => {
    const [bare, withSecret] = [await anEndpoint(world), await anEndpoint(world)]
    viewOf(await bare.remove())
    await plant(t, `UPDATE webhook_endpoints SET status = 'deleted' WHERE id = '${withSecret.id}'`)
    world.clock.pass(60 * 24 * 60 * MINUTE)
    await rotate(world)
    // The partner's signing key, and the previous secret.
    t.same(await count(world), { k2: 2 })
  },

  'replays are byte for byte the same': async (t, world) => {
    const intent = anIntent({ idempotency_key: 'intent-1' })
    const payout = aPayout({ idempotency_key: 'payout-1' })
    const answers = async (): Promise<string[]> => [
      JSON.stringify(viewOf(await world.run(createIntent(DEMO, intent)))),
      JSON.stringify(viewOf(await world.run(createPayout(DEMO, payout)))),
      JSON.stringify(viewOf(await read(world, listBalanceTransactions(DEMO, { limit: 100 })))),
    ]
    const first = await answers()
    await rotate(world)
    t.same(await answers(), first)
    const other = createPayout(DEMO, { ...payout, reference: 'another' })
    t.equal(codeOf(await world.run(other)), 'duplicate_payout')

    const kids = world.vault.tokenSecrets.map(({ kid }) => kid)
    t.same(kids, ['k2'], 'gateways refuse tokens of a removed key')
    t.equal(world.vault.tokenKeys.current, 'k2')
  },

  'an interrupted run starts again': async (t, world) => {
    const beneficiaries = Array.from({ length: 450 }, () => createBeneficiary(DEMO, BENEFICIARY))
    await world.runAll(beneficiaries)
    await world.rebuildWith([NEW, OLD])
    // A page of signing keys, one of endpoints, and the first of beneficiaries.
    let started = await reencryptPage(world)
    for (let i = 0; i < 2; i++) started = await reencryptPage(world, started.next_cursor)
    t.same(await count(world), { k2: 201, k1: 250 })

    await world.rebuildWith([NEW, OLD])
    await t.rejects(world.rebuildWith([NEW]), /lacks k1, which encrypts stored secrets/)
    const counted = await read(world, encryptedRowsPage(true, started.next_cursor))
    t.equal(codeOf(counted), 'invalid_request', 'a cursor of a count is refused')
    await world.rebuildWith([OLD, NEW])
    const turned = await read(world, encryptedRowsPage(false, started.next_cursor))
    t.equal(codeOf(turned), 'invalid_request', 'a cursor of a run to another key is refused')

    await world.rebuildWith([NEW, OLD])
    await reencrypt(world)
    t.same(await count(world), { k2: 451 })
    await reencrypt(world)
    t.same(await count(world), { k2: 451 }, 'a second run too')
  },

  'a payout that copies its beneficiary during a run is re-encrypted': async (t, world) => {
    const known = await beneficiary(world)
    await world.rebuildWith([NEW, OLD])
    const copies: string[] = []
    await eachPage(world, false, async (seen) => {
      copies.push(await held(world, known))
      return reencryptSecretRows(OPERATOR, seen)
    })
    t.same(await count(world), { k2: 2 + copies.length })
    await world.rebuildWith([NEW])
    for (const id of copies) viewOf(await approve(world, id))
    t.same(new Set(accountsOf(world)), new Set(['0123456789']))
    t.equal(accountsOf(world).length, copies.length)
  },

  'an actor in memory continues with re-encrypted values': async (t, world) => {
    const id = (await held(world, await beneficiary(world))) as PayoutId
    await world.rebuildWith([NEW, OLD])
    viewOf(await approve(world, id))
    await reencrypt(world)
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'completed' })
    t.same(await count(world), { k2: 3 })
  },

  'rotation back to the older key': async (t, world) => {
    await world.rebuildWith([NEW, OLD])
    await reencrypt(world)
    await world.rebuildWith([OLD, NEW])
    viewOf(await world.run(issueKey(OPERATOR, DEMO)))
    await t.rejects(world.rebuildWith([NEW]), /lacks k1/, 'the older key encrypts again')
    const keys = await reencrypt(world)
    t.match(keys, [{ kid: 'k1' }, { kid: 'k2', emptied_at: String }])
    await world.rebuildWith([OLD])
    t.same(await count(world), { k1: 2 })
  },
})

t.test('a key removed before its tokens expire is logged', async (t) => {
  const world = await createWorld(t)
  await world.rebuildWith([NEW, OLD])
  await reencrypt(world)
  const cutOff = async (masters: MasterKeys): Promise<readonly string[]> =>
    (await openKeyring(world.store, masters, systemRandom(), world.clock.now())).cutOff
  t.same(await cutOff([NEW, OLD]), [])
  world.clock.pass(15 * MINUTE - 1)
  t.same(await cutOff([NEW]), ['k1'])
  world.clock.pass(1)
  t.same(await cutOff([NEW]), [])
})

t.test('a key with a known id and other bytes is refused', async (t) => {
  const world = await createWorld(t)
  const changed: MasterKeys = [{ kid: 'k1', bytes: Buffer.alloc(32, 1) }]
  const differs = /master key k1 in the file differs from the one that encrypted/
  await t.rejects(world.rebuildWith(changed), differs)
  await world.rebuildWith([NEW, OLD])
  await t.rejects(world.rebuildWith([NEW, ...changed]), differs)
})

t.test('books older than the record of keys need all their keys', async (t) => {
  const world = await createWorld(t)
  const payout = createPayout(DEMO, aPayout())
  viewOf(await world.run(payout))
  await plant(t, 'DELETE FROM master_keys; DELETE FROM lasting_keys;')
  await world.rebuildWith([NEW, OLD])
  t.match(await world.run(payout), { ok: true, replayed: true }, 'hashes use the oldest key')
  await t.rejects(world.rebuildWith([NEW]), /lacks k1/)
})
