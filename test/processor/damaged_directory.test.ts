/**
 * Damaged rows of partners, signing keys, callers and discrepancies: the processor starts, refuses
 * what needs the row, and changes none. What all answers depend on stops the start instead.
 */
import t, { type Test } from 'tap'
import { storedCaller } from '../../src/processor/cache/stored_callers.js'
import { isActiveKey } from '../../src/processor/cache/tenant_directory.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { revokeKey } from '../../src/processor/commands/partners/key_revoke.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import {
  encryptedRowsPage,
  type EncryptedRowsPage,
} from '../../src/processor/queries/encrypted_rows_page.js'
import { reencryptSecretRows } from '../../src/processor/commands/partners/secrets_reencrypt.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import type { KeyId, PartnerId } from '../../src/base/ids.js'
import { stageCaller } from '../../src/processor/changes/callers.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { rawBooks } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, MASTER, viewOf, type World } from '../support/world.js'
import { executed, OPERATOR, pay, read, readAll } from './scenarios.js'

/** While the processor is stopped; then it starts. */
async function damage(t: Test, world: World, sql: string): Promise<void> {
  const books = await rawBooks(t.testdirName)
  await books.run(sql)
  await books.close()
  await world.rebuild()
}

async function rowsOf(t: Test, table: string): Promise<unknown[]> {
  const books = await rawBooks(t.testdirName)
  const rows = await books.all(`SELECT * FROM ${table}`)
  await books.close()
  return rows
}

async function sealedSecretOf(t: Test, id: KeyId): Promise<string | undefined> {
  const rows = (await rowsOf(t, 'signing_keys')) as { id: string; sealed_secret: string }[]
  return rows.find((row) => row.id === id)?.sealed_secret
}

const OTHER = 'other' as PartnerId

const PARTNER_DAMAGES = {
  'addresses that are not JSON': "allowed_ips = '[\"10.0.0.0/8'",
  'addresses that are no list': "allowed_ips = '{}'",
  'packages cut short': "packages = '['",
  'corridors that are no texts': "corridors = '[1]'",
  'empty corridors': "corridors = ''",
} as const

for (const [what, change] of Object.entries(PARTNER_DAMAGES)) {
  t.test(`a partner with ${what} counts as suspended, others pay`, async (t) => {
    const world = await createWorld(t)
    viewOf(await world.run(createPartner(OPERATOR, OTHER, { corridors: [], withFunds: false })))
    await damage(t, world, `UPDATE partners SET ${change} WHERE id = '${OTHER}'`)
    const before = await rowsOf(t, 'partners')

    const entry = world.memory().partners.get(OTHER)
    t.match(entry, { suspended: true, isCorrupt: true, allowedIps: ['0.0.0.0/32'] })
    t.ok((await world.run(createIntent(DEMO, anIntent()))).ok, 'another partner is served')
    for (const change of [
      { kind: 'resume' },
      { kind: 'allowed_ips', values: ['10.0.0.0/8'] },
    ] as const) {
      t.equal(codeOf(await world.run(changePartner(OPERATOR, OTHER, change))), 'internal_error')
    }
    t.same(await rowsOf(t, 'partners'), before, 'its row is unchanged')
  })
}

