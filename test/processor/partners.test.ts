/** Operators' changes to partners and keys; what a suspended partner can no longer begin. */
import { randomBytes } from 'node:crypto'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { PAGE_BYTES } from '../../src/base/constants.js'
import { DAY, plus } from '../../src/base/clock.js'
import { tenantOf, type KeyId, type PartnerId } from '../../src/base/ids.js'
import type { AccountKey } from '../../src/ledger/accounts.js'
import { createKeyExpiry } from '../../src/processor/background/key_expiry.js'
import { noteAction } from '../../src/processor/commands/operators/action_note.js'
import { getBalances } from '../../src/processor/commands/funds/balances_get.js'
import { ensureDemo } from '../../src/processor/commands/partners/demo_ensure.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import {
  expireKeys,
  listKeys,
  revokeKey,
} from '../../src/processor/commands/partners/key_revoke.js'
import {
  changePartner,
  listPartners,
  type PartnerChange,
} from '../../src/processor/commands/partners/partner_change.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import { listActions } from '../../src/processor/queries/action_list.js'
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { actionOf } from '../../src/processor/servers/operations.js'
import { eventually } from '../support/eventually.js'
import { anIntent, aPayout } from '../support/requests.js'
import { BY_TEST, codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  operatorLog,
  read,
  type LoggedAction,
  type PageView,
  readAll,
  runOnBothStores,
  executed,
  OPERATOR,
  payout,
  see,
  tryPay,
} from './scenarios.js'
import { anEndpoint } from './webhook_endpoints.js'
import {
  authorized,
  beginLifecycle,
  captured,
  scanned,
  THAI,
  intentAt,
} from './intent_lifecycle.js'

const ADA = { name: 'ada', reason: 'ticket 7' }
const NEW = { corridors: ['th_promptpay', 'vn_vietqr'], withFunds: false }

const change = async (world: World, given: PartnerChange, partner = 'demo'): Promise<string> =>
  codeOf(await world.run(changePartner(ADA, partner, given)))

const keysOf = async (world: World): Promise<{ key_id: string; status: string }[]> =>
  viewOf<{ data: { key_id: string; status: string }[] }>(await world.run(listKeys(DEMO))).data

const statuses = async (world: World): Promise<string[]> =>
  (await keysOf(world)).map(({ status }) => status)

/** @returns the code of a call signed with this key */
const signedCall = (world: World, keyId: string): Promise<string> =>
  new Promise((resolve) => {
    world.submit({
      queueKey: DEMO,
      command: getBalances(DEMO),
      origin: BY_TEST,
      deadline: null,
      signedBy: { keyId: keyId as KeyId, nonce: randomBytes(32), signedAt: world.clock.now() },
      reply: (answer) => resolve(codeOf(answer)),
    })
  })

/** Runs the expiry timer once. */
const endExpired = (world: World): Promise<void> =>
  new Promise((resolve) => {
    const expiry = createKeyExpiry({
      clock: world.clock,
      memory: world.memory(),
      pipeline: {
        submit: (work) => {
          const reply: typeof work.reply = (answer) => {
            work.reply(answer)
            resolve()
          }
          world.submit({ ...work, reply })
        },
      },
    })
    expiry.start()
    expiry.stop()
  })

/** The key as sent to a newly connected gateway. */
async function sentKey(world: World, keyId: string): Promise<object | undefined> {
  const updates: PartnerUpdate[] = []
  const stream = {
    write: (update: PartnerUpdate) => updates.push(update),
    on: () => undefined,
  }
  const { handlers } = directoryService(world.memory(), world.vault)
  handlers.WatchPartners(stream as never)
  await eventually('the whole directory', () => updates.some(({ complete }) => complete))
  const keys = updates
    .flatMap(({ partners }) => partners ?? [])
    .flatMap((partner) => partner.keys ?? [])
  return keys.find(({ key_id }) => key_id === keyId)
}

