/**
 * Two gateways on one port before one processor: a nonce and a key mean the same to both, and after
 * any of the three was killed.
 */
import t, { type Test } from 'tap'
import { Client } from 'undici'
import { auditOf } from '../support/audit.js'
import { anIntent, aPayout } from '../support/requests.js'
import { eventually } from '../support/eventually.js'
import {
  makeSubject,
  openAccess,
  sendOver,
  type AccessResponse,
  type AccessRequest,
  type Party,
} from './access_parties.js'
import { signed } from './access_proofs.js'

const GATEWAYS = ['gateway-1', 'gateway-2'] as const
type Gateway = (typeof GATEWAYS)[number]

const access = await openAccess(t, { GATEWAYS: '2', RATE_LIMIT: 'on' })
const { stack, operators } = access
const acme = access.party('acme', 'sandbox', await operators.createPartner('acme'))
const slow = access.party('slow', 'sandbox', await operators.createPartner('slow'))

/** A signed request: sent again, its bytes are the same. */
function ask(party: Party, method: string, path: string, body?: unknown): AccessRequest {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = signed(party)({ method, path, body: text })
  return { method, path, host: party.host, headers, ...(text === '' ? {} : { body: text }) }
}
const balances = (party: Party = acme): AccessRequest => ask(party, 'GET', '/v1/balances')

/** A connection that one gateway holds, known by name. */
interface TrafficClass {
  send(request: AccessRequest): Promise<AccessResponse>
}
type TrafficClasses = Readonly<Record<Gateway, TrafficClass>>

/** Connects until the kernel has chosen each gateway once. */
async function trafficClassesOf(t: Test): Promise<TrafficClasses> {
  const classes: Partial<Record<Gateway, TrafficClass>> = {}
  await eventually('each gateway holds a connection', async () => {
    const connection = new Client(stack.baseUrl, { keepAliveTimeout: 60_000 })
    t.teardown(() => connection.destroy())
    const before = await requestsServed()
    await sendOver(connection, balances())
    const after = await requestsServed()
    const [name, second] = GATEWAYS.filter((each) => after[each] > before[each])
    if (name === undefined || second !== undefined) return false
    let held = true
    connection.on('disconnect', () => (held = false))
    classes[name] = {
      send: (request) => {
        if (!held) throw new Error(`${name} has closed the connection`)
        return sendOver(connection, request)
      },
    }
    return GATEWAYS.every((each) => classes[each] !== undefined)
  })
  return classes as TrafficClasses
}

const requestsServed = (): Promise<Record<Gateway, number>> => counted('gateway_requests_total')

