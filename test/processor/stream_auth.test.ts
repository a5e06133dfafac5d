/** Streams without the internal token are rejected at once. */
import { credentials, Metadata, Server, status } from '@grpc/grpc-js'
import { listenGrpc } from '../support/grpc_listen.js'
import t from 'tap'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import { bearer } from '../../src/base/internal_token.js'
import { contracts } from '../../src/base/protos.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import { commandStreamService } from '../../src/processor/servers/command_stream.js'
import { createAuthInterceptor } from '../../src/processor/servers/auth_interceptor.js'

type Protos = DirectoryProto & CommandStreamProto

void t.test('each stream rejects a call without the internal token', async (t) => {
  const { Directory, CommandStream } = contracts<Protos>().causeway.v1
  const auth = createAuthInterceptor('it_ours')
  const nothing = {} as never
  const server = new Server()
  server.addService(Directory.service, directoryService(nothing, nothing, auth).handlers)
  server.addService(
    CommandStream.service,
    commandStreamService({ ...(nothing as object), auth } as never),
  )
  const address = await listenGrpc(server)
  const at = [address, credentials.createInsecure()] as const
  const [directory, commandStream] = [new Directory(...at), new CommandStream(...at)]
  t.teardown(() => {
    directory.close()
    commandStream.close()
    server.forceShutdown()
  })
  for (const metadata of [new Metadata(), bearer('it_theirs')]) {
    for (const open of [
      () => directory.WatchPartners({}, metadata),
      () => directory.WatchEndpoints({}, metadata),
      () => commandStream.Open(metadata),
    ]) {
      const stream = open()
      stream.on('data', () => t.fail('no data is sent'))
      stream.on('error', () => undefined)
      const ended = await new Promise<{ code: number }>((resolve) => stream.on('status', resolve))
      t.equal(ended.code, status.UNAUTHENTICATED)
    }
  }
})
