/** What the console says of a change, with answers of a processor. */
import t from 'tap'
import { actionNamed, outcomeOf } from '../../src/console/actions/actions.js'
import type { Clients } from '../../src/console/session/uplink.js'

const REQUEST = { id: 'apr_1', operation: 'issue_key', subject: 'acme_production sha256:ab' }

/** @param done the answer */
function made(name: string, service: keyof Clients, done: object) {
  const clients = { [service]: { call: () => Promise.resolve(done) } } as unknown as Clients
  return outcomeOf(actionNamed(name)!, { clients, field: () => 'a text' })
}

const approved = (found: object) =>
  made('approve-request', 'approvals', {
    ...{ request: REQUEST, key: null, caller: null, orphan: null },
    ...found,
  })

t.test('an approved change shows its secret, which is shown once', async (t) => {
  const key = { key_id: 'acme_production_2026q4', secret: '', sealed_secret: 'c2VhbGVk' }
  t.match(await approved({ key }), {
    ...{ tone: 'good', secret: 'c2VhbGVk' },
    text: /acme_production_2026q4[^]*sealed/,
  })
  const open = { key_id: 'acme_sandbox_2026q4', secret: 'sk_of_acme' }
  t.match(await approved({ key: open }), { secret: 'sk_of_acme', text: /acme_sandbox_2026q4/ })
  t.match(await approved({ caller: { token: 'svc_of_acme' } }), { secret: 'svc_of_acme' })
  t.equal((await approved({})).secret, undefined)
})

t.test('a caller that is not revoked everywhere is said to be so', async (t) => {
  const revoked = (more: object = {}) =>
    made('revoke-caller', 'callers', { name: 'edge', status: 'revoked', ...more })
  t.match(await revoked(), { tone: 'good', text: 'edge is revoked.' })
  const missing = { missing_shards: ['books_2'] }
  t.match(await revoked(missing), { tone: 'bad', text: /NOT revoked in books_2/ })
  const everywhere = await revoked({ ...missing, settings_version: '3' })
  t.match(everywhere, { tone: 'good' }, 'the other shard applies it later')
})

t.test('a redrive names the pools that it has not reached', async (t) => {
  const redriven = (more: object) =>
    made('redrive', 'webhooks', { redriven: 2, more: false, ...more })
  t.match(await redriven({ missing_pools: [] }), {
    ...{ tone: 'good', text: '2 deliveries are sent again.' },
  })
  t.match(await redriven({ missing_pools: [2] }), { tone: 'warn', text: /not connected: 2\./ })
})
