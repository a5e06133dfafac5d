/**
 * Webhooks as a partner and an operator live with them, through the real thing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plus, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/protos.js'
import { openReceiver } from '../../src/operations/webhook_receiver.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli } from '../support/operator_cli.js'
import { operatorsOf } from '../support/operators.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, type HttpAnswer } from '../support/partner.js'
import { payOut } from '../support/payments.js'
import { receiverOf, type ReceivedWebhook, type TestReceiver } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly event_id: string
    readonly event_type: string
    readonly status: string
    readonly attempts: readonly { readonly status: number | null }[]
  }[]
  readonly next_cursor: string | null
}
interface EventPage {
  readonly data: readonly { readonly sequence: number; readonly event: { readonly id: string } }[]
  readonly next_after: number
  readonly has_more: boolean
}

// One stack for all; each story leaves its endpoints as they are.
t.setTimeout(0)
const stack = await startStack({ dataDir: tempFolder(t), settings: { RAIL_DELAY_MS: '20' } })
t.teardown(() => stack.stop())
const partner = partnerOf(stack.sandbox)
const ops = operatorCli(stack.dataDir)
let payouts = 0
const pay = (): Promise<string> => payOut(partner, `webhooks-${++payouts}`)

async function receiver(t: Test, answer?: () => number): Promise<TestReceiver> {
  const opened = await receiverOf(partner, answer)
  t.teardown(() => opened.close())
  return opened
}

const at = ({ endpointId }: { endpointId: string }, rest = ''): string =>
  `/v1/webhook_endpoints/${endpointId}${rest}`
const listed = async (to: TestReceiver, query = ''): Promise<Listed> =>
  (await partner.request('GET', at(to, `/deliveries${query}`))).body as Listed
const typesOf = ({ deliveries }: TestReceiver): string[] =>
  deliveries.map(({ eventType }) => eventType)
const isOf =
  (payout: string, type?: string) =>
  ({ body, eventType, verdict }: ReceivedWebhook): boolean =>
    verdict === 'valid' && (type ?? eventType) === eventType && body.includes(payout)

void t.test('an endpoint is made, seen, changed and taken away', async (t) => {
  const mine = await receiver(t)
  const { body } = await partner.request('GET', at(mine))
  t.match(body, {
    ...{ id: mine.endpointId, status: 'enabled', enabled_events: ['*'], disabled_reason: null },
    ...{ api_version: /^\d{4}-\d\d-\d\d$/, key_id: `${mine.endpointId}_1`, created_at: /Z$/ },
  })
  t.notOk('secret' in (body as object))

  const narrowed = await partner.request('PATCH', at(mine), {
    enabled_events: ['payout.completed'],
  })
  t.match(narrowed.body, { enabled_events: ['payout.completed'] })
  const first = await pay()
  await mine.until('what it asked for', isOf(first))
  t.match((await partner.request('PATCH', at(mine), { enabled_events: [] })).body, {
    enabled_events: ['*'],
  })
  const second = await pay()
  for (const type of ['payout.created', 'payout.processing', 'payout.completed']) {
    await mine.until(`${type} too`, isOf(second, type))
  }
  t.same(
    typesOf(mine).filter((_, i) => mine.deliveries[i]?.body.includes(first)),
    ['payout.completed'],
  )
  t.match(await partner.request('PATCH', at(mine), { url: 'http://user@x/' }), { status: 400 })

  t.match((await partner.request('DELETE', at(mine))).body, { status: 'deleted' })
  t.match(await partner.request('GET', at(mine)), { status: 404 })
})

void t.test('unknown and foreign ones are the same 404 everywhere', async (t) => {
  const mine = await receiver(t)
  const { event } = (await partner.request('POST', at(mine, '/test'))).body as {
    event: { id: string }
  }
  const operators = operatorsOf(stack.sandbox)
  t.teardown(() => operators.close())
  const other = partnerOf(stack.sandbox, await operators.createPartner('umbrella'))
  await eventually(
    'it may call',
    async () => (await other.request('GET', '/v1/events')).status === 200,
  )
  const told = new Set<string>()
  const without = ({ status, text }: HttpAnswer): string =>
    `${status} ${text.replace(/req_[0-9A-Z]{26}/, 'req')}`
  for (const [method, rest, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { description: 'mine' }],
    ['DELETE', '', undefined],
    ['POST', '/enable', undefined],
    ['POST', '/disable', undefined],
    ['POST', '/rotate_secret', undefined],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/recover', { since: '2026-01-01T00:00:00Z' }],
  ] as const) {
    told.add(without(await other.request(method, at(mine, rest), body)))
    const nobody = { endpointId: 'we_00000000000000000000000000' }
    told.add(without(await partner.request(method, at(nobody, rest), body)))
  }
  const resend = (id: string) => `/v1/events/${id}/resend`
  const to = { endpoint_id: mine.endpointId }
  told.add(without(await other.request('POST', resend(event.id), to)))
  t.equal(told.size, 1)
  t.match([...told][0], /^404 .*webhook_endpoint_not_found/)
  const events = new Set([
    without(await other.request('POST', resend(event.id))),
    without(await partner.request('POST', resend('evt_00000000000000000000000000'))),
  ])
  t.equal(events.size, 1)
  t.match([...events][0], /^404 .*event_not_found/)
  t.match((await other.request('GET', '/v1/events')).body, { data: [], next_after: 0 })
})

void t.test('a test comes to one endpoint alone, signed like the rest', async (t) => {
  const [mine, other] = [await receiver(t), await receiver(t)]
  await partner.request('PATCH', at(mine), { enabled_events: ['payout.reversed'] })
  const { status, body } = await partner.request('POST', at(mine, '/test'))
  t.equal(status, 202)
  const { event } = body as { event: { id: string } }
  const came = await mine.until('the test', ({ eventId }) => eventId === event.id)
  t.match(came, { verdict: 'valid', eventType: 'webhook_endpoint.test' })
  t.equal(came.body.toString(), JSON.stringify(event), 'as the answer showed it')
  const payout = await pay()
  await other.until('a later event', isOf(payout, 'payout.completed'))
  t.notOk(typesOf(other).includes('webhook_endpoint.test'))
})

void t.test('disabled it holds its events, enabled it gets them', async (t) => {
  const [mine, other] = [await receiver(t), await receiver(t)]
  t.match((await partner.request('POST', at(mine, '/disable'))).body, {
    ...{ status: 'disabled', disabled_reason: 'by_partner' },
  })
  t.match(await partner.request('POST', at(mine, '/test')), { status: 409 })
  const shown = (await partner.request('GET', at(mine))).body
  const told = await other.until(
    'the other is told',
    ({ eventType, body }) =>
      eventType === 'webhook_endpoint.disabled' && body.includes(mine.endpointId),
  )
  const event = JSON.parse(told.body.toString()) as { data: object }
  t.same([told.verdict, event.data], ['valid', { webhook_endpoint: shown }])
  const feed = (await partner.request('GET', '/v1/events?after=0&limit=100')).body
  t.ok(JSON.stringify(feed).includes(told.body.toString()), 'the list of events has it too')
  const payout = await pay()
  await other.until('the other has it', isOf(payout, 'payout.completed'))
  await eventually('all are held', async () => (await listed(mine)).data.length === 3)
  t.same(new Set((await listed(mine)).data.map((each) => each.status)), new Set(['pending']))
  t.equal(mine.deliveries.length, 0)

  t.match((await partner.request('POST', at(mine, '/enable'))).body, { status: 'enabled' })
  for (const type of ['payout.created', 'payout.processing', 'payout.completed']) {
    await mine.until(`${type} comes late`, isOf(payout, type))
  }

  const off = await ops('webhooks', 'disable', mine.endpointId, '--reason', 'it asked us to')
  t.match(off.out, `${mine.endpointId} is disabled`)
  t.match((await partner.request('GET', at(mine))).body, { disabled_reason: 'by_operator' })
  t.match(await ops('webhooks', 'enable', mine.endpointId), { exitCode: 2, err: '--reason' })
  await ops.json('webhooks', 'enable', mine.endpointId, '--reason', 'it asked us to')
})

void t.test('a rotated secret signs from its moment on', async (t) => {
  const mine = await receiver(t)
  const activate_at = toRfc3339(plus(systemClock.now(), 1_500))
  const rotated = await partner.request('POST', at(mine, '/rotate_secret'), { activate_at })
  const { key_id, secret } = rotated.body as { key_id: string; secret: string }
  t.match(rotated.body, { key_id: `${mine.endpointId}_2`, secret: /^whsec_/, activate_at })
  mine.trust(key_id, secret)
  const keyOf = ({ headers }: ReceivedWebhook) => headers['x-service-key-id']
  const test = async (): Promise<ReceivedWebhook> => {
    const { event } = (await partner.request('POST', at(mine, '/test'))).body as {
      event: { id: string }
    }
    return mine.until('the test', ({ eventId }) => eventId === event.id)
  }
  t.equal(keyOf(await test()), `${mine.endpointId}_1`)
  t.match((await partner.request('GET', at(mine))).body, { next_key: { key_id, activate_at } })
  await eventually('the new one signs', async () => keyOf(await test()) === key_id)
  t.match((await partner.request('GET', at(mine))).body, { key_id })
  t.same(new Set(mine.deliveries.map(({ verdict }) => verdict)), new Set(['valid']))
})

void t.test('deliveries are listed with their tries, and an event is sent again', async (t) => {
  const mine = await receiver(t)
  const payout = await pay()
  const completed = await mine.until('the end', isOf(payout, 'payout.completed'))
  await eventually('all are listed', async () => {
    const { data } = await listed(mine)
    return data.length === 3 && data.every(({ status }) => status === 'delivered')
  })
  const first = await listed(mine, '?limit=2')
  t.equal(first.data.length, 2)
  t.match(first.data[0], {
    ...{ event_type: 'payout.completed', endpoint_id: mine.endpointId, next_attempt_at: null },
    attempts: [{ number: 1, at: /Z$/, status: 200, reason: 'http_200', reply: '' }],
  })
  const rest = await listed(mine, `?limit=2&cursor=${first.next_cursor ?? ''}`)
  t.same([rest.data.length, rest.next_cursor], [1, null])

  const resend = `/v1/events/${completed.eventId}/resend`
  const again = await partner.request('POST', resend, { endpoint_id: mine.endpointId })
  t.match(again, { status: 202, body: { event_id: completed.eventId } })
  const came = await mine.until('it again', ({ verdict }) => verdict === 'duplicate')
  t.equal(came.eventId, completed.eventId)
  t.equal(came.body.toString(), completed.body.toString(), 'the same bytes')
  await eventually('both tries are listed', async () => {
    const { data } = await listed(mine)
    return data[0]?.status === 'delivered' && data[0].attempts.length === 2
  })
})

void t.test('dead letters are found and redriven, and a partner recovers', async (t) => {
  let status = 404
  const mine = await receiver(t, () => status)
  await pay()
  await eventually('three are dead', async () => {
    const { data } = await listed(mine)
    return data.length === 3 && data.every((each) => each.status === 'dead')
  })
  const dead = await ops.json('webhooks', 'dead', '--endpoint', mine.endpointId)
  const letters = dead['data'] as { id: string; reason: string; tries: number }[]
  t.match(letters, [{ reason: 'http_404', tries: 1 }, {}, {}])
  t.match((await ops('webhooks', 'dead')).out, letters[0]?.id)
  t.match((await ops('webhooks', 'status')).out, /^dead letters +[3-9]/m)
  t.match((await ops('webhooks', 'endpoints')).out, `${mine.endpointId}  demo_sandbox`)

  status = 200
  const one = letters[0]?.id ?? ''
  t.match(await ops('webhooks', 'redrive', one), { exitCode: 2, err: '--reason' })
  t.match(await ops('webhooks', 'redrive', '--reason', 'r'), {
    exitCode: 2,
    err: 'Name a delivery',
  })
  t.match(await ops('webhooks', 'redrive', 'dlv_0', '--reason', 'r'), { exitCode: 1 })
  t.same(await ops.json('webhooks', 'redrive', one, '--reason', 'ticket 7'), {
    redriven: 1,
    more: false,
  })
  await eventually('it came', () => mine.events.size === 1)
  t.match((await ops('actions')).out, /webhook_redrive/)

  status = 503
  await pay()
  await eventually('three wait', async () => {
    const { data } = await listed(mine)
    return data.filter((each) => each.status === 'waiting').length === 3
  })
  status = 200
  const since = '2026-01-01T00:00:00Z'
  const recovered = await partner.request('POST', at(mine, '/recover'), { since })
  t.match(recovered, { status: 202, body: { redriven: 5, has_more: false } })
  await eventually('all came', () => mine.events.size === 6)
  const none = await ops.json(
    ...['webhooks', 'redrive', '--endpoint', mine.endpointId, '--reason', 'r'],
  )
  t.equal(none['redriven'], 0)
  t.match((await ops('webhooks', 'poison')).out, 'There are none.')
})

void t.test('events by their numbers have no gap while new ones come', async (t) => {
  const mine = await receiver(t)
  const { next_after: start } = await lastOf()
  let busy = true
  const work = (async () => {
    for (let i = 0; i < 8; i++) {
      await Promise.all([pay(), ...[1, 2, 3].map(() => partner.request('POST', at(mine, '/test')))])
    }
    busy = false
  })()
  const seen: EventPage['data'][number][] = []
  for (let after = start, more = true; busy || more;) {
    const page = await pageOf(after)
    seen.push(...page.data)
    ;[after, more] = [page.next_after, page.has_more || page.data.length > 0]
  }
  await work
  t.ok(seen.length >= 8 * 5, `${seen.length} events`)
  t.same(
    seen.map(({ sequence }) => sequence),
    seen.map((_, i) => start + i + 1),
  )
  const wanted = (await lastOf(start)).bodies
  await eventually('all were delivered', () =>
    [...wanted.keys()].every((id) => mine.events.has(id)),
  )
  for (const [id, body] of wanted) {
    t.equal(mine.events.get(id)?.body.toString(), body, 'as it is delivered')
  }
})

async function pageOf(after: number): Promise<EventPage> {
  return (await partner.request('GET', `/v1/events?after=${after}&limit=7`)).body as EventPage
}

/** Everything behind a number: where it ends, and the bodies by event id. */
async function lastOf(after = 0): Promise<{ next_after: number; bodies: Map<string, string> }> {
  const bodies = new Map<string, string>()
  for (;;) {
    const { data, next_after, has_more } = await pageOf(after)
    for (const { event } of data) bodies.set(event.id, JSON.stringify(event))
    if (!has_more) return { next_after, bodies }
    after = next_after
  }
}

