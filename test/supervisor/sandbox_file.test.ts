/** The demo partner of a cluster is found whichever processor has its shard by now. */
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { contracts } from '../../src/grpc/contracts.js'
import { ensureDemo } from '../../src/supervisor/sandbox_file.js'

const { Operator } = contracts<ProtoGrpcType>('causeway/operator/v1/operator.proto').causeway
  .operator.v1

type Reply = { readonly key_id: string } | { readonly code: status; readonly details: string }

/** A processor that serves, or one that waits for a shard. @returns its address */
async function listening(t: Test, replies?: () => Reply): Promise<string> {
  const server = new Server()
  if (replies !== undefined) {
    const { EnsureDemo } = Operator.service
    server.addService({ EnsureDemo }, {
      EnsureDemo: (_call: unknown, callback: (fault: Reply | null, demo?: Reply) => void) => {
        const reply = replies()
        if ('code' in reply) callback(reply)
        else callback(null, reply)
      },
    } as never)
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, bound) =>
      fault === null ? resolve(bound) : reject(fault),
    )
  })
  t.teardown(() => server.forceShutdown())
  return `127.0.0.1:${port}`
}

const ensured = (addresses: () => readonly string[]) =>
  ensureDemo({ addresses, token: 'a token', tls: CLEARTEXT }, systemClock)

t.test('the owner of the demo partner is asked, whichever it is', async (t) => {
  const waiting = await listening(t)
  const other = await listening(t, () => ({ code: status.FAILED_PRECONDITION, details: 'there' }))
  const owner = await listening(t, () => ({ key_id: 'key_1' }))
  t.match(await ensured(() => [waiting, other, owner]), { key_id: 'key_1' })
})

t.test('a processor that waits is asked again', async (t) => {
  const waiting = await listening(t)
  const owner = await listening(t, () => ({ key_id: 'key_1' }))
  const looks = [[], [waiting], [owner]]
  t.match(await ensured(() => looks.shift() ?? []), { key_id: 'key_1' })
})

t.test('a refusal ends the start', async (t) => {
  const owner = await listening(t, () => ({ code: status.UNAUTHENTICATED, details: 'no role' }))
  await t.rejects(
    ensured(() => [owner]),
    { message: 'The demo partner cannot be created: no role' },
  )
})
