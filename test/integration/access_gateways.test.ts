/**
 * Two gateways on one port with one processor share nonces and revocations, also
 * after any of the three processes is killed.
 */
import t, { type Test } from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { anIntent, payeeOf, payoutBody } from '../support/requests.js'
import { eventually } from '../support/eventually.js'
import { openRawConnection, type RawRequest, type RawResponse } from '../support/raw_requests.js'
import { createResource, openAccess, type Tenant } from './access_tenants.js'
import { signed } from './access_credentials.js'

const GATEWAYS = ['gateway-1', 'gateway-2'] as const
type Gateway = (typeof GATEWAYS)[number]

const access = await openAccess(t, { GATEWAYS: '2', RATE_LIMIT: 'on' })
const { stack, operators } = access
const acme = access.tenant('acme', 'sandbox', await operators.createPartner('acme'))
const slow = access.tenant('slow', 'sandbox', await operators.createPartner('slow'))

/** A signed request, which can be replayed byte for byte. */
function signedRequest(method: string, path: string, body?: unknown, tenant = acme): RawRequest {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = signed(tenant)({ method, path, body: text })
  return { method, path, host: tenant.host, headers, ...(text === '' ? {} : { body: text }) }
}
const balances = (tenant: Tenant = acme): RawRequest =>
  signedRequest('GET', '/v1/balances', undefined, tenant)

/** A connection to a known gateway. */
interface GatewayConnection {
  send(request: RawRequest): Promise<RawResponse>
}
type Connections = Readonly<Record<Gateway, GatewayConnection>>

/** Opens connections until the kernel has assigned one to each gateway. */
async function connectionPerGateway(t: Test): Promise<Connections> {
  const connections: Partial<Record<Gateway, GatewayConnection>> = {}
  await eventually('each gateway has a connection', async () => {
    const connection = openRawConnection(stack.baseUrl)
    t.teardown(() => connection.destroy())
    const before = await requestsServed()
    await connection.send(balances())
    const after = await requestsServed()
    const [name, second] = GATEWAYS.filter((each) => after[each] > before[each])
    if (name === undefined || second !== undefined) return false
    connections[name] = {
      send: (request) => {
        if (!connection.isOpen()) throw new Error(`${name} has closed the connection`)
        return connection.send(request)
      },
    }
    return GATEWAYS.every((each) => connections[each] !== undefined)
  })
  return connections as Connections
}

const requestsServed = (): Promise<Record<Gateway, number>> =>
  counted('causeway_http_requests_total')

