/** A candidate: what its server knows of the cluster, and which shards it leaves to others. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import t from 'tap'
import type { PartnerUpdate__Output as PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import { callerEntry, configuredCaller } from '../../src/auth/callers.js'
import { systemClock, instant, MINUTE, SECOND, type Clock } from '../../src/base/clock.js'
import { bearer } from '../../src/grpc/bearer.js'
import { listen } from '../../src/grpc/connections.js'
import { contracts } from '../../src/grpc/contracts.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { openCandidateServer } from '../../src/processor/candidate_server.js'
import { giveUp, openFailedLoads } from '../../src/processor/cluster/failed_loads.js'
import { Deposed } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { tempFolder } from '../support/temp_folder.js'

const TOKEN = 'gw_of_these_tests_only_0123456789'
const GATEWAY = configuredCaller(callerEntry('gateway', 'gateway', TOKEN))

t.test('it looks at the cluster again after a look that failed', async (t) => {
  let addresses = ['127.0.0.1:1']
  let isDown = false
  let failed = 0
  const listener = await listen('127.0.0.1:0')
  const server = await openCandidateServer({
    listener,
    cluster: {
      shardNames: () => {
        if (!isDown) return Promise.resolve(['books_1'])
        failed += 1
        return Promise.reject(new Error('canceling statement due to statement timeout'))
      },
      addresses: () => Promise.resolve(addresses),
      storedGateways: () => Promise.resolve([]),
    },
    configured: [GATEWAY],
    clock: systemClock,
    pause: () => new Promise((resolve) => setTimeout(resolve, 1)),
    ...{ tls: CLEARTEXT, log: SILENT_LOG },
  })
  t.teardown(() => {
    server.close()
    listener.close()
  })
  const { Directory } = contracts<DirectoryProto>().causeway.internal.v1
  const client = new Directory(`127.0.0.1:${listener.port}`, credentials.createInsecure())
  t.teardown(() => client.close())
  const stream = client.WatchPartners({}, bearer(TOKEN))
  stream.on('error', () => undefined)
  const updates: PartnerUpdate[] = []
  stream.on('data', (update: PartnerUpdate) => updates.push(update))
  await eventually('the gateway is told what it saw', () => updates.length === 1)
  t.match(updates, [{ shards: ['books_1'], addresses: ['127.0.0.1:1'], waiting: true }])

  isDown = true
  await eventually('looks fail', () => failed > 1)
  addresses = ['127.0.0.1:1', '127.0.0.1:2']
  isDown = false
  await eventually('the gateway is told what it sees now', () => updates.length === 2)
  t.match(updates[1], { addresses })
})

function heldClock() {
  let now = Date.UTC(2026, 10, 28)
  const clock: Clock = { now: () => instant(now) }
  return { clock, pass: (ms: number) => void (now += ms) }
}

t.test('the time doubles with each failure in a row, up to a bound', async (t) => {
  const { clock, pass } = heldClock()
  const file = join(tempFolder(t), 'failed_loads.json')
  t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined)
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    openFailedLoads(file, clock).failed('books_1')
    const next = openFailedLoads(file, clock)
    pass(seconds * SECOND - 1)
    t.match(next.reasonOf('books_1'), /^its books could not be loaded at 2026-11-28T00:/)
    t.equal(next.reasonOf('books_2'), undefined)
    pass(1)
    t.equal(next.reasonOf('books_1'), undefined, `after ${seconds} s`)
  }
  openFailedLoads(file, clock).loaded('books_1')
  openFailedLoads(file, clock).failed('books_1')
  const next = openFailedLoads(file, clock)
  pass(10 * SECOND)
  t.equal(next.reasonOf('books_1'), undefined, 'loaded books end the row')
})

t.test('a clock that went back and a damaged file keep no shard from this processor', async (t) => {
  const { clock, pass } = heldClock()
  const file = join(tempFolder(t), 'failed_loads.json')
  openFailedLoads(file, clock).failed('books_1')
  pass(-MINUTE)
  t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined)
  for (const text of ['', 'null', '[', '{"books_1":null}', '{"books_1":{"failures":0,"at":1}}']) {
    writeFileSync(file, text)
    t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined, text)
  }
})

t.test('a processor that has lost the shard meanwhile blames no books', async (t) => {
  const calls: string[] = []
  const shard = {
    shard: 'books_1',
    books: {
      barrier: () => Promise.reject(new Deposed('another process owns the books')),
      close: async () => void calls.push('released'),
    },
    cluster: { close: async () => void calls.push('left') },
    failedLoads: { failed: () => void calls.push('failed') },
    log: SILENT_LOG,
  }
  const lost = new Error('Connection terminated unexpectedly')
  await t.rejects(giveUp(shard, lost), lost)
  t.same(calls, [])
})