t.test('a signing key that cannot be decrypted counts as revoked', async (t) => {
  const world = await createWorld(t)
  const [first] = [...world.memory().keys.values()]
  const issued = viewOf<{ key_id: KeyId }>(await world.run(issueKey(OPERATOR, DEMO))).key_id
  const id = first!.id
  await damage(
    t,
    world,
    `UPDATE signing_keys SET sealed_secret = (SELECT sealed_secret FROM signing_keys
      WHERE id = '${issued}') WHERE id = '${id}'`,
  )

  const { keys } = world.memory()
  t.match(keys.get(id), { isCorrupt: true, isRevoked: true, secret: '' })
  t.notOk(isActiveKey(keys.get(id)!, world.clock.now()))
  t.ok(isActiveKey(keys.get(issued)!, world.clock.now()), 'the other key is active')
  t.equal(codeOf(await world.run(revokeKey(OPERATOR, id))), 'signing_key_revoked')

  const before = await sealedSecretOf(t, id)
  await world.rebuildWith([{ kid: 'k2', bytes: Buffer.alloc(32, 8) }, MASTER])
  const page = viewOf<EncryptedRowsPage>(await read(world, encryptedRowsPage(false, undefined)))
  t.same([...page.ids].sort(), [id, issued].sort())
  t.match(viewOf(await world.run(reencryptSecretRows(OPERATOR, page))), { corrupt: [id] })
  t.equal(await sealedSecretOf(t, id), before, 'its row is unchanged')
  t.not(await sealedSecretOf(t, issued), before, 'the other one is re-encrypted')
})

t.test('a caller whose row cannot be read counts as revoked', async (t) => {
  const row = {
    ...{ name: 'ledger', kind: 'service', roles: [], partners: ['demo'], certificate: 'ledger' },
    ...{ tokens: [{ digest: 'd', created_at: 1, ends_at: null }], created_at: 7 },
    revoked_at: null,
  }
  t.equal(storedCaller(row).revokedAt, null)
  t.equal(storedCaller({ ...row, partners: null }).caller.partners, null, 'all partners')
  for (const damaged of [
    { ...row, partners: undefined },
    { ...row, roles: undefined },
    { ...row, tokens: undefined },
    { ...row, tokens: 7 },
  ]) {
    t.match(storedCaller(damaged), {
      ...{ caller: { partners: [], roles: [] }, tokens: [] },
      ...{ revokedAt: 7, isCorrupt: true },
    })
  }
  const world = await createWorld(t)
  const corrupt = storedCaller({ ...row, partners: undefined })
  world.memory().callers.set('ledger', corrupt)
  const change: Command = {
    name: 'rotate_caller',
    needs: () => undefined,
    decide: (ctx) => {
      stageCaller(ctx, { ...corrupt, revokedAt: null })
      return answer({})
    },
  }
  t.equal(codeOf(await world.run(change)), 'internal_error')
})

t.test('a discrepancy whose report cannot be read is not settled', async (t) => {
  const world = await createWorld(t)
  const { id } = await pay(world)
  for (const transactionId of ['TX1', 'TX2', 'TX3'])
    await world.railReports(executed(id, { transactionId }))
  const list = () =>
    readAll<{ id: string; report: string }>(world, (page) =>
      listDiscrepancies({ resolved: false, ...page }),
    )
  const [damaged, whole] = await list()
  await damage(
    t,
    world,
    `UPDATE discrepancies SET report = substr(report, 1, 9) WHERE id = '${damaged!.id}'`,
  )
  t.same(
    (await list()).map((each) => each.id),
    [damaged!.id, whole!.id],
    'lists have both',
  )
  const settle = (id: string) =>
    world.run(resolveDiscrepancy(OPERATOR, id, { settlement: 'keep', evidence: 'a statement' }))
  t.equal(codeOf(await settle(damaged!.id)), 'internal_error')
  t.equal(codeOf(await settle(whole!.id)), 'ok', 'the processor goes on')
})

for (const value of ['', 'ab', 'x'.repeat(64)]) {
  t.test(`a damaged salt of nonces (${value.length}) stops the start`, async (t) => {
    const world = await createWorld(t)
    const change = `UPDATE meta SET value = '${value}' WHERE name = 'nonce_salt'`
    await t.rejects(damage(t, world, change), /nonce_salt in meta is damaged/)
  })
}

t.test('a damaged number of fingerprints stops the start with a sentence', async (t) => {
  const world = await createWorld(t)
  viewOf(await world.run(createIntent(DEMO, anIntent({ idempotency_key: 'one' }))))
  const change = 'UPDATE idempotency_prints SET first = 9223372036854775807'
  await t.rejects(damage(t, world, change), /a row of idempotency_prints has the number .* damaged/)
})
