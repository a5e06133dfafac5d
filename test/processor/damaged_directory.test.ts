/**
 * Damaged rows of partners, signing keys, callers and discrepancies: the processor starts, refuses
 * what needs the row, and changes none. What all answers depend on stops the start instead.
 */
import t from 'tap'
import { storedCaller } from '../../src/processor/cache/stored_callers.js'
import { isActiveKey } from '../../src/processor/cache/tenant_directory.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getAccount } from '../../src/processor/commands/partners/account_get.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { revokeKey } from '../../src/processor/commands/partners/key_revoke.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import {
  approveRequest,
  rejectRequest,
} from '../../src/processor/commands/approvals/approval_request_decide.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { listRates } from '../../src/processor/commands/operators/rates_list.js'
import {
  listSubmissionPauses,
  pauseSubmissions,
  resumeSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { THB } from '../../src/money/currency.js'
import { usableRate } from '../../src/quotes/rates.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import {
  encryptedRowsPage,
  type EncryptedRowsPage,
} from '../../src/processor/queries/encrypted_rows_page.js'
import { reencryptSecretRows } from '../../src/processor/commands/partners/secrets_reencrypt.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import { tenantOf, type KeyId, type PartnerId } from '../../src/base/ids.js'
import { stageCaller } from '../../src/processor/changes/callers.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import { anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, MASTER, viewOf, type World } from '../support/world.js'
import { linksIn } from './approval_cases.js'
import { damage, rowsOf } from './damaged_world.js'
import { execution, restored } from './recovery/orphans.js'
import { executed, OPERATOR, pay, read, readAll } from './scenarios.js'

async function sealedSecretOf(world: World, id: KeyId): Promise<string | undefined> {
  const rows = await rowsOf<{ id: string; sealed_secret: string }>(world, 'signing_keys')
  return rows.find((row) => row.id === id)?.sealed_secret
}

const secondOperatorOf = (text: string) =>
  rulesOf(readSettings({ SECOND_OPERATOR_FROM: text }, '')).secondOperator

const OTHER = 'other' as PartnerId

const PARTNER_DAMAGES = {
  'addresses that are not JSON': "allowed_ips = '[\"10.0.0.0/8'",
  'addresses that are no list': "allowed_ips = '{}'",
  'packages cut short': "packages = '['",
  'corridors that are no texts': "corridors = '[1]'",
  'empty corridors': "corridors = ''",
  'an impossible moment': 'created_at = 1000000000000000000',
  'a moment before all': 'created_at = -5',
} as const

for (const [what, change] of Object.entries(PARTNER_DAMAGES)) {
  t.test(`a partner with ${what} counts as suspended, others pay`, async (t) => {
    const world = await createWorld(t)
    viewOf(await world.run(createPartner(OPERATOR, OTHER, { corridors: [], withFunds: false })))
    await damage(world, `UPDATE partners SET ${change} WHERE id = '${OTHER}'`)
    const before = await rowsOf(world, 'partners')

    const entry = world.memory().partners.get(OTHER)
    t.match(entry, { suspended: true, isCorrupt: true, allowedIps: ['0.0.0.0/32'] })
    t.ok((await world.run(getAccount(tenantOf(OTHER, 'sandbox')))).ok, 'its account is shown')
    t.ok((await world.run(createIntent(DEMO, anIntent()))).ok, 'another partner is served')
    for (const change of [
      { kind: 'resume' },
      { kind: 'allowed_ips', values: ['10.0.0.0/8'] },
    ] as const) {
      t.equal(codeOf(await world.run(changePartner(OPERATOR, OTHER, change))), 'internal_error')
    }
    t.same(await rowsOf(world, 'partners'), before, 'its row is unchanged')
  })
}