runOnBothStores({
  'a partner is created once, with its first key': async (t, world) => {
    t.match(viewOf(await world.run(createPartner(ADA, 'acme', NEW))), {
      sandbox_key: { key_id: 'acme_sandbox_2026q4', secret: /^sk_[A-Za-z0-9_-]{43}$/ },
    })
    t.equal(codeOf(await world.run(createPartner(ADA, 'acme', NEW))), 'invalid_request')
    for (const name of ['a', 'Acme', 'ac me', 'ac_me', 'a:b', 'x'.repeat(33)]) {
      t.equal(codeOf(await world.run(createPartner(ADA, name, NEW))), 'invalid_request', name)
    }
    const acme = tenantOf('acme' as PartnerId, 'sandbox')
    t.equal(codeOf(await world.run(createIntent(acme, anIntent()))), 'ok')
    t.match(await operatorLog(t), [
      { actor: 'ada', action: 'create_partner', subject: 'acme th_promptpay,vn_vietqr' },
    ])
  },

  'a new partner has the corridors that are named, and no other': async (t, world) => {
    const corridorsOf = async (name: string): Promise<unknown> =>
      viewOf<{ data: { partner_id: string; corridors: string[] }[] }>(
        await world.run(listPartners()),
      ).data.find(({ partner_id }) => partner_id === name)?.corridors
    await world.run(createPartner(ADA, 'one', { ...NEW, corridors: ['vn_vietqr', 'vn_vietqr'] }))
    await world.run(createPartner(ADA, 'none', { ...NEW, corridors: [] }))
    const unknown = { ...NEW, corridors: ['xx_other'] }
    t.equal(codeOf(await world.run(createPartner(ADA, 'other', unknown))), 'invalid_request')
    t.same(await corridorsOf('one'), ['vn_vietqr'])
    t.same(await corridorsOf('none'), [])
    t.same(await corridorsOf('demo'), ['th_promptpay', 'vn_vietqr'])
    const none = tenantOf('none' as PartnerId, 'sandbox')
    t.equal(codeOf(await world.run(createIntent(none, anIntent()))), 'corridor_not_enabled')
  },

  'a suspended partner is refused until it is resumed': async (t, world) => {
    t.equal(await change(world, { kind: 'suspend' }), 'ok')
    t.equal(codeOf(await world.run(createIntent(DEMO, anIntent()))), 'partner_suspended')
    t.equal(await change(world, { kind: 'resume' }), 'ok')
    t.equal(codeOf(await world.run(createIntent(DEMO, anIntent()))), 'ok')
    t.equal(await change(world, { kind: 'suspend' }, 'nobody'), 'partner_not_found')
  },

  'a corridor that is not enabled is refused': async (t, world) => {
    t.equal(await change(world, { kind: 'corridors', values: ['vn_vietqr'] }), 'ok')
    t.equal(codeOf(await world.run(createIntent(DEMO, anIntent()))), 'corridor_not_enabled')
    t.equal(await change(world, { kind: 'corridors', values: ['xx_other'] }), 'invalid_request')
  },

  'addresses, packages and rate limits are validated': async (t, world) => {
    const lists: readonly [PartnerChange, string][] = [
      [{ kind: 'allowed_ips', values: ['203.0.113.0/24', '2001:db8::/32'] }, 'ok'],
      [{ kind: 'allowed_ips', values: [] }, 'ok'],
      [{ kind: 'allowed_ips', values: ['203.0.113.7'] }, 'invalid_request'],
      [{ kind: 'allowed_ips', values: ['203.0.113.0/33'] }, 'invalid_request'],
      [{ kind: 'packages', values: ['com.example.app'] }, 'ok'],
      [{ kind: 'packages', values: ['com example'] }, 'invalid_request'],
      [{ kind: 'rate_limit', perSecond: 1_000_000 }, 'ok'],
      [{ kind: 'rate_limit', perSecond: 1_000_001 }, 'invalid_request'],
    ]
    for (const [given, code] of lists) t.equal(await change(world, given), code, given.kind)
    t.same(world.memory().partners.get('demo' as PartnerId)?.packages, ['com.example.app'])
  },

  'a tenant has at most three active keys, one per quarter': async (t, world) => {
    for (const quarter of ['2027q1', '2027q2']) {
      const { key_id } = viewOf<{ key_id: string }>(await world.run(issueKey(ADA, DEMO)))
      t.equal(key_id, `demo_sandbox_${quarter}`)
    }
    t.equal(codeOf(await world.run(issueKey(ADA, DEMO))), 'signing_key_limit', 'a fourth')
    t.same(await statuses(world), ['retiring', 'retiring', 'active'])
    world.clock.pass(14 * DAY)
    t.same(await statuses(world), ['revoked', 'revoked', 'active'])
    t.equal(codeOf(await world.run(issueKey(ADA, DEMO))), 'ok')
  },

  'an older key is revoked 14 days after the first newer one': async (t, world) => {
    await world.run(issueKey(ADA, DEMO))
    const first = world.memory().keys.get('demo_sandbox_2026q4' as KeyId)
    t.equal(first?.revokedAt, plus(world.clock.now(), 14 * DAY))
    world.clock.pass(DAY)
    await world.run(issueKey(ADA, DEMO))
    const later = world.memory().keys.get('demo_sandbox_2026q4' as KeyId)
    t.equal(later?.revokedAt, first?.revokedAt, 'a further key does not postpone it')
  },

  'a clock that is set back revives no revoked key': async (t, world) => {
    const first = 'demo_sandbox_2026q4'
    await world.run(revokeKey(ADA, first))
    world.clock.pass(-DAY)
    t.equal(await signedCall(world, first), 'authentication_failed')
    t.match(await keysOf(world), [{ key_id: first, status: 'revoked' }])
    t.equal(codeOf(await world.run(revokeKey(ADA, first))), 'signing_key_revoked')
  },

  'a clock that is set back revives no key whose overlap has ended': async (t, world) => {
    const first = 'demo_sandbox_2026q4'
    const until = world.clock.now() + 14 * DAY
    await world.run(issueKey(ADA, DEMO))
    world.clock.set(until - 1)
    await world.run(expireKeys())
    t.equal(await signedCall(world, first), 'ok', 'the key is valid until the overlap ends')
    world.clock.set(until)
    t.equal(await signedCall(world, first), 'authentication_failed')
    await endExpired(world)
    world.clock.set(until - DAY)
    t.equal(await signedCall(world, first), 'authentication_failed')
    t.same(await statuses(world), ['revoked', 'active'])
    const sent = await sentKey(world, first)
    t.match(sent, { revoked_at: '1' }, 'gateways receive an immediate revocation')
    const moved = world.memory().keys.get(first as KeyId)
    t.equal(moved?.revokedAt, until, 'the revocation time is kept')
  },

  'revocation is final': async (t, world) => {
    t.equal(codeOf(await world.run(revokeKey(ADA, 'demo_sandbox_2026q4'))), 'ok')
    t.equal(codeOf(await world.run(revokeKey(ADA, 'demo_sandbox_2026q4'))), 'signing_key_revoked')
    const unknown = await world.run(revokeKey(ADA, 'nobody_sandbox_2026q4'))
    t.equal(codeOf(unknown), 'signing_key_not_found')
    t.same(await statuses(world), ['revoked'])
    const { key_id } = viewOf<{ key_id: string }>(await world.run(issueKey(ADA, DEMO)))
    t.equal(key_id, 'demo_sandbox_2027q1', 'a quarter gets one key')
    await world.run(revokeKey(ADA, key_id))
    const before = world.memory().balances.get('demo_sandbox:USD:prefund' as AccountKey)
    const demo = viewOf<{ key_id: string }>(await world.run(ensureDemo()))
    t.equal(demo.key_id, 'demo_sandbox_2027q2', 'the demo partner gets a new key')
    const after = world.memory().balances.get('demo_sandbox:USD:prefund' as AccountKey)
    t.equal(after, before, 'the demo partner is funded once')
  },

  'every action is logged with its actor and reason': async (t, world) => {
    await change(world, { kind: 'suspend' })
    await change(world, { kind: 'rate_limit', perSecond: 5 })
    const all = await readAll(world, (page) => listActions({ limit: 1, ...page }))
    const by = { actor: 'ada', reason: 'ticket 7' }
    t.match(all, [
      { ...by, name: undefined, action: 'partner_rate_limit' },
      { ...by, action: 'partner_suspend' },
    ])
  },

  'a page of long reasons ends early': async (t, world) => {
    const reason = 'x'.repeat(PAGE_BYTES / 2 - 1_000)
    const subjects = ['three', 'two', 'one']
    for (const subject of subjects.toReversed()) {
      await world.run(noteAction({ ...ADA, reason }, { action: 'note', subject }))
    }
    const first = viewOf<PageView<LoggedAction>>(await read(world, listActions({})))
    const cursor = first.next_cursor!
    const second = viewOf<PageView<LoggedAction>>(await read(world, listActions({ cursor })))
    const listed = [first, second].map(({ data }) => data.map(({ subject }) => subject))
    t.same(listed, [subjects.slice(0, 2), subjects.slice(2)])
  },
})

