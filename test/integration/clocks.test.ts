/**
 * Processors of one cluster on machines whose clocks differ, as processes: moments do not fall at a
 * take-over, and a machine whose clock is far off takes nothing over until it is right.
 */
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { Client } from 'pg'
import t from 'tap'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { PartnerUpdate__Output as PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { openDirectoryStream } from '../../gateway/upstream/directory_stream.js'
import { callerEntry } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { contracts } from '../../src/grpc/contracts.js'
import { prepareClockSteps } from '../cluster/clock_steps.js'
import { clockSkew } from '../support/clock_skew.js'
import { says, startClusterProcesses, type ProcessorProcess } from '../support/cluster_processes.js'
import { eventually } from '../support/eventually.js'
import { requirePostgres } from '../support/postgres_server.js'

requirePostgres(t)

const OPERATOR = 'token-of-an-operator-of-these-tests-1'
const GATEWAY = 'token-of-a-gateway-of-these-tests-0001'
const {
  folder,
  postgres,
  start: startProcessor,
} = await startClusterProcesses(t, [
  callerEntry('operator', 'anna', OPERATOR),
  callerEntry('gateway', 'gateway', GATEWAY),
])
const clocks = prepareClockSteps(join(folder, 'clocks'))

/** @param skewMs how far its clock is ahead */
const start = (
  name: string,
  skewMs: number,
  settings: Record<string, string>,
): Promise<ProcessorProcess> => startProcessor(name, { ...clockSkew(skewMs), ...settings })

function createPartner({ address }: ProcessorProcess, partner: string): Promise<status> {
  const { Operator } = contracts<OperatorProto>().causeway.operator.v1
  const client = new Operator(address, CLEARTEXT.channelCredentials(address))
  const request = { actor: { name: '', reason: 'a test' }, partner_id: partner }
  return new Promise((resolve) =>
    client.CreatePartner(request, bearer(OPERATOR), (error) => {
      client.close()
      resolve(error?.code ?? status.OK)
    }),
  )
}

/** When the partners of the shard were created, in the order of the commits. */
async function created(shard: string): Promise<number[]> {
  const connection = new Client({ connectionString: postgres.url })
  await connection.connect()
  const { rows } = await connection.query<{ at: string }>(
    `SELECT at FROM ${shard}.operator_log WHERE action = 'create_partner' ORDER BY id`,
  )
  await connection.end()
  return rows.map(({ at }) => Number(at))
}

async function metricOf({ run }: ProcessorProcess, name: string): Promise<number> {
  return Number(new RegExp(`^${name}{.*} (\\S+)$`, 'm').exec(await run.metrics())?.[1])
}

t.test('moments do not fall when a machine that is behind takes over', async (t) => {
  const first = await start('p1', 4_000, { CLUSTER: 'member', SHARD: 'books_1' })
  await first.run.untilReady()
  const next = await start('p2', -4_000, { CLUSTER: 'spare' })
  await says(next, 'candidate: waiting for a shard')
  t.equal(await createPartner(first, 'acme'), status.OK)
  await says(first, "this machine's clock differs from the database server's")
  await first.run.end()
  await next.run.untilReady()
  t.equal(await createPartner(next, 'globex'), status.OK)
  const [before = 0, after = 0] = await created('books_1')
  t.ok(after >= before, `${after} follows ${before}`)
  t.comment(`ahead: ${await metricOf(next, 'causeway_clock_ahead_seconds')} s`)
  const offset = await metricOf(next, 'causeway_clock_offset_seconds')
  t.ok(offset > -5 && offset <= -1, `behind the server by ${offset} s`)
})

t.test('a machine whose clock is two minutes behind takes nothing over', async (t) => {
  const behind = await start('p3', -120_000, { CLUSTER: 'member', SHARD: 'books_2' })
  await says(behind, "not the owner while this machine's clock differs")
  const other = await start('p4', 0, { CLUSTER: 'spare' })
  await other.run.untilReady()
  t.match(await behind.run.readyz(), { ready: false, mode: 'candidate', processor: 'p3' })
  t.equal(await createPartner(other, 'initech'), status.OK)
})

t.test('a candidate that waited for its clock too tells its gateways what it takes', async (t) => {
  const owner = await start('p5', 0, { CLUSTER: 'member', SHARD: 'books_3' })
  await owner.run.untilReady()
  const next = await startProcessor('p6', { CLUSTER: 'spare', NODE_OPTIONS: clocks.nodeOptions })
  await says(next, 'candidate: waiting for a shard')
  const updates: PartnerUpdate[] = []
  const { address } = next
  const stream = openDirectoryStream(
    { address, metadata: bearer(GATEWAY), tls: CLEARTEXT },
    {
      opened: () => (updates.length = 0),
      updated: (update) => void updates.push(update),
      broke: () => undefined,
    },
  )
  t.teardown(() => stream.close())
  await eventually('it is connected', () => updates.some(({ waiting }) => waiting))
  clocks.step('p6', -120_000)
  await owner.run.end()
  await says(next, "not the owner while this machine's clock differs")
  clocks.restore('p6')
  await next.run.untilReady()
  await eventually('its shard', () => updates.some(({ shard }) => shard === 'books_3'))
})
