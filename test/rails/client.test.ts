/** The client against a rail that is absent, comes and goes, or talks nonsense. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js'
import t from 'tap'
import type { OrderBatch__Output } from '../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { RailHandlers } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { Report } from '../../protos/types/causeway/rail/v1/Report.js'
import type { ReportBatch } from '../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/bounds.js'
import { contracts } from '../../src/base/protos.js'
import { UNDESCRIBED } from '../../src/rails/rail.js'
import { aListener, anInstruction, aLinkedListener, aRail, shortFolder, until } from './harness.js'

type Stream = ServerDuplexStream<OrderBatch__Output, ReportBatch>

/** A rail whose every word is the test's own. */
async function aPuppet(t: Tap, folder: string) {
  const streams: Stream[] = []
  const batches: OrderBatch__Output[] = []
  const handlers: RailHandlers = {
    Describe: (_call, callback) => callback(null, { name: 'puppet', finality_window_ms: 7_000 }),
    Link: (stream) => {
      streams.push(stream)
      stream.on('data', (batch: OrderBatch__Output) => batches.push(batch))
      stream.on('error', () => undefined)
    },
  }
  const server = new Server()
  server.addService(contracts<ProtoGrpcType>().causeway.rail.v1.Rail.service, handlers)
  const address = `unix:${join(folder, 'rail.sock')}`
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
  t.teardown(() => server.forceShutdown())
  return {
    address,
    batches,
    streams,
    say: (...reports: Report[]) => streams.at(-1)?.write({ reports }),
  }
}

type Tap = Parameters<Parameters<typeof t.test>[1] & object>[0]