const CONVERSION = { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'THB' }

/** What the writes below name, begun while the partner is active. */
async function begun(world: World) {
  const fresh = await beginLifecycle(world)
  const quoted = await intentAt(world, scanned)
  const open = await beginLifecycle(world)
  const quote = viewOf<{ id: string }>(await world.run(createFxQuote(DEMO, CONVERSION)))
  const paid = viewOf<{ id: string; beneficiary: { id: string } }>(await tryPay(world))
  const endpoint = await anEndpoint(world)
  return { fresh, quoted, open, quote, paid, endpoint }
}

type Writes = Readonly<Partial<Record<OperationName, object>>>

/** What is refused, and what goes on. An operation in neither fails the test. */
function writesOf(made: Awaited<ReturnType<typeof begun>>): { refused: Writes; goOn: Writes } {
  const { fresh, quoted, open, quote, paid } = made
  const session = { session_jti: 'token-1' }
  const { kyc_attestation, sanctions_attestation } = anIntent()
  const remint = { partner_user_id: fresh.user, kyc_attestation, sanctions_attestation }
  const scan = { qr_payload: THAI.payload, local_amount_minor_units: '36000' }
  const opened = { intent_id: open.id }
  const endpoint = { endpoint_id: made.endpoint.id }
  return {
    refused: {
      create_intent: anIntent(),
      remint_session: { ...remint, intent_id: fresh.id },
      scan_intent: { ...session, ...scan, intent_id: fresh.id, duplicate_confirmed: true },
      confirm_intent: { ...session, intent_id: quoted.id },
      create_beneficiary: { beneficiary: aPayout().beneficiary! },
      create_payout: payout(),
      create_deposit: { currency: 'VND', amount: '1', idempotency_key: 'deposit' },
      create_fx_quote: CONVERSION,
      create_fx_conversion: { quote_id: quote.id, idempotency_key: 'convert' },
    },
    goOn: {
      cancel_intent: opened,
      refund_intent: opened,
      mint_receipt_token: opened,
      disable_beneficiary: { beneficiary_id: paid.beneficiary.id },
      cancel_payout: { payout_id: paid.id },
      simulate_payout: { payout_id: paid.id, outcome: 'completed' },
      create_webhook_endpoint: { url: 'https://other.test' },
      update_webhook_endpoint: { ...endpoint, url: 'https://new.test' },
      enable_webhook_endpoint: endpoint,
      disable_webhook_endpoint: endpoint,
      rotate_webhook_secret: endpoint,
      test_webhook_endpoint: endpoint,
      recover_webhook_endpoint: { ...endpoint, since: SINCE },
      resend_event: { event_id: 'evt_1' },
      delete_webhook_endpoint: endpoint,
    },
  }
}