/** The sum of a metric's samples of each gateway. */
async function counted(metric: string, label = ''): Promise<Record<Gateway, number>> {
  const text = await (await fetch(`${stack.sandbox.ops_url}/metrics`)).text()
  const sumOf = (gateway: Gateway): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${metric}{`) && line.includes(label))
      .filter((line) => line.includes(`process="${gateway}"`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  return { 'gateway-1': sumOf('gateway-1'), 'gateway-2': sumOf('gateway-2') }
}

/** Once a process of this name was killed: its successor serves, and both gateways hear it. */
async function succeeded(process: string, killedPid: number): Promise<void> {
  await eventually('there is another one', () => stack.pidOf(process) !== killedPid)
  await stack.untilServing()
  await eventually('both gateways hear the processor', async () => {
    const open = await counted('gateway_stream_open')
    const fresh = await counted('gateway_directory_fresh')
    return GATEWAYS.every((name) => open[name] + fresh[name] === 2)
  })
}

async function replace(process: string): Promise<void> {
  const pid = stack.pidOf(process)
  stack.kill(process)
  await succeeded(process, pid)
}

/** One of each ending; the first answer's status stands before it. */
async function endings(): Promise<readonly (readonly [status: number, request: AccessRequest])[]> {
  const { id } = await makeSubject(acme, 'created intent')
  const intent = `/v1/payment_intents/${id}`
  await acme.client.request('POST', `${intent}/cancel`)
  const { amount, currency, reference, beneficiary } = aPayout()
  const nowhere = { ...beneficiary, destination_country: 'ZW' }
  const order = { amount, currency, reference, beneficiary: nowhere }
  const payout = ask(acme, 'POST', '/v1/payouts', order)
  const kyc_attestation = { ...anIntent().kyc_attestation, verified: false }
  return [
    [200, balances()],
    [200, ask(acme, 'GET', intent)],
    [200, ask(acme, 'GET', '/v1/payouts?limit=1')],
    [201, ask(acme, 'POST', '/v1/payment_intents', anIntent())],
    [400, ask(acme, 'POST', '/v1/payment_intents', { unknown: true })],
    [400, ask(acme, 'GET', '/v1/payouts?limit=0')],
    [403, ask(acme, 'POST', '/v1/payment_intents', { ...anIntent(), kyc_attestation })],
    [404, ask(acme, 'GET', `/v1/payment_intents/pi_${'0'.repeat(26)}`)],
    [404, ask(acme, 'GET', '/v1/nowhere')],
    [405, ask(acme, 'DELETE', intent)],
    [409, ask(acme, 'POST', `${intent}/cancel`)],
    [422, { ...payout, headers: [...payout.headers, ['Idempotency-Key', 'nowhere']] }],
  ]
}

t.test('a revoked key is refused by every gateway within a second', async (t) => {
  const classes = await trafficClassesOf(t)
  const doomed = access.party('acme', 'sandbox', await operators.issueKey('acme', 'sandbox'))
  const accepted: number[] = []
  let over = false
  const use = async ({ send }: TrafficClass): Promise<void> => {
    while (!over) {
      const sentAt = performance.now()
      if ((await send(balances(doomed))).status === 200) accepted.push(sentAt)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const uses = GATEWAYS.map((name) => use(classes[name]))
  await eventually('it is in use', () => accepted.length > 50)
  await operators.revokeKey(doomed.key.keyId)
  const revokedAt = performance.now()
  await eventually('a second is over', () => performance.now() > revokedAt + 1_000)

  const refusals = () => counted('gateway_authentication_refusals_total', 'key_revoked')
  const before = await refusals()
  await eventually('each gateway refuses it by itself', async () => {
    const after = await refusals()
    return GATEWAYS.every((name) => after[name] > before[name])
  })
  over = true
  await Promise.all(uses)
  const late = accepted.filter((sentAt) => sentAt > revokedAt + 1_000)
  t.same(late, [], 'none was taken that was sent a second later')
  t.equal((await access.send(balances())).status, 200, 'the other key is as good as before')
})

t.test('of twins over both gateways one succeeds', async (t) => {
  const classes = await trafficClassesOf(t)
  for (let round = 0; round < 15; round++) {
    const create = ask(acme, 'POST', '/v1/payment_intents', anIntent())
    const [, nonce = ''] = create.headers.find(([name]) => name === 'X-Service-Nonce') ?? []
    // The same nonce under another good signature.
    const read = { method: 'GET', path: '/v1/balances', body: '' }
    const reading = { ...ask(acme, 'GET', read.path), headers: signed(acme, { nonce })(read) }
    const twins = GATEWAYS.flatMap((name) =>
      [create, reading, create].map((request) => ({ trafficClass: classes[name], request })),
    )
    if (round % 2 === 1) twins.reverse()
    const answers = await Promise.all(
      twins.map(({ trafficClass, request }) => trafficClass.send(request)),
    )
    const statuses = answers.map(({ status }) => status)
    t.equal(statuses.filter((status) => status < 300).length, 1, statuses.join())
    t.equal(statuses.filter((status) => status === 401).length, statuses.length - 1)
  }
})

t.test('a spent nonce stays spent, however its call ended and whoever is killed', async (t) => {
  const spent = await endings()
  const classes = await trafficClassesOf(t)
  for (const [index, [status, request]] of spent.entries()) {
    const trafficClass = classes[GATEWAYS[index % 2] as Gateway]
    const answer = await trafficClass.send(request)
    t.equal(answer.status, status, `${request.method} ${request.path}: ${answer.text}`)
  }
  const refusals = new Set<string>()
  const replay = async (when: string): Promise<void> => {
    const again = await trafficClassesOf(t)
    for (const [status, request] of spent) {
      for (const name of GATEWAYS) {
        const answer = await again[name].send(request)
        t.equal(answer.status, 401, `${request.path}, once ${status}, over ${name} ${when}`)
        refusals.add(answer.comparable)
      }
    }
    t.equal((await access.send(balances())).status, 200, 'a fresh one passes')
  }
  await replay('at once')
  await replace('processor')
  await replay('behind a kill of the processor')
  await replace('gateway-1')
  await replay('behind a kill of a gateway')
  t.equal(refusals.size, 1, 'all bytes are the same')
})

interface Movements {
  readonly data: readonly { readonly currency: string; readonly amount: string }[]
}

t.test('killed before it could answer: the same bytes move money once', async (t) => {
  const amounts = Array.from({ length: 24 }, (_, index) => String(7_000_001 + index))
  const deposits = amounts.map((amount) =>
    ask(acme, 'POST', '/v1/funding/deposits', { currency: 'THB', amount }),
  )
  let killed = false
  const sendAll = (): Promise<number[]> =>
    Promise.all(
      deposits.map(async (deposit) => {
        const connection = new Client(stack.baseUrl)
        t.teardown(() => connection.destroy())
        const answer = await sendOver(connection, deposit).catch(() => undefined)
        if (answer?.status === 201 && !killed) {
          killed = true
          stack.kill('processor')
        }
        return answer?.status ?? 0
      }),
    )
  const before = stack.pidOf('processor')
  const first = await sendAll()
  await succeeded('processor', before)

  const second = await sendAll()
  const path = '/v1/balance_transactions?limit=100'
  const { data } = (await access.send(ask(acme, 'GET', path))).body as Movements
  for (const [index, amount] of amounts.entries()) {
    const told = `${first[index]} and then ${second[index]}`
    t.equal(data.filter((movement) => movement.amount === amount).length, 1, told)
    t.ok(second[index] === 401 || (second[index] === 201 && first[index] !== 201), told)
  }
})

t.test('over its rate a key is told how long to wait, and its nonce is not spent', async (t) => {
  await operators.setRateLimit('slow', 1)
  const classes = await trafficClassesOf(t)
  const trafficClass = classes['gateway-1']
  const limited = await eventually('a 429', async () => {
    const request = balances(slow)
    const answer = await trafficClass.send(request)
    return answer.status === 429 && { request, answer }
  })
  t.match(limited.answer, { code: 'rate_limited', headers: { 'retry-after': '1' } })
  t.equal((await trafficClass.send(balances())).status, 200, 'another key is not meant')
  const later = await eventually('its second is over', async () => {
    const answer = await trafficClass.send(limited.request)
    return answer.status !== 429 && answer
  })
  t.equal(later.status, 200, 'the very same bytes')
})

t.test('the books are in order', async (t) => {
  const { clean, report } = await auditOf(stack.dataDir)
  t.ok(clean, report)
})
