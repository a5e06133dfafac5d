/** Webhook endpoints: creation, its key and rate, updates, secrets, switching, tests. */
import t from 'tap'
import { ENDPOINTS_CREATED_PER_DAY_MAX } from '../../src/base/constants.js'
import { plus, toRfc3339 } from '../../src/base/clock.js'
import { tenantOf, type EndpointId, type PartnerId } from '../../src/base/ids.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_delete.js'
import {
  getWebhookEndpoint,
  listWebhookEndpoints,
} from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_get.js'
import { checkWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_get.js'
import {
  disableWebhookEndpoint,
  switchAnyEndpoint,
  switchWebhookEndpoint,
} from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_test.js'
import { updateWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_update.js'
import { rotateWebhookSecret } from '../../src/processor/commands/webhook_endpoints/webhook_secret_rotate.js'
import { idempotencyRowKey } from '../../src/processor/keys/vault.js'
import { messageFault } from '../../src/processor/servers/message_check.js'
import { codeOf, createWorld, DEMO, viewOf } from '../support/world.js'
import { operatorLogOf } from './scenarios.js'
import { OTHER_TENANT, UNCHANGED, request, type View } from './webhook_endpoints.js'

const HOUR_MS = 3_600_000

const ANNA = { name: 'anna', reason: 'ticket 7' }

for (const rebuilt of [false, true]) {
  t.test(
    `an endpoint is created, listed and deleted, ${rebuilt ? 'rebuilt' : 'warm'}`,
    async (t) => {
      const world = await createWorld(t, { rebuilt })
      const listed = async (): Promise<{ id: string; secret?: string }[]> =>
        viewOf<{ data: { id: string }[] }>(await world.run(listWebhookEndpoints(DEMO))).data
      const made = viewOf<{ id: string; secret: string }>(
        await world.run(createWebhookEndpoint(DEMO, request())),
      )
      t.match(made.secret, /^whsec_/)
      t.same(
        (await listed()).map(({ id }) => id),
        [made.id],
      )
      t.notOk('secret' in (await listed())[0]!, 'the secret is shown once')

      const gone = (tenant = DEMO) => world.run(deleteWebhookEndpoint(tenant, made.id))
      t.equal(codeOf(await gone(OTHER_TENANT)), 'webhook_endpoint_not_found')
      t.match(viewOf(await gone()), { id: made.id, status: 'deleted' })
      t.equal(codeOf(await gone()), 'webhook_endpoint_not_found')
      t.same(await listed(), [])
    },
  )

  t.test(`a tenant has at most 16 endpoints, ${rebuilt ? 'rebuilt' : 'warm'}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const add = () => world.run(createWebhookEndpoint(DEMO, request()))
    for (let i = 0; i < 15; i++) t.equal(codeOf(await add()), 'ok')
    const { id } = viewOf<{ id: string }>(await add())
    t.equal(codeOf(await add()), 'webhook_endpoint_limit')
    await world.run(deleteWebhookEndpoint(DEMO, id))
    t.equal(codeOf(await add()), 'ok', 'a deleted endpoint does not count')
    for (const url of ['', 'ftp://x/', 'http://user@x/', 'https://x/#part', 'no']) {
      const fault = messageFault('create_webhook_endpoint', request(url))
      t.match(fault, { code: 'invalid_request' }, url)
    }
  })
}

for (const rebuilt of [false, true]) {
  const how = rebuilt ? 'rebuilt' : 'warm'

  t.test(`a key gives the first answer again, secret included, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const create = (over: object = {}, tenant = DEMO) =>
      world.run(createWebhookEndpoint(tenant, { ...request(), idempotency_key: 'k', ...over }))
    const made = viewOf<{ id: string; secret: string }>(await create())
    t.match(made.secret, /^whsec_/)
    world.clock.pass(HOUR_MS)
    await world.run(
      updateWebhookEndpoint(DEMO, { ...UNCHANGED, endpoint_id: made.id, description: 'other' }),
    )
    const again = await create()
    t.match(again, { replayed: true })
    t.equal(JSON.stringify(viewOf(again)), JSON.stringify(made), 'byte for byte')
    t.equal(codeOf(await create({ url: 'https://example.com/other' })), 'idempotency_conflict')
    t.equal(codeOf(await create({ idempotency_key: '' })), 'invalid_request')
    t.not(viewOf<{ id: string }>(await create({}, OTHER_TENANT)).id, made.id)
    const others = new Set<string>([made.id])
    for (const idempotency_key of ['k2', undefined]) {
      others.add(viewOf<{ id: string }>(await create({ idempotency_key })).id)
    }
    t.equal(others.size, 3, 'another key and none make another endpoint')

    const rowKey = idempotencyRowKey(DEMO, 'create_webhook_endpoint', 'k')
    await create()
    const response = world.memory().idempotency.get(rowKey)?.response
    t.match(response, made.id)
    t.notMatch(response, 'whsec_', 'the secret is not stored with the key')
  })

  t.test(`a key without its first secret is a conflict, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const create = (idempotency_key: string) =>
      world.run(createWebhookEndpoint(DEMO, { ...request(), idempotency_key }))
    const { id: rotated } = viewOf<{ id: string }>(await create('rotated'))
    const { id: deleted } = viewOf<{ id: string }>(await create('deleted'))
    const rotate = (endpoint_id: string) => world.run(rotateWebhookSecret(DEMO, { endpoint_id }))
    await rotate(rotated)
    t.match(await create('rotated'), { ok: true }, 'the first secret still signs')
    world.clock.pass(2 * HOUR_MS)
    await rotate(rotated)
    t.equal(codeOf(await create('rotated')), 'idempotency_conflict')
    await world.run(deleteWebhookEndpoint(DEMO, deleted))
    t.equal(codeOf(await create('deleted')), 'idempotency_conflict')
  })
}

for (const rebuilt of [false, true]) {
  const how = rebuilt ? 'rebuilt' : 'warm'

  t.test(`endpoint creation is rate-limited per day, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const add = (tenant = DEMO) => world.run(createWebhookEndpoint(tenant, request()))
    const addAndDelete = async (): Promise<string> => {
      const { id } = viewOf<{ id: string }>(await add())
      return codeOf(await world.run(deleteWebhookEndpoint(DEMO, id)))
    }
    const codes = new Set<string>()
    for (let i = 0; i < ENDPOINTS_CREATED_PER_DAY_MAX; i++) codes.add(await addAndDelete())
    t.same([...codes], ['ok'])
    t.equal(codeOf(await add()), 'webhook_endpoint_limit')
    t.equal(codeOf(await add(OTHER_TENANT)), 'ok', 'other tenants are not limited')
    world.clock.pass(24 * HOUR_MS - 1)
    t.equal(codeOf(await add()), 'webhook_endpoint_limit')
    world.clock.pass(1)
    t.equal(await addAndDelete(), 'ok')
  })
}

