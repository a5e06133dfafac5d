/** What the console says of a change, with answers of a processor. */
import t from 'tap'
import { actionNamed, outcomeOf } from '../../src/console/actions/actions.js'
import type { Notice } from '../../src/console/session/sessions.js'
import type { Clients } from '../../src/console/session/uplink.js'
import { Late, NotSent } from '../../src/operations/calls/calls.js'

const PAYOUT = 'pout_01KB4W2Y3Z4A5B6C7D8E9FGHJK'
const REQUEST = { id: 'apr_1', operation: 'issue_key', subject: 'acme_production sha256:ab' }

/** @param call makes the call; undefined means that no processor is found */
function acted(name: string, service: keyof Clients, call?: () => Promise<object>) {
  const clients = { [service]: { call } } as unknown as Clients
  const uplink = {
    clients: () =>
      call === undefined ? Promise.reject(new NotSent('nobody')) : Promise.resolve(clients),
    forgetShards: () => undefined,
    close: () => undefined,
  }
  const field = (of: string): string => (of === 'id' ? PAYOUT : 'a text')
  return outcomeOf(actionNamed(name)!, { name: 'ann lee', uplink }, field)
}

/** @param done the answer */
const made = (name: string, service: keyof Clients, done: object): Promise<Notice> =>
  acted(name, service, () => Promise.resolve(done))

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

t.test('an orphan execution that is not decided everywhere is said to be so', async (t) => {
  for (const [action, status] of Object.entries({
    'match-orphan': 'matched',
    'dismiss-orphan': 'dismissed',
  })) {
    const decided = (more: object = {}) =>
      made(action, 'recovery', { instruction_id: 'pout_lost', status, ...more })
    t.match(await decided(), { tone: 'good', text: `pout_lost is ${status}.` })
    const missing = await decided({ missing_shards: ['books_2'] })
    t.match(missing, { tone: 'bad', text: /NOT decided in books_2: repeat it/ })
  }
})

t.test('a redrive names the pools that it has not reached', async (t) => {
  const redriven = (more: object) =>
    made('redrive', 'webhooks', { redriven: 2, more: false, ...more })
  t.match(await redriven({ missing_pools: [] }), {
    ...{ tone: 'good', text: '2 deliveries are sent again.' },
  })
  t.match(await redriven({ missing_pools: [2] }), { tone: 'warn', text: /not connected: 2\./ })
})

t.test('a change without an answer is not repeated, and links to where it would be', async (t) => {
  for (const error of [new Error('Connection dropped'), new Late('Deadline exceeded')]) {
    let calls = 0
    const notice = await acted('reject-payout', 'operator', () => {
      calls += 1
      return Promise.reject(error)
    })
    t.equal(calls, 1)
    t.match(notice, { tone: 'bad', text: /^No answer: .+\nIt is unknown whether the change was/ })
    t.same(notice.links, [
      { href: `/payments/${PAYOUT}`, text: 'The payment' },
      { href: '/actions?by=ann+lee', text: 'Your actions' },
    ])
  }
})

t.test('a change that was not sent is made once more, and else said not to be made', async (t) => {
  const completed = { id: PAYOUT, status: 'failed', currency: 'VND', amount: '1' }
  let calls = 0
  const call = (failures: number) => () => {
    calls += 1
    return calls <= failures ? Promise.reject(new NotSent('gone')) : Promise.resolve(completed)
  }
  t.match(await acted('reject-payout', 'operator', call(1)), { tone: 'good', text: /is failed/ })
  t.equal(calls, 2)
  calls = 0
  const notice = await acted('reject-payout', 'operator', call(9))
  t.equal(calls, 2)
  t.match(notice, { tone: 'bad', text: 'Nothing was changed, as nothing was sent: gone' })
  t.equal(notice.links, undefined)
  t.match(await acted('reject-payout', 'operator'), { text: /^Nothing was changed/ })
})
