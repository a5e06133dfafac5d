/** `grpc.health.v1` of the gRPC servers, without a credential. */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { createRpcAccess } from '../../src/auth/rpc_access.js'
import { GRPC_HEALTH_CALLS_MAX } from '../../src/base/constants.js'
import { createGrpcServer } from '../../src/grpc/server.js'
import { contracts } from '../../src/grpc/contracts.js'
import { withEveryRole } from '../support/callers.js'
import { checkHealth, connectHealth, watchHealth } from '../support/grpc_health.js'
import { eventually } from '../support/eventually.js'

const RAIL = 'causeway.rail.v1.Rail'
const end = (code: status) => ({ code, details: '' })

async function serve(t: Test) {
  const server = createGrpcServer({
    access: createRpcAccess(withEveryRole('it_ours')),
    unauthenticated: end(status.UNAUTHENTICATED),
    denied: end(status.PERMISSION_DENIED),
    tooSlow: end(status.DEADLINE_EXCEEDED),
    malformed: () => end(status.INVALID_ARGUMENT),
  })
  const { Rail } = contracts<ProtoGrpcType>().causeway.rail.v1
  server.addService(Rail.service, {
    Describe: () => undefined,
    Summarize: () => undefined,
    Link: () => undefined,
  })
  const port = await server.bind('127.0.0.1:0')
  t.teardown(() => server.close(0))
  const client = connectHealth(`127.0.0.1:${port}`)
  t.teardown(() => client.close())
  return { server, client }
}

t.test('health is SERVING between the end of startup and the stop', async (t) => {
  const { server, client } = await serve(t)
  t.equal(await checkHealth(client, ''), 'NOT_SERVING', 'during startup')
  const whole = watchHealth(client, '')
  const rail = watchHealth(client, RAIL)
  const unknown = watchHealth(client, 'unknown')
  await eventually('both watches have the status', () => whole.seen.length + rail.seen.length === 2)
  server.setServing(true)
  t.equal(await checkHealth(client, ''), 'SERVING')
  t.equal(await checkHealth(client, RAIL), 'SERVING')
  t.equal(await checkHealth(client, 'unknown'), status.NOT_FOUND)
  server.setServing(false)
  t.equal(await checkHealth(client, RAIL), 'NOT_SERVING', 'while it drains')
  server.setServing(true)
  await eventually('both watches have the status', () => whole.seen.length + rail.seen.length === 8)
  await server.close(5_000)
  const all = ['NOT_SERVING', 'SERVING', 'NOT_SERVING', 'SERVING', 'NOT_SERVING']
  await eventually('both watches have ended', () => whole.ends.length + rail.ends.length === 2)
  t.same(whole.seen, all)
  t.same(rail.seen, all)
  t.same(unknown.seen, ['SERVICE_UNKNOWN'])
  t.same([...whole.ends, ...rail.ends, ...unknown.ends], [status.OK, status.OK, status.OK])
})

t.test('watches are bounded, and the oldest ends first', async (t) => {
  const { client } = await serve(t)
  const oldest = watchHealth(client, '')
  await eventually('the watch has the status', () => oldest.seen.length === 1)
  const others = Array.from({ length: GRPC_HEALTH_CALLS_MAX }, (_, i) =>
    watchHealth(client, `x${i}`),
  )
  await eventually('the oldest watch has ended', () => oldest.ends.length === 1)
  t.same(oldest.ends, [status.RESOURCE_EXHAUSTED])
  t.equal(await checkHealth(client, ''), 'NOT_SERVING')
  for (const { stream } of others) stream.cancel()
})
