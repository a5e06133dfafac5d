/** Streams without the internal token are refused at once, not left open without a word. */
import { credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import t from 'tap'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import type { ProtoGrpcType as ExchangeProto } from '../../protos/types/exchange.js'
import { bearer } from '../../src/base/internal_token.js'
import { contracts } from '../../src/base/protos.js'
import { directoryService } from '../../src/processor/services/directory.js'
import { exchangeService } from '../../src/processor/services/exchange.js'
import { createGuard } from '../../src/processor/services/guard.js'

type Protos = DirectoryProto & ExchangeProto

void t.test('each stream', async (t) => {
  const { Directory, Exchange } = contracts<Protos>().causeway.v1
  const guard = createGuard('it_ours')
  const nothing = {} as never
  const server = new Server()
  server.addService(Directory.service, directoryService(nothing, nothing, guard).handlers)
  server.addService(Exchange.service, exchangeService({ ...(nothing as object), guard } as never))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, bound) =>
      fault === null ? resolve(bound) : reject(fault),
    )
  })
  const at = [`127.0.0.1:${port}`, credentials.createInsecure()] as const
  const [directory, exchange] = [new Directory(...at), new Exchange(...at)]
  t.teardown(() => {
    directory.close()
    exchange.close()
    server.forceShutdown()
  })
  for (const metadata of [new Metadata(), bearer('it_theirs')]) {
    for (const open of [
      () => directory.WatchPartners({}, metadata),
      () => directory.WatchEndpoints({}, metadata),
      () => exchange.Open(metadata),
    ]) {
      const stream = open()
      stream.on('data', () => t.fail('nothing is told'))
      stream.on('error', () => undefined)
      const ended = await new Promise<{ code: number }>((resolve) => stream.on('status', resolve))
      t.equal(ended.code, status.UNAUTHENTICATED)
    }
  }
})