const SINCE = '2026-11-20T00:00:00Z'

const suspend = async (world: World): Promise<void> =>
  void viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' })))

runOnBothStores({
  'of the writes of the partner API a suspended partner begins none': async (t, world) => {
    const away = { ok: false, code: 'configuration_error' } as const
    const pools: WebhookPools = {
      ...{ connectedPools: 0, missingPools: [] },
      requestAll: () => Promise.resolve(away),
      requestOne: () => Promise.resolve(away),
    }
    const codesOf = async (messages: Writes): Promise<[name: string, code: string][]> => {
      const codes: [string, string][] = []
      for (const [name, message] of Object.entries(messages)) {
        const by = { tenant: DEMO, now: world.clock.now(), pools }
        const { command } = actionOf(name as OperationName, message, by)
        codes.push([name, codeOf(await world.run(command))])
      }
      return codes
    }
    const { refused, goOn } = writesOf(await begun(world))
    const writes = Object.entries(OPERATIONS).filter(([, { method }]) => method !== 'GET')
    const named = Object.keys({ ...refused, ...goOn })
    t.same(named.sort(), writes.map(([name]) => name).sort(), 'every write has a message here')
    await suspend(world)
    for (const [name, code] of await codesOf(refused)) t.equal(code, 'partner_suspended', name)
    for (const [name, code] of await codesOf(goOn)) t.not(code, 'partner_suspended', name)
    await world.run(changePartner(OPERATOR, 'demo', { kind: 'resume' }))
    for (const [name, code] of await codesOf(refused)) t.equal(code, 'ok', `${name}, resumed`)
  },

  'what a suspended partner has begun goes on': async (t, world) => {
    const open = await beginLifecycle(world)
    const waiting = await intentAt(world, authorized)
    const paid = await intentAt(world, captured)
    const request = payout()
    const { id } = viewOf<{ id: never }>(await world.run(createPayout(DEMO, request)))
    await suspend(world)
    t.equal(codeOf(await world.run(createPayout(DEMO, request))), 'ok', 'a replay')
    t.equal(codeOf(await open.cancel()), 'ok')
    t.equal(codeOf(await waiting.remint()), 'ok', 'a session token to poll with')
    t.equal(codeOf(await paid.refund()), 'ok')
    t.equal(codeOf(await paid.get()), 'ok')
    await waiting.executed()
    t.equal((await waiting.see()).status, 'captured')
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
  },
})
