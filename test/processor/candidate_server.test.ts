/** The server of a candidate: what it knows of the cluster, also after looks that fail. */
import { credentials } from '@grpc/grpc-js'
import t from 'tap'
import type { PartnerUpdate__Output as PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import { callerEntry, configuredCaller } from '../../src/auth/callers.js'
import { systemClock } from '../../src/base/clock.js'
import { bearer } from '../../src/grpc/bearer.js'
import { listen } from '../../src/grpc/connections.js'
import { contracts } from '../../src/grpc/contracts.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { openCandidateServer } from '../../src/processor/candidate_server.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'

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
