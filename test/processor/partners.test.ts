/**
 * Operators' changes to partners and keys, with warm memory and with memory rebuilt from SQLite
 * before every command.
 */
import { randomBytes } from 'node:crypto'
import { eventually } from '../support/eventually.js'
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
import { anIntent } from '../support/requests.js'
import { BY_TEST, codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  operatorLog,
  read,
  type LoggedAction,
  type PageView,
  readAll,
  runOnBothStores,
} from './scenarios.js'

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
