/** What an operator is told of a call without an answer: whether it was sent. */
import { createServer, type Http2Server } from 'node:http2'
import t from 'tap'
import type { ProtoGrpcType } from '../../protos/types/callers.js'
import { systemClock } from '../../src/base/clock.js'
import { contracts } from '../../src/grpc/contracts.js'
import { callsToOne, faultOf, NotSent } from '../../src/operations/calls/calls.js'
import { freePort } from '../../src/supervisor/ports.js'
import { listen } from '../support/listen.js'

const { Callers } = contracts<ProtoGrpcType>().causeway.operator.v1

async function identifyAt(port: number): Promise<unknown> {
  const access = { address: `127.0.0.1:${port}`, token: () => 'a_token' }
  const calls = callsToOne(Callers, access, systemClock)
  try {
    return await calls.call('Identify', {}).catch((error: unknown) => error)
  } finally {
    calls.close()
  }
}

t.test('without a connection nothing was sent', async (t) => {
  const error = await identifyAt(await freePort('127.0.0.1'))
  t.type(error, NotSent)
  t.match(error, { message: /^127\.0\.0\.1:\d+ is unreachable: is the stack running/ })
})

t.test(
  'a connection that ends after the call has arrived leaves its outcome unknown',
  async (t) => {
    const server: Http2Server = createServer()
    let arrived = 0
    server.on('stream', (stream) => {
      arrived += 1
      stream.session?.destroy()
    })
    const error = await identifyAt(await listen(t, server))
    t.equal(arrived, 1)
    t.type(error, Error)
    t.notOk(error instanceof NotSent, String(error))
  },
)

t.test('no error at all is no proof that nothing was sent', async (t) => {
  t.notOk(faultOf(null, '127.0.0.1:1') instanceof NotSent)
})
