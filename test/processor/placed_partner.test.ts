/** Calls for partners of other processors of the cluster. */
import t from 'tap'
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import { contracts } from '../../src/grpc/contracts.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { META, openPartnerServices } from './partner_services.js'

const HERE = { shard: 'books_1', address: '10.0.0.1:50051', epoch: 1 }
const PLACES: Readonly<Record<string, typeof HERE>> = {
  umbrella: { shard: 'books_2', address: '10.0.0.2:50051', epoch: 4 },
  unserved: { shard: 'books_3', address: '', epoch: 0 },
  unfinished: HERE,
}

let isClusterDown = false
const { address, clients } = await openPartnerServices(t, {}, CLEARTEXT, {
  shard: HERE.shard,
  place: (partner) => Promise.resolve(PLACES[partner] ?? null),
  whereIs: (partner) =>
    isClusterDown ? Promise.reject(new Error('down')) : Promise.resolve(PLACES[partner]),
})
const { Payouts: payouts, Events: events } = clients
const { v1 } = contracts<OperatorProto>().causeway.operator
const operator = new v1.Operator(address, credentials.createInsecure())
t.teardown(() => operator.close())

const tenantOf = (partner_id: string) => ({ partner_id, environment: 'sandbox' })
type Outcome = readonly [grpc: string, code: string, address: string]

const outcomeOf = (error: ServiceError | null): Outcome => {
  const text = (name: string): string => String(error?.metadata.get(name)[0] ?? '')
  return [status[error?.code ?? 0] ?? '', text('causeway-error'), text('causeway-processor')]
}

const balances = (partner: string): Promise<Outcome> =>
  new Promise((resolve) => {
    payouts.Balances({ tenant: tenantOf(partner) }, META, (error) => resolve(outcomeOf(error)))
  })

const watch = (partner: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const stream = events.Watch({ tenant: tenantOf(partner), after: '0' }, META)
    stream.on('data', () => {
      resolve(outcomeOf(null))
      stream.cancel()
    })
    stream.on('error', (error: ServiceError) => resolve(outcomeOf(error)))
  })

const deposit = (partner: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const money = { currency: 'USD', amount: '1000', idempotency_key: 'k1' }
    const request = { actor: { reason: 'a test' }, tenant: tenantOf(partner), ...money }
    operator.Deposit(request, META, (error) => resolve(outcomeOf(error)))
  })

const ELSEWHERE = ['FAILED_PRECONDITION', 'not_here', '10.0.0.2:50051']

t.test(
  'a call for a partner of another shard gets not_here and the address of its processor',
  async (t) => {
    t.same(await balances('umbrella'), ELSEWHERE)
    t.same(await watch('umbrella'), ELSEWHERE)
    t.same(await deposit('umbrella'), ELSEWHERE)
    const unserved = ['FAILED_PRECONDITION', 'not_here', '']
    t.same(await balances('unserved'), unserved, 'a shard that was never served')
  },
)

t.test('own and unknown partners are answered as without a cluster', async (t) => {
  t.same(await balances('demo'), ['OK', '', ''])
  t.same(await deposit('demo'), ['OK', '', ''])
  const unknown = ['INVALID_ARGUMENT', 'invalid_request', '']
  t.same(await balances('nobody'), unknown)
  t.same(await balances('unfinished'), unknown, 'placed in this shard, not created yet')
})

t.test(
  'while the cluster schema is unavailable a call for another shard gets configuration_error',
  async (t) => {
    isClusterDown = true
    t.same(await balances('umbrella'), ['UNAVAILABLE', 'configuration_error', ''])
    t.same(await balances('demo'), ['OK', '', ''])
  },
)
