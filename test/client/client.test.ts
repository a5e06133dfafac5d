/** Retries, errors and pagination of the client. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  ConflictError,
  ConnectionError,
  createClient,
  IdempotencyKeyError,
  RateLimitError,
  RefusedError,
  ServiceError,
  type Client,
} from '../../src/client/index.js'

interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
type Script = (request: IncomingMessage, number: number) => Reply | 'hang up'

interface World {
  readonly client: Client
  readonly requests: IncomingMessage[]
  /** Delays between attempts, milliseconds. */
  readonly pauses: number[]
}

async function world(t: Test, script: Script): Promise<World> {
  const requests: IncomingMessage[] = []
  const pauses: number[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    request.resume()
    request.on('end', () => {
      const reply = script(request, requests.length)
      if (reply === 'hang up') {
        request.socket.destroy()
        return
      }
      const key = request.headers['idempotency-key']
      const echo = typeof key === 'string' ? { 'idempotency-key': key } : {}
      response.writeHead(reply.status, { ...echo, ...reply.headers })
      response.end(JSON.stringify(reply.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const client = createClient(
    { baseUrl: `http://127.0.0.1:${port}`, keyId: 'a_sandbox_2026q4', secret: 'sk' },
    {
      random: () => 1,
      sleep: (ms) => {
        pauses.push(ms)
        return Promise.resolve()
      },
    },
  )
  return { client, requests, pauses }
}

const refusal = (code: string) => ({ error: { code, message: 'm', request_id: 'req_1' } })
const PAYOUT = { amount: '1', currency: 'VND', beneficiary_id: 'ben_1', reference: 'r' }

void t.test('a write with a key is retried with the same key and a new nonce', async (t) => {
  const { client, requests, pauses } = await world(t, (_request, number) =>
    number === 1 ? { status: 503 } : number === 2 ? 'hang up' : { status: 202, body: { id: 'p' } },
  )
  t.same(await client.payouts.create(PAYOUT), { id: 'p' })
  t.equal(requests.length, 3)
  const values = (name: string): unknown[] => requests.map(({ headers }) => headers[name])
  t.equal(new Set(values('idempotency-key')).size, 1)
  t.equal(new Set(values('x-service-nonce')).size, 3)
  t.same(pauses, [200, 400])
})

void t.test('Retry-After is respected up to a maximum', async (t) => {
  const { client, pauses } = await world(t, (_request, number) =>
    number < 3
      ? { status: 429, headers: { 'retry-after': number === 1 ? '2' : '3600' } }
      : { status: 200, body: { data: [] } },
  )
  t.same(await client.balances(), [])
  t.same(pauses, [2_000, 10_000])
})

void t.test('the error of the last attempt is thrown', async (t) => {
  const { client, requests } = await world(t, () => ({
    status: 429,
    body: refusal('rate_limited'),
  }))
  await t.rejects(client.payouts.get('pout_1'), RateLimitError)
  t.equal(requests.length, 5)
  const gone = await world(t, () => 'hang up')
  await t.rejects(gone.client.payouts.create(PAYOUT), ConnectionError)
  t.equal(gone.requests.length, 5)
})

void t.test('a write without a key is sent once', async (t) => {
  const { client, requests } = await world(t, () => ({ status: 503, body: refusal('x') }))
  await t.rejects(client.paymentIntents.cancel('pi_1'), ServiceError)
  t.equal(requests.length, 1)
})

void t.test('refusals are thrown by class, with code and request id', async (t) => {
  const { client, requests } = await world(t, (_request, number) =>
    number === 1
      ? { status: 422, body: refusal('insufficient_balance') }
      : { status: 409, body: refusal('duplicate_payout') },
  )
  const refused = await client.payouts.create(PAYOUT).catch((error: unknown) => error)
  t.type(refused, RefusedError)
  t.match(refused, { status: 422, code: 'insufficient_balance', requestId: 'req_1' })
  await t.rejects(client.payouts.create(PAYOUT), ConflictError)
  t.equal(requests.length, 2, 'neither is retried')
})

void t.test('a key must be printable ASCII, and the response must repeat it', async (t) => {
  const { client, requests } = await world(t, () => ({
    status: 202,
    headers: { 'idempotency-key': 'inv-' },
  }))
  for (const idempotencyKey of ['inv-é', '', ' a', 'a\n', 'x'.repeat(256)]) {
    await t.rejects(client.payouts.create(PAYOUT, { idempotencyKey }), IdempotencyKeyError)
  }
  t.equal(requests.length, 0)
  await t.rejects(client.payouts.create(PAYOUT, { idempotencyKey: 'inv-1' }), IdempotencyKeyError)
})

void t.test('a list is read page by page, on demand', async (t) => {
  const { client, requests } = await world(t, ({ url }) => {
    const cursor = Number(new URL(url ?? '', 'http://x').searchParams.get('cursor') ?? 0)
    const next_cursor = cursor === 2 ? null : String(cursor + 1)
    return { status: 200, body: { data: [{ id: `p${cursor}` }], next_cursor } }
  })
  const ids: string[] = []
  for await (const { id } of client.payouts.list({ status: 'failed' })) ids.push(id)
  t.same(ids, ['p0', 'p1', 'p2'])
  t.ok(requests.every(({ url }) => url?.includes('status=failed')))
  for await (const { id } of client.payouts.list()) {
    ids.push(id)
    break
  }
  t.equal(requests.length, 4)
})