/** The sum of a metric's samples per gateway. */
async function counted(metric: string, label = ''): Promise<Record<Gateway, number>> {
  const text = await stack.metrics()
  const sumOf = (gateway: Gateway): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${metric}{`) && line.includes(label))
      .filter((line) => line.includes(`process="${gateway}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  return { 'gateway-1': sumOf('gateway-1'), 'gateway-2': sumOf('gateway-2') }
}

/** Resolves when a killed process is replaced and both gateways are connected to the processor. */
async function untilReplaced(process: string, killedPid: number): Promise<void> {
  await eventually('another process runs', () => stack.pidOf(process) !== killedPid)
  await stack.untilServing()
  await eventually('both gateways are connected', async () => {
    const open = await counted('causeway_gateway_stream_open')
    const fresh = await counted('causeway_gateway_directory_fresh')
    return GATEWAYS.every((name) => open[name] + fresh[name] === 2)
  })
}

async function replace(process: string): Promise<void> {
  const pid = stack.pidOf(process)
  stack.kill(process)
  await untilReplaced(process, pid)
}

/** One request per kind of response, with the status of its first response. */
async function requestsByStatus(): Promise<
  readonly (readonly [status: number, request: RawRequest])[]
> {
  const { id } = await createResource(acme, 'created intent')
  const intent = `/v1/payment_intents/${id}`
  await acme.client.request('POST', `${intent}/cancel`)
  const nowhere = payeeOf('0123456789', { destination_country: 'ZW' })
  const payout = signedRequest('POST', '/v1/payouts', payoutBody({ beneficiary: nowhere }))
  const kyc_attestation = { ...anIntent().kyc_attestation, verified: false }
  return [
    [200, balances()],
    [200, signedRequest('GET', intent)],
    [200, signedRequest('GET', '/v1/payouts?limit=1')],
    [201, signedRequest('POST', '/v1/payment_intents', anIntent())],
    [400, signedRequest('POST', '/v1/payment_intents', { unknown: true })],
    [400, signedRequest('GET', '/v1/payouts?limit=0')],
    [403, signedRequest('POST', '/v1/payment_intents', { ...anIntent(), kyc_attestation })],
    [404, signedRequest('GET', `/v1/payment_intents/pi_${'0'.repeat(26)}`)],
    [404, signedRequest('GET', '/v1/nowhere')],
    [405, signedRequest('DELETE', intent)],
    [409, signedRequest('POST', `${intent}/cancel`)],
    [422, { ...payout, headers: [...payout.headers, ['Idempotency-Key', 'nowhere']] }],
  ]
}

t.test('every gateway rejects a revoked key within a second', async (t) => {
  const connections = await connectionPerGateway(t)
  const revoked = access.tenant('acme', 'sandbox', await operators.issueKey('acme', 'sandbox'))
  const accepted: number[] = []
  let over = false
  const use = async ({ send }: GatewayConnection): Promise<void> => {
    while (!over) {
      const sentAt = performance.now()
      if ((await send(balances(revoked))).status === 200) accepted.push(sentAt)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const uses = GATEWAYS.map((name) => use(connections[name]))
  await eventually('the key is in use', () => accepted.length > 50)
  await operators.revokeKey(revoked.key.keyId)
  const revokedAt = performance.now()
  await eventually('a second has passed', () => performance.now() > revokedAt + 1_000)

  const refusals = () => counted('causeway_http_authentication_refusals_total', 'key_revoked')
  const before = await refusals()
  await eventually('each gateway rejects the key', async () => {
    const after = await refusals()
    return GATEWAYS.every((name) => after[name] > before[name])
  })
  over = true
  await Promise.all(uses)
  const late = accepted.filter((sentAt) => sentAt > revokedAt + 1_000)
  t.same(late, [], 'no request sent a second later is accepted')
  t.equal((await access.send(balances())).status, 200, 'the other key stays valid')
})

t.test('of concurrent requests with one nonce over both gateways one succeeds', async (t) => {
  const connections = await connectionPerGateway(t)
  for (let round = 0; round < 15; round++) {
    const create = signedRequest('POST', '/v1/payment_intents', anIntent())
    const [, nonce = ''] = create.headers.find(([name]) => name === 'X-Service-Nonce') ?? []
    // The same nonce in another request with a valid signature.
    const read = { method: 'GET', path: '/v1/balances', body: '' }
    const reading = { ...signedRequest('GET', read.path), headers: signed(acme, { nonce })(read) }
    const twins = GATEWAYS.flatMap((name) =>
      [create, reading, create].map((request) => ({ connection: connections[name], request })),
    )
    if (round % 2 === 1) twins.reverse()
    const answers = await Promise.all(
      twins.map(({ connection, request }) => connection.send(request)),
    )
    const statuses = answers.map(({ status }) => status)
    t.equal(statuses.filter((status) => status < 300).length, 1, statuses.join())
    t.equal(statuses.filter((status) => status === 401).length, statuses.length - 1)
  }
})

t.test('a used nonce stays used after every kind of response and after a kill', async (t) => {
  const used = await requestsByStatus()
  const connections = await connectionPerGateway(t)
  for (const [index, [status, request]] of used.entries()) {
    const connection = connections[GATEWAYS[index % 2] as Gateway]
    const answer = await connection.send(request)
    t.equal(answer.status, status, `${request.method} ${request.path}: ${answer.text}`)
  }
  const refusals = new Set<string>()
  const replay = async (when: string): Promise<void> => {
    const again = await connectionPerGateway(t)
    for (const [status, request] of used) {
      for (const name of GATEWAYS) {
        const answer = await again[name].send(request)
        t.equal(answer.status, 401, `${request.path}, first ${status}, over ${name} ${when}`)
        refusals.add(answer.comparable)
      }
    }
    t.equal((await access.send(balances())).status, 200, 'a new nonce is accepted')
  }
  await replay('immediately')
  await replace('processor')
  await replay('after a kill of the processor')
  await replace('gateway-1')
  await replay('after a kill of a gateway')
  t.equal(refusals.size, 1, 'all refusals are equal')
})

interface Movements {
  readonly data: readonly { readonly currency: string; readonly amount: string }[]
}

t.test('a replay after a kill of the processor moves money once', async (t) => {
  const amounts = Array.from({ length: 24 }, (_, index) => String(7_000_001 + index))
  const deposits = amounts.map((amount) =>
    signedRequest('POST', '/v1/funding/deposits', { currency: 'THB', amount }),
  )
  let killed = false
  const sendAll = (): Promise<number[]> =>
    Promise.all(
      deposits.map(async (deposit) => {
        const connection = openRawConnection(stack.baseUrl)
        t.teardown(() => connection.destroy())
        const answer = await connection.send(deposit).catch(() => undefined)
        if (answer?.status === 201 && !killed) {
          killed = true
          stack.kill('processor')
        }
        return answer?.status ?? 0
      }),
    )
  const before = stack.pidOf('processor')
  const first = await sendAll()
  await untilReplaced('processor', before)

  const second = await sendAll()
  const path = '/v1/balance_transactions?limit=100'
  const { data } = (await access.send(signedRequest('GET', path))).body as Movements
  for (const [index, amount] of amounts.entries()) {
    const statuses = `${first[index]} and then ${second[index]}`
    t.equal(data.filter((movement) => movement.amount === amount).length, 1, statuses)
    t.ok(second[index] === 401 || (second[index] === 201 && first[index] !== 201), statuses)
  }
})

t.test('a 429 has Retry-After and does not consume the nonce', async (t) => {
  await operators.setRateLimit('slow', 1)
  const connections = await connectionPerGateway(t)
  const connection = connections['gateway-1']
  const limited = await eventually('a 429', async () => {
    const request = balances(slow)
    const answer = await connection.send(request)
    return answer.status === 429 && { request, answer }
  })
  t.match(limited.answer, { code: 'rate_limited', headers: { 'retry-after': '1' } })
  t.equal((await connection.send(balances())).status, 200, 'other keys are not limited')
  const later = await eventually('the rate limit permits the request again', async () => {
    const answer = await connection.send(limited.request)
    return answer.status !== 429 && answer
  })
  t.equal(later.status, 200, 'the same bytes')
})

t.test('the audit finds no violation', (t) => assertCleanAudit(t, stack.dataDir))
