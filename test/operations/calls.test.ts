/** What an operator is told of a call without an answer: whether it was sent. */
import { createServer, type Http2Server } from 'node:http2'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import type { ProtoGrpcType } from '../../protos/types/callers.js'
import { systemClock } from '../../src/base/clock.js'
import { contracts } from '../../src/grpc/contracts.js'
import { callsToOne, faultOf, Late, NotSent, Unanswered } from '../../src/operations/calls/calls.js'
import { runOperatorCli } from '../../src/operations/operator_cli.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { freePort } from '../../src/supervisor/ports.js'
import { listen } from '../support/listen.js'
import { tempFolder } from '../support/temp_folder.js'

const { Callers } = contracts<ProtoGrpcType>().causeway.operator.v1

async function identifyAt(port: number, timeoutMs?: number): Promise<unknown> {
  const access = {
    ...{ address: `127.0.0.1:${port}`, token: () => 'a_token' },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
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

/** Its connections end with the test. */
function endedBy<Kind extends Server>(t: Test, server: Kind): Kind {
  server.on('connection', (socket: Socket) => t.teardown(() => socket.destroy()))
  return server
}

t.test('a program that takes connections and says nothing has got nothing', async (t) => {
  const port = await listen(t, endedBy(t, createTcpServer()))
  const error = await identifyAt(port, 200)
  t.type(error, NotSent)
  const message = `There was no connection to 127.0.0.1:${port} in time: is it the port of another`
  t.match(error, { message })
})

t.test('a call that was sent and has no answer in time may have made its change', async (t) => {
  const port = await listen(t, endedBy(t, createServer()))
  const error = await identifyAt(port, 500)
  t.type(error, Late)
  t.match(error, { message: `127.0.0.1:${port} has not answered in time (Deadline exceeded` })
})

/** Ends each connection when a call has arrived. */
async function endingServer(t: Test): Promise<{ readonly port: number; arrived(): number }> {
  const server: Http2Server = createServer()
  let arrived = 0
  server.on('stream', (stream) => {
    arrived += 1
    stream.session?.destroy()
  })
  return { port: await listen(t, server), arrived: () => arrived }
}

t.test(
  'a connection that ends after the call has arrived leaves its outcome unknown',
  async (t) => {
    const { port, arrived } = await endingServer(t)
    const error = await identifyAt(port)
    t.equal(arrived(), 1)
    t.type(error, Unanswered)
    t.match(error, { message: /^The connection to 127\.0\.0\.1:\d+ ended before the answer\.$/ })
  },
)

t.test('no error at all is no proof that nothing was sent', async (t) => {
  t.notOk(faultOf(null, '127.0.0.1:1') instanceof NotSent)
})

t.test('the CLI says that a change without an answer may have been made', async (t) => {
  const { port } = await endingServer(t)
  const folder = tempFolder(t)
  const token = join(folder, 'token')
  writeFileSync(token, 'x'.repeat(32), { mode: 0o600 })
  const settings = readSettings(
    { PROCESSOR_ADDRESS: `127.0.0.1:${port}`, OPERATOR_TOKEN_FILE: token, DATA_DIR: folder },
    '',
  )
  const [out, err] = [new PassThrough(), new PassThrough()]
  const words = ['key', 'revoke', 'acme_sandbox_2026q4', '--reason', 'lost']
  const paint = (_style: string, text: string): string => text
  t.equal(await runOperatorCli(words, () => settings, { paint, out, err }), 1)
  err.end()
  t.equal(
    await textOf(err),
    `The connection to 127.0.0.1:${port} ended before the answer.\n` +
      'If it was a change, look whether it was made before you repeat it.\n',
  )
})
