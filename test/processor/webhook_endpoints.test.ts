/** Webhook endpoints: creation, its key and rate, updates, secrets, switching, tests. */
import { ENDPOINTS_CREATED_PER_DAY_MAX } from '../../src/base/constants.js'
import { DAY, HOUR, plus, toRfc3339 } from '../../src/base/clock.js'
import {
  checkWebhookEndpoint,
  listWebhookEndpoints,
} from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_get.js'
import { idempotencyRowKey } from '../../src/processor/keys/vault.js'
import { messageFault } from '../../src/processor/servers/message_check.js'
import { codeOf, DEMO, viewOf, PRODUCTION } from '../support/world.js'
import { idsOf, operatorLogOf, runOnBothStores } from './scenarios.js'
import {
  anEndpoint,
  callsOn,
  OTHER_TENANT,
  request,
  tryEndpoint,
  type View,
} from './webhook_endpoints.js'

const NOT_FOUND = 'webhook_endpoint_not_found'

runOnBothStores({
  'an endpoint is created, listed and deleted': async (t, world) => {
    const listed = async (): Promise<View[]> =>
      viewOf<{ data: View[] }>(await world.run(listWebhookEndpoints(DEMO))).data
    const { id, made, remove } = await anEndpoint(world)
    t.match(made.secret, /^whsec_/)
    t.same(idsOf(await listed()), [id])
    t.notOk('secret' in (await listed())[0]!, 'the secret is shown once')

    t.equal(codeOf(await callsOn(world, id, OTHER_TENANT).remove()), NOT_FOUND)
    t.match(viewOf(await remove()), { id, status: 'deleted' })
    t.equal(codeOf(await remove()), NOT_FOUND)
    t.same(await listed(), [])
  },

  'a tenant has at most 16 endpoints': async (t, world) => {
    for (let i = 0; i < 15; i++) t.equal(codeOf(await tryEndpoint(world)), 'ok')
    const { remove } = await anEndpoint(world)
    t.equal(codeOf(await tryEndpoint(world)), 'webhook_endpoint_limit')
    await remove()
    t.equal(codeOf(await tryEndpoint(world)), 'ok', 'a deleted endpoint does not count')
    for (const url of ['', 'ftp://x/', 'http://user@x/', 'https://x/#part', 'no']) {
      const fault = messageFault('create_webhook_endpoint', request(url))
      t.match(fault, { code: 'invalid_request' }, url)
    }
  },

  'a key gives the first answer again, secret included': async (t, world) => {
    const create = (over: object = {}, tenant = DEMO) =>
      tryEndpoint(world, { idempotency_key: 'k', ...over }, tenant)
    const made = viewOf<View>(await create())
    t.match(made.secret, /^whsec_/)
    world.clock.pass(HOUR)
    await callsOn(world, made.id).update({ description: 'other' })
    const again = await create()
    t.match(again, { replayed: true })
    t.equal(JSON.stringify(viewOf(again)), JSON.stringify(made), 'byte for byte')
    t.equal(codeOf(await create({ url: 'https://example.com/other' })), 'idempotency_conflict')
    t.equal(codeOf(await create({ idempotency_key: '' })), 'invalid_request')
    t.not(viewOf<View>(await create({}, OTHER_TENANT)).id, made.id)
    const others = new Set<string>([made.id])
    for (const idempotency_key of ['k2', undefined]) {
      others.add(viewOf<View>(await create({ idempotency_key })).id)
    }
    t.equal(others.size, 3, 'another key and none make another endpoint')

    const rowKey = idempotencyRowKey(DEMO, 'create_webhook_endpoint', 'k')
    await create()
    const response = world.memory().idempotency.get(rowKey)?.response
    t.match(response, made.id)
    t.notMatch(response, 'whsec_', 'the secret is not stored with the key')
  },

  'a key without its first secret is a conflict': async (t, world) => {
    const create = (idempotency_key: string) => tryEndpoint(world, { idempotency_key })
    const rotated = await anEndpoint(world, { idempotency_key: 'rotated' })
    const deleted = await anEndpoint(world, { idempotency_key: 'deleted' })
    await rotated.rotate()
    t.match(await create('rotated'), { ok: true }, 'the first secret still signs')
    world.clock.pass(2 * HOUR)
    await rotated.rotate()
    t.equal(codeOf(await create('rotated')), 'idempotency_conflict')
    await deleted.remove()
    t.equal(codeOf(await create('deleted')), 'idempotency_conflict')
  },

  'endpoint creation is rate-limited per day': async (t, world) => {
    const addAndDelete = async (): Promise<string> =>
      codeOf(await (await anEndpoint(world)).remove())
    const codes = new Set<string>()
    for (let i = 0; i < ENDPOINTS_CREATED_PER_DAY_MAX; i++) codes.add(await addAndDelete())
    t.same([...codes], ['ok'])
    t.equal(codeOf(await tryEndpoint(world)), 'webhook_endpoint_limit')
    const others = await tryEndpoint(world, {}, OTHER_TENANT)
    t.equal(codeOf(others), 'ok', 'other tenants are not limited')
    world.clock.pass(DAY - 1)
    t.equal(codeOf(await tryEndpoint(world)), 'webhook_endpoint_limit')
    world.clock.pass(1)
    t.equal(await addAndDelete(), 'ok')
  },

  'deleted endpoints are loaded at startup, without secrets': async (t, world) => {
    const { id, remove, entry } = await anEndpoint(world)
    const answer = viewOf<View>(await remove())
    t.match(answer, { key_id: `${id}_1` }, 'the answer shows the endpoint before its deletion')
    world.clock.pass(365 * DAY)
    await world.rebuild()
    t.match(entry(), { status: 'deleted', secrets: [] })
  },

  'an update changes the named members only': async (t, world) => {
    const { id, made, see, update, entry } = await anEndpoint(world)
    const { secret: _shownOnce, ...shown } = made
    t.same(await see(), shown)
    t.match(shown, {
      ...{ description: '', enabled_events: ['*'], api_version: '2026-11-01', status: 'enabled' },
      ...{ disabled_reason: null, key_id: `${id}_1`, created_at: /Z$/ },
    })
    const change = async (given: object) => {
      const message = { endpoint_id: id, enabled_events: null, ...given }
      return messageFault('update_webhook_endpoint', message) ?? (await update(given))
    }
    const since = () => entry()?.enabledEventsSince
    const createdAt = world.clock.now()
    world.clock.pass(1_000)
    const url = 'http://127.0.0.1:8/new'
    t.same(viewOf(await change({ url })), { ...shown, url })
    const described = { ...shown, url, description: 'orders' }
    t.same(viewOf(await change({ description: 'orders' })), described)
    t.equal(since(), createdAt)
    const types = ['payout.failed', 'balance.low']
    const filtered = viewOf(await change({ enabled_events: { types } }))
    t.same(filtered, { ...described, enabled_events: types })
    t.equal(since(), world.clock.now(), 'the filter applies from now on')
    t.match(viewOf(await change({ enabled_events: { types: [] } })), { enabled_events: ['*'] })
    for (const wrong of [
      { url: 'ftp://x/' },
      { url: `https://x/${'a'.repeat(2_048)}` },
      { description: 'x'.repeat(501) },
      { api_version: '2026-11-02' },
      { enabled_events: { types: ['payout.paid'] } },
      { enabled_events: { types: ['*', '*'] } },
    ]) {
      t.equal(codeOf(await change(wrong)), 'invalid_request', JSON.stringify(wrong).slice(0, 60))
    }
    t.same(await see(), described)
  },

  'production endpoints require https': async (t, world) => {
    const url = 'http://example.com/hooks'
    t.equal(codeOf(await tryEndpoint(world, { url }, PRODUCTION)), 'invalid_request')
    const { update } = await anEndpoint(world, {}, PRODUCTION)
    t.equal(codeOf(await update({ url })), 'invalid_request')
  },

  'a rotated secret signs from its activation on': async (t, world) => {
    const { id, made, see, rotate, entry } = await anEndpoint(world)
    const rotated = async (at?: number): Promise<View> => viewOf<View>(await rotate(at))
    const inAnHour = toRfc3339(plus(world.clock.now(), HOUR))
    const second = await rotated()
    t.match(second, { key_id: `${id}_2`, secret: /^whsec_/, activate_at: inAnHour })
    t.not(second.secret, made.secret)
    t.same(second['next_key'], { key_id: second.key_id, activate_at: inAnHour }, 'the same key')
    const waits = { key_id: `${id}_1`, next_key: { key_id: second.key_id } }
    t.match(await see(), waits)
    world.clock.pass(HOUR - 1)
    t.match(await see(), waits)
    world.clock.pass(1)
    t.match(await see(), { key_id: second.key_id, next_key: undefined })

    const third = await rotated(world.clock.now() + 10)
    const fourth = await rotated(0)
    t.same([third.key_id, fourth.key_id], [`${id}_3`, `${id}_4`])
    const now = { key_id: fourth.key_id, next_key: undefined }
    t.match(await see(), now, 'a past activation time means now')
    t.equal(fourth['activate_at'], toRfc3339(world.clock.now()))
    const kept = entry()?.secrets.map(({ keyId }) => keyId)
    t.same(kept, [second.key_id, fourth.key_id], 'a secret that never signed is removed')
    const latest = plus(world.clock.now(), 30 * DAY)
    t.equal(codeOf(await rotate(latest + 1)), 'invalid_request', 'a millisecond beyond 30 days')
    t.match(await see(), now, 'which changes nothing')
    t.match(await rotated(latest), { key_id: `${id}_5`, activate_at: toRfc3339(latest) })
    world.clock.pass(30 * DAY - 1)
    t.match(await see(), { key_id: fourth.key_id })
    world.clock.pass(1)
    t.match(await see(), { key_id: `${id}_5`, next_key: undefined })
  },

  'a disabled endpoint keeps the first reason': async (t, world) => {
    const { id, see, test, turn, turnByOperator, disableByPool } = await anEndpoint(world)
    const off = (reason: string) => ({ status: 'disabled', disabled_reason: reason })
    t.match(viewOf(await turn('disabled')), off('by_partner'))
    t.same(viewOf(await disableByPool('gone')), {})
    t.match(viewOf(await turn('disabled')), off('by_partner'))
    t.equal(codeOf(await test()), 'webhook_endpoint_disabled')
    t.match(viewOf(await turn('enabled')), { status: 'enabled', disabled_reason: null })
    t.same(viewOf(await disableByPool('gone')), {})
    t.match(viewOf(await turn('disabled')), off('gone'))
    await turnByOperator('enabled')
    await turnByOperator('disabled')
    t.match(await see(), off('by_operator'))
    t.match(await operatorLogOf(t, id), [
      { ...{ actor: 'anna', reason: 'ticket 7' }, action: 'webhook_endpoint_enabled' },
      { action: 'webhook_endpoint_disabled' },
    ])
  },

  'an endpoint with another URL than the failed one stays enabled': async (t, world) => {
    const { url } = request()
    const { entry, disableByPool } = await anEndpoint(world)
    t.same(viewOf(await disableByPool('gone', `${url}/former`)), {})
    t.equal(entry()?.status, 'enabled')
    t.same(viewOf(await disableByPool('gone', url)), {})
    t.equal(entry()?.status, 'disabled')
  },

  'each disabling has one event': async (t, world) => {
    const endpoint = await anEndpoint(world)
    const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['by_partner', () => endpoint.turn('disabled')],
      ['by_operator', () => endpoint.turnByOperator('disabled')],
      ['gone', () => endpoint.disableByPool('gone')],
    ]
    for (const [index, [reason, disable]] of changes.entries()) {
      world.clock.pass(1_000)
      await disable()
      await disable()
      t.equal(world.events.length, index + 1, 'a repetition has no event')
      const shown = await endpoint.see()
      t.match(shown, { status: 'disabled', disabled_reason: reason, secret: undefined })
      const { tenant, type, sequence, body } = world.events[index]!
      t.same([tenant, type, sequence], [DEMO, 'webhook_endpoint.disabled', index + 1])
      t.same((JSON.parse(body) as { data: object }).data, { webhook_endpoint: shown })
      await endpoint.turn('enabled')
    }
    t.match(endpoint.entry(), { timesDisabled: 3, disabledAt: world.clock.now() })
    await endpoint.remove()
    t.equal(world.events.length, 3)
  },

  'a test, an update and enabling reset the circuit breaker': async (t, world) => {
    const endpoint = await anEndpoint(world)
    let last = 0
    const reset = (): boolean => {
      const at = endpoint.entry()?.breakerResetAt ?? 0
      const isLater = at > last
      last = at
      return isLater
    }
    reset()
    for (const [what, change] of [
      ['test', () => endpoint.test()],
      ['change', () => endpoint.update({ description: 'orders' })],
      ['enable', () => endpoint.turn('enabled')],
      ['enable by an operator', () => endpoint.turnByOperator('enabled')],
      ['test', () => endpoint.test()],
    ] as const) {
      viewOf(await change())
      t.ok(reset(), `${what}, within the same millisecond`)
    }
    await endpoint.see()
    await endpoint.rotate()
    t.notOk(reset())
  },

  'a test is an event of the tenant, and can be repeated': async (t, world) => {
    const { id, test } = await anEndpoint(world)
    const tested = async () => viewOf<{ sequence: number; event: object }>(await test())
    const [first, second] = [await tested(), await tested()]
    t.match(first, {
      sequence: 1,
      event: {
        type: 'webhook_endpoint.test',
        api_version: '2026-11-01',
        data: { webhook_endpoint: { id, status: 'enabled', secret: undefined } },
      },
    })
    t.equal(second.sequence, 2)
    const bodies = world.events.map(({ body }) => body)
    const shown = [first, second].map(({ event }) => JSON.stringify(event))
    t.same(bodies, shown, 'the answer shows what is delivered')
  },

  "unknown, deleted and other tenants' endpoints have the same answer": async (t, world) => {
    const [theirs, deleted] = [await anEndpoint(world), await anEndpoint(world)]
    await deleted.remove()
    for (const [tenant, id] of [
      [OTHER_TENANT, theirs.id],
      [PRODUCTION, theirs.id],
      [DEMO, deleted.id],
      [DEMO, 'we_00000000000000000000000000'],
      [DEMO, ''],
    ] as const) {
      const endpoint = callsOn(world, id, tenant)
      for (const [name, call] of Object.entries({
        get: endpoint.get,
        check: () => world.run(checkWebhookEndpoint(tenant, id)),
        update: () => endpoint.update({ url: 'ftp://x' }),
        remove: endpoint.remove,
        enable: () => endpoint.turn('enabled'),
        disable: () => endpoint.turn('disabled'),
        rotate: () => endpoint.rotate(),
        test: endpoint.test,
      })) {
        t.equal(codeOf(await call()), NOT_FOUND, name)
      }
    }
    t.equal(codeOf(await deleted.turnByOperator('enabled')), NOT_FOUND)
    t.equal(world.events.length, 0)
  },
})
