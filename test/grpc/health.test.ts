/** `grpc.health.v1` of the gRPC servers, without a credential. */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { GRPC_HEALTH_CALLS_MAX } from '../../src/base/constants.js'
import { checkHealth, connectHealth, watchHealth } from '../support/grpc_health.js'
import { eventually } from '../support/eventually.js'
import { serveRail } from './rail_server.js'

const RAIL = 'causeway.rail.v1.Rail'
async function serve(t: Test) {
  const { server, port } = await serveRail(t)
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