t.test('a signing key that cannot be decrypted counts as revoked', async (t) => {
  const world = await createWorld(t)
  const [first] = [...world.memory().keys.values()]
  const issued = viewOf<{ key_id: KeyId }>(await world.run(issueKey(OPERATOR, DEMO))).key_id
  const id = first!.id
  await damage(
    world,
    `UPDATE signing_keys SET sealed_secret = (SELECT sealed_secret FROM signing_keys
      WHERE id = '${issued}') WHERE id = '${id}'`,
  )

  const { keys } = world.memory()
  t.match(keys.get(id), { isCorrupt: true, isRevoked: true, secret: '' })
  t.notOk(isActiveKey(keys.get(id)!, world.clock.now()))
  t.ok(isActiveKey(keys.get(issued)!, world.clock.now()), 'the other key is active')
  t.equal(codeOf(await world.run(revokeKey(OPERATOR, id))), 'signing_key_revoked')

  const before = await sealedSecretOf(world, id)
  await world.rebuildWith([{ kid: 'k2', bytes: Buffer.alloc(32, 8) }, MASTER])
  const page = viewOf<EncryptedRowsPage>(await read(world, encryptedRowsPage(false, undefined)))
  t.same([...page.ids].sort(), [id, issued].sort())
  t.match(viewOf(await world.run(reencryptSecretRows(OPERATOR, page))), { corrupt: [id] })
  t.equal(await sealedSecretOf(world, id), before, 'its row is unchanged')
  t.not(await sealedSecretOf(world, issued), before, 'the other one is re-encrypted')
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

for (const change of ['report = substr(report, 1, 9)', 'at = 1000000000000000000']) {
  t.test(`a discrepancy with ${change} is not settled`, async (t) => {
    const world = await createWorld(t)
    const { id } = await pay(world)
    for (const transactionId of ['TX1', 'TX2', 'TX3'])
      await world.railReports(executed(id, { transactionId }))
    const list = () =>
      readAll<{ id: string; corrupt?: string }>(world, (page) =>
        listDiscrepancies({ resolved: false, ...page }),
      )
    const [damaged, whole] = await list()
    await damage(world, `UPDATE discrepancies SET ${change} WHERE id = '${damaged!.id}'`)
    const both = (await list()).map(({ id, corrupt }) => corrupt ?? `discrepancy ${id}`)
    t.same(
      both.sort(),
      [damaged!, whole!].map(({ id }) => `discrepancy ${id}`).sort(),
      'lists have both',
    )
    const settle = (id: string) =>
      world.run(resolveDiscrepancy(OPERATOR, id, { settlement: 'keep', evidence: 'a statement' }))
    t.equal(codeOf(await settle(damaged!.id)), 'internal_error')
    t.equal(codeOf(await settle(whole!.id)), 'ok', 'the processor goes on')
  })
}

for (const change of ['created_at = -5', 'revoked_at = 1000000000000000000']) {
  t.test(`a signing key with ${change} counts as revoked`, async (t) => {
    const world = await createWorld(t)
    const issued = viewOf<{ key_id: KeyId }>(await world.run(issueKey(OPERATOR, DEMO))).key_id
    await damage(world, `UPDATE signing_keys SET ${change} WHERE id = '${issued}'`)
    t.match(world.memory().keys.get(issued), { isCorrupt: true, isRevoked: true })
    const account = viewOf<{ keys: { key_id: string }[] }>(await world.run(getAccount(DEMO)))
    t.notOk(
      account.keys.some(({ key_id }) => key_id === issued),
      'the partner sees the others',
    )
    t.ok(account.keys.length > 0)
  })
}

const SUBJECT = 'rail sandbox'

for (const change of [
  'requested_at = 1000000000000000000',
  'expires_at = 1000000000000000000',
  "operation = 'damaged'",
  "arguments = '{'",
]) {
  t.test(`a request with ${change} is ended, and can be requested again`, async (t) => {
    const world = await createWorld(t, { rules: { secondOperator: secondOperatorOf('USD:1') } })
    const resume = (): Promise<Answer> => world.run(resumeSubmissions(OPERATOR, SUBJECT))
    viewOf(await world.run(pauseSubmissions(OPERATOR, SUBJECT)))
    t.equal(codeOf(await resume()), 'second_operator_required')
    const [first] = [...world.memory().approvalRequests.keys()]
    await damage(world, `UPDATE approval_requests SET ${change}`)
    const approve = (id: string): Promise<Answer> =>
      world.run(approveRequest({ ...OPERATOR, name: 'ben' }, id, linksIn(world)))
    t.equal(codeOf(await approve(first!)), 'approval_request_ended')
    t.equal(codeOf(await world.run(rejectRequest(OPERATOR, first!))), 'approval_request_ended')
    t.equal(codeOf(await resume()), 'second_operator_required')
    const again = [...world.memory().approvalRequests.keys()].find((id) => id !== first)
    t.equal(codeOf(await approve(again!)), 'ok', 'the new request is another one')
  })
}

for (const [change, command] of [
  ['paused_at = -5', resumeSubmissions(OPERATOR, SUBJECT)],
  ['paused_at = 1000000000000000000', pauseSubmissions(OPERATOR, SUBJECT)],
  ['resumed_at = 1000000000000000000', resumeSubmissions(OPERATOR, SUBJECT)],
] as const) {
  t.test(`a pause with ${change} lasts until ${command.name}`, async (t) => {
    const world = await createWorld(t)
    viewOf(await world.run(pauseSubmissions(OPERATOR, SUBJECT)))
    await damage(world, `UPDATE submission_pauses SET ${change}`)
    const list = async (): Promise<object[]> =>
      viewOf<{ data: object[] }>(await world.run(listSubmissionPauses())).data
    t.match(await list(), [{ subject: SUBJECT, corrupt: `pause of ${SUBJECT}` }])
    t.match(viewOf(await world.run(command)), { subject: SUBJECT, paused_at: /^2026-/ })
    await world.rebuild()
    for (const pause of await list()) t.notMatch(pause, { corrupt: String })
  })
}

for (const column of ['set_at', 'opened_at']) {
  t.test(`a rate with an impossible ${column} is too old until it is set again`, async (t) => {
    const world = await createWorld(t, { rules: { rateMaxAgeMs: 60_000 } })
    viewOf(await world.run(setRate(OPERATOR, 'THB', '36.10')))
    await damage(world, `UPDATE sandbox_rates SET ${column} = 1000000000000000000`)
    const list = async (): Promise<object[]> =>
      viewOf<{ data: object[] }>(await world.run(listRates())).data
    const usable = () => usableRate(contextOf(world), DEMO, THB)
    t.match(await list(), [
      { environment: 'production', rate: '36.10' },
      { environment: 'sandbox', is_too_old: true, corrupt: 'rate sandbox THB' },
      { currency: 'VND' },
    ])
    t.equal(usable(), null, 'it is not quoted')
    viewOf(await world.run(setRate(OPERATOR, 'THB', '36.20')))
    await world.rebuild()
    t.not(usable(), null)
    for (const rate of await list()) t.notMatch(rate, { corrupt: String })
  })
}

const contextOf = (world: World) => ({
  memory: world.memory(),
  rules: { rateMaxAgeMs: 60_000 },
  now: world.clock.now(),
})

for (const value of ['', 'ab', 'x'.repeat(64)]) {
  t.test(`a damaged salt of nonces (${value.length}) stops the start`, async (t) => {
    const world = await createWorld(t)
    const change = `UPDATE meta SET value = '${value}' WHERE name = 'nonce_salt'`
    await t.rejects(damage(world, change), /nonce_salt in meta is damaged/)
  })
}

for (const position of [
  'position_to = 9223372036854775807',
  'position_from = -9223372036854775808',
])
  t.test(`a damaged recovery stops the start with a sentence: ${position}`, async (t) => {
    const world = await createWorld(t)
    viewOf(await restored(world, execution()))
    const change = `UPDATE recoveries SET ${position}`
    await t.rejects(damage(world, change), /recovery 1 has the number .* damaged/)
  })

t.test('a damaged number of fingerprints stops the start with a sentence', async (t) => {
  const world = await createWorld(t)
  viewOf(await world.run(createIntent(DEMO, anIntent({ idempotency_key: 'one' }))))
  const change = 'UPDATE idempotency_prints SET first = 9223372036854775807'
  await t.rejects(damage(world, change), /a row of idempotency_prints has the number .* damaged/)
})