t.test('deleted endpoints are loaded at startup, without secrets', async (t) => {
  const world = await createWorld(t)
  const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
  const answer = viewOf<View>(await world.run(deleteWebhookEndpoint(DEMO, id)))
  t.match(answer, { key_id: `${id}_1` }, 'the answer shows the endpoint before its deletion')
  world.clock.pass(365 * 24 * HOUR_MS)
  await world.rebuild()
  const found = world.memory().endpoints.get(id as EndpointId)
  t.match(found, { status: 'deleted', secrets: [] })
})

for (const rebuilt of [false, true]) {
  const how = rebuilt ? 'rebuilt' : 'warm'

  t.test(`an update changes the named members only, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const made = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    const get = async (): Promise<View> =>
      viewOf(await world.run(getWebhookEndpoint(DEMO, made.id)))
    const { secret: _shownOnce, ...shown } = made
    t.same(await get(), shown)
    t.match(shown, {
      ...{ description: '', enabled_events: ['*'], api_version: '2026-11-01', status: 'enabled' },
      ...{ disabled_reason: null, key_id: `${made.id}_1`, created_at: /Z$/ },
    })
    const change = async (given: object) => {
      const message = { endpoint_id: made.id, enabled_events: null, ...given }
      const fault = messageFault('update_webhook_endpoint', message)
      return fault ?? (await world.run(updateWebhookEndpoint(DEMO, message)))
    }
    const since = () => world.memory().endpoints.get(made.id as EndpointId)?.enabledEventsSince
    const createdAt = world.clock.now()
    world.clock.pass(1_000)
    const url = 'http://127.0.0.1:8/new'
    t.same(viewOf(await change({ url })), { ...shown, url })
    const described = { ...shown, url, description: 'orders' }
    t.same(viewOf(await change({ description: 'orders' })), described)
    t.equal(since(), createdAt)
    const filter = { types: ['payout.failed', 'balance.low'] }
    t.same(viewOf(await change({ enabled_events: filter })), {
      ...described,
      enabled_events: filter.types,
    })
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
    t.same(await get(), described)
  })

  t.test(`production endpoints require https, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const live = tenantOf('demo' as PartnerId, 'production')
    const http = 'http://example.com/hooks'
    t.equal(codeOf(await world.run(createWebhookEndpoint(live, request(http)))), 'invalid_request')
    const made = viewOf<View>(await world.run(createWebhookEndpoint(live, request())))
    const change = { endpoint_id: made.id, enabled_events: null, url: http }
    t.equal(codeOf(await world.run(updateWebhookEndpoint(live, change))), 'invalid_request')
  })

  t.test(`a rotated secret signs from its activation on, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const made = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    const get = async (): Promise<View> =>
      viewOf(await world.run(getWebhookEndpoint(DEMO, made.id)))
    const rotate = (activate_at?: number) =>
      world.run(
        rotateWebhookSecret(DEMO, {
          endpoint_id: made.id,
          ...(activate_at === undefined ? {} : { activate_at: String(activate_at) }),
        }),
      )
    const inAnHour = toRfc3339(plus(world.clock.now(), HOUR_MS))
    const second = viewOf<View>(await rotate())
    t.match(second, { key_id: `${made.id}_2`, secret: /^whsec_/, activate_at: inAnHour })
    t.not(second['secret'], made['secret'])
    t.same(second['next_key'], { key_id: second.key_id, activate_at: inAnHour }, 'the same key')
    const waits = { key_id: `${made.id}_1`, next_key: { key_id: second.key_id } }
    t.match(await get(), waits)
    world.clock.pass(HOUR_MS - 1)
    t.match(await get(), waits)
    world.clock.pass(1)
    t.match(await get(), { key_id: second.key_id, next_key: undefined })

    const third = viewOf<View>(await rotate(world.clock.now() + 10))
    const fourth = viewOf<View>(await rotate(0))
    t.same([third.key_id, fourth.key_id], [`${made.id}_3`, `${made.id}_4`])
    t.match(
      await get(),
      { key_id: fourth.key_id, next_key: undefined },
      'a past activation time means now',
    )
    t.equal(fourth['activate_at'], toRfc3339(world.clock.now()))
    const secrets = world.memory().endpoints.get(made.id as EndpointId)?.secrets
    t.same(
      secrets?.map(({ keyId }) => keyId),
      [second.key_id, fourth.key_id],
      'a secret that never signed is removed',
    )
    const latest = plus(world.clock.now(), 30 * 24 * HOUR_MS)
    t.equal(codeOf(await rotate(latest + 1)), 'invalid_request', 'a millisecond beyond 30 days')
    t.match(await get(), { key_id: fourth.key_id, next_key: undefined }, 'which changes nothing')
    t.match(viewOf(await rotate(latest)), {
      key_id: `${made.id}_5`,
      activate_at: toRfc3339(latest),
    })
    world.clock.pass(30 * 24 * HOUR_MS - 1)
    t.match(await get(), { key_id: fourth.key_id })
    world.clock.pass(1)
    t.match(await get(), { key_id: `${made.id}_5`, next_key: undefined })
  })

  t.test(`a disabled endpoint keeps the first reason, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    const byPartner = (to: 'enabled' | 'disabled') => world.run(switchWebhookEndpoint(DEMO, id, to))
    const byPool = (reason: string) => world.run(disableWebhookEndpoint(id as EndpointId, reason))
    const off = (reason: string) => ({ status: 'disabled', disabled_reason: reason })
    t.match(viewOf(await byPartner('disabled')), off('by_partner'))
    t.same(viewOf(await byPool('gone')), {})
    t.match(viewOf(await byPartner('disabled')), off('by_partner'))
    t.equal(codeOf(await world.run(testWebhookEndpoint(DEMO, id))), 'webhook_endpoint_disabled')
    t.match(viewOf(await byPartner('enabled')), { status: 'enabled', disabled_reason: null })
    t.same(viewOf(await byPool('gone')), {})
    t.match(viewOf(await byPartner('disabled')), off('gone'))
    await world.run(switchAnyEndpoint(ANNA, id, 'enabled'))
    await world.run(switchAnyEndpoint(ANNA, id, 'disabled'))
    t.match(viewOf(await world.run(getWebhookEndpoint(DEMO, id))), off('by_operator'))
    t.match(await operatorLogOf(t, id), [
      { ...{ actor: 'anna', reason: 'ticket 7' }, action: 'webhook_endpoint_enabled' },
      { action: 'webhook_endpoint_disabled' },
    ])
  })

  t.test(`an endpoint with another URL than the failed one stays enabled, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const given = request()
    const { url } = given
    const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, given)))
    const byPool = (failed: string) =>
      world.run(disableWebhookEndpoint(id as EndpointId, 'gone', failed))
    t.same(viewOf(await byPool(`${url}/former`)), {})
    t.equal(world.memory().endpoints.get(id as EndpointId)?.status, 'enabled')
    t.same(viewOf(await byPool(url)), {})
    t.equal(world.memory().endpoints.get(id as EndpointId)?.status, 'disabled')
  })

  t.test(`each disabling has one event, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    const get = async (): Promise<View> => viewOf(await world.run(getWebhookEndpoint(DEMO, id)))
    const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['by_partner', () => world.run(switchWebhookEndpoint(DEMO, id, 'disabled'))],
      ['by_operator', () => world.run(switchAnyEndpoint(ANNA, id, 'disabled'))],
      ['gone', () => world.run(disableWebhookEndpoint(id as EndpointId, 'gone'))],
    ]
    for (const [index, [reason, disable]] of changes.entries()) {
      world.clock.pass(1_000)
      await disable()
      await disable()
      t.equal(world.events.length, index + 1, 'a repetition has no event')
      const shown = await get()
      t.match(shown, { status: 'disabled', disabled_reason: reason, secret: undefined })
      const { tenant, type, sequence, body } = world.events[index]!
      t.same([tenant, type, sequence], [DEMO, 'webhook_endpoint.disabled', index + 1])
      t.same((JSON.parse(body) as { data: object }).data, { webhook_endpoint: shown })
      await world.run(switchWebhookEndpoint(DEMO, id, 'enabled'))
    }
    const entry = world.memory().endpoints.get(id as EndpointId)
    t.match(entry, { timesDisabled: 3, disabledAt: world.clock.now() })
    await world.run(deleteWebhookEndpoint(DEMO, id))
    t.equal(world.events.length, 3)
  })

  t.test(`a test, an update and enabling reset the circuit breaker, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    let last = 0
    const reset = (): boolean => {
      const at = world.memory().endpoints.get(id as EndpointId)?.breakerResetAt ?? 0
      const isLater = at > last
      last = at
      return isLater
    }
    reset()
    const change = { endpoint_id: id, enabled_events: null, description: 'orders' }
    for (const [what, command] of [
      ['test', () => testWebhookEndpoint(DEMO, id)],
      ['change', () => updateWebhookEndpoint(DEMO, change)],
      ['enable', () => switchWebhookEndpoint(DEMO, id, 'enabled')],
      ['enable by an operator', () => switchAnyEndpoint(ANNA, id, 'enabled')],
      ['test', () => testWebhookEndpoint(DEMO, id)],
    ] as const) {
      viewOf(await world.run(command()))
      t.ok(reset(), `${what}, within the same millisecond`)
    }
    await world.run(getWebhookEndpoint(DEMO, id))
    await world.run(rotateWebhookSecret(DEMO, { endpoint_id: id }))
    t.notOk(reset())
  })

  t.test(`a test is an event of the tenant, and can be repeated, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const { id } = viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request())))
    const test = async () =>
      viewOf<{ sequence: number; event: object }>(await world.run(testWebhookEndpoint(DEMO, id)))
    const [first, second] = [await test(), await test()]
    t.match(first, {
      sequence: 1,
      event: {
        type: 'webhook_endpoint.test',
        api_version: '2026-11-01',
        data: { webhook_endpoint: { id, status: 'enabled', secret: undefined } },
      },
    })
    t.equal(second.sequence, 2)
    t.same(
      world.events.map(({ body }) => body),
      [first, second].map(({ event }) => JSON.stringify(event)),
      'the answer shows what is delivered',
    )
  })

  t.test(
    `unknown, deleted and other tenants' endpoints have the same answer, ${how}`,
    async (t) => {
      const world = await createWorld(t, { rebuilt })
      const make = async (): Promise<string> =>
        viewOf<View>(await world.run(createWebhookEndpoint(DEMO, request()))).id
      const [theirs, deleted] = [await make(), await make()]
      await world.run(deleteWebhookEndpoint(DEMO, deleted))
      for (const [tenant, id] of [
        [OTHER_TENANT, theirs],
        [tenantOf('demo' as PartnerId, 'production'), theirs],
        [DEMO, deleted],
        [DEMO, 'we_00000000000000000000000000'],
        [DEMO, ''],
      ] as const) {
        for (const command of [
          getWebhookEndpoint(tenant, id),
          checkWebhookEndpoint(tenant, id),
          updateWebhookEndpoint(tenant, { endpoint_id: id, enabled_events: null, url: 'ftp://x' }),
          deleteWebhookEndpoint(tenant, id),
          switchWebhookEndpoint(tenant, id, 'enabled'),
          switchWebhookEndpoint(tenant, id, 'disabled'),
          rotateWebhookSecret(tenant, { endpoint_id: id }),
          testWebhookEndpoint(tenant, id),
        ]) {
          t.equal(codeOf(await world.run(command)), 'webhook_endpoint_not_found', command.name)
        }
      }
      t.equal(
        codeOf(await world.run(switchAnyEndpoint(ANNA, deleted, 'enabled'))),
        'webhook_endpoint_not_found',
      )
      t.equal(world.events.length, 0)
    },
  )
}