void t.test(
  'a pool that stays silent or away is told as such, and nothing else waits',
  async (t) => {
    const mine = await receiver(t)
    stack.kill('webhooks', 'SIGSTOP')
    try {
      const asked = partner.request('GET', at(mine, '/deliveries'))
      t.equal((await partner.request('GET', at(mine))).status, 200)
      t.equal((await partner.request('GET', '/v1/events')).status, 200)
      t.match(await asked, { status: 504, body: { error: { code: 'timeout' } } })
    } finally {
      stack.kill('webhooks', 'SIGCONT')
    }
    await eventually('it answers again', async () => (await listed(mine)).data.length === 0)
    stack.kill('webhooks')
    const away = await eventually('nobody attends', async () => {
      const answer = await partner.request('GET', at(mine, '/deliveries'))
      return answer.status === 503 && answer
    })
    t.match(away.body, { error: { code: 'configuration_error' } })
    for (const restarted of ['webhooks', 'processor']) {
      await stack.untilServing()
      await eventually(`it attends again after ${restarted}`, async () => {
        return (await partner.request('GET', at(mine, '/deliveries'))).status === 200
      })
      if (restarted === 'webhooks') stack.kill('processor')
    }
  },
)

void t.test('listen shows what comes, and the program behind can verify it too', async (t) => {
  let secrets: Record<string, string> = {}
  const behind = await openReceiver({
    ...{ clock: systemClock, brand: 'Service', port: 0 },
    secretOf: (keyId) => secrets[keyId],
    answer: () => 202,
  })
  t.teardown(() => behind.close())
  const main = join(projectRoot(), '.build/src/operations/main.js')
  const child = spawn(process.execPath, [main, 'listen', '--forward-to', `${behind.url}/in?a=b`], {
    env: { ...process.env, DATA_DIR: stack.dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
  const shown = await eventually(
    'it listens',
    () => /^WEBHOOK_SECRETS='(.*)'$/m.exec(said.err)?.[1],
  )
  secrets = JSON.parse(shown) as typeof secrets
  const [, endpointId = ''] = /\/in\?a=b as (we_\S+);/.exec(said.err) ?? []
  t.equal((await partner.request('POST', at({ endpointId }, '/test'))).status, 202)
  await eventually('it told of the test', () => said.out.includes('\n'))
  t.match(said.out, /^webhook_endpoint\.test +evt_\S+  valid, answered 202$/m)
  t.equal(behind.deliveries[0]?.verdict, 'valid')
  const ended = once(child, 'close')
  child.kill('SIGINT')
  t.same(await ended, [0, null])
  t.match(await partner.request('GET', at({ endpointId })), { status: 404 }, 'taken back')
})

void t.test('the figures are measured, and the books agree', async (t) => {
  const metrics = await (await fetch(`${stack.sandbox.ops_url}/metrics`)).text()
  for (const name of ['backlog', 'oldest_age_seconds', 'open_breakers', 'dead_letters']) {
    t.match(metrics, new RegExp(`^causeway_webhook_${name}\\{[^}]*\\} \\d`, 'm'), name)
  }
  t.equal(await stack.stop(), 0)
  const { clean, report } = await auditOf(stack.dataDir)
  t.ok(clean, report)
})
