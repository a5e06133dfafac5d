/** What the console says of a change, with answers of a processor. */
import t from 'tap'
import { actionNamed, outcomeOf } from '../../src/console/actions/actions.js'
import type { Clients } from '../../src/console/session/uplink.js'

const REQUEST = { id: 'apr_1', operation: 'issue_key', subject: 'acme_production sha256:ab' }

function approved(found: object) {
  const done = { request: REQUEST, key: null, caller: null, ...found }
  const clients = { approvals: { call: () => Promise.resolve(done) } } as unknown as Clients
  return outcomeOf(actionNamed('approve-request')!, { clients, field: () => 'apr_1' })
}

t.test('an approved change shows what nobody can show again', async (t) => {
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
