/** Every 503 says when to try again, whatever its cause. */
import t, { type Test } from 'tap'
import { BUFFERED_MAX_BYTES, BodyMemory } from '../../gateway/http/body.js'
import { ERRORS, type ErrorCode } from '../../src/base/errors.js'
import { eventually } from '../support/eventually.js'
import { BODY_MAX, head, startEcho } from './echo_server.js'
import { openClient } from './open_client.js'
import { refuseWith, silence } from './processor_stub.js'
import { startGateway, type Running, type RunningOptions } from './running_gateway.js'
import {
  bearer,
  bytesOf,
  byToken,
  call,
  createRequest,
  get,
  INTENT,
  roundTrip,
  snapshot,
  type HttpCall,
} from './signing_partner.js'

const READ = get('/v1/balances')
const CODES = Object.keys(ERRORS) as ErrorCode[]
const UNAVAILABLE = CODES.filter((code) => ERRORS[code].http === 503)

const answersOver = async (port: number, request: HttpCall): Promise<string> =>
  (await roundTrip(port, bytesOf(request))).text

interface Cause {
  readonly options?: RunningOptions
  readonly request?: HttpCall
  /** Brings the cause about. */
  prepare?(t: Test, gateway: Running): Promise<void>
  /** While the request waits for its answer. */
  meanwhile?(gateway: Running): Promise<void>
}

const NO_DIRECTORY = { partners: { ...snapshot(), complete: false }, waitUntilReady: false }
const away: Cause = {
  prepare: async (_t, { processorStub, processor }) => {
    processorStub.crash()
    await eventually('the stream is closed', () => !processor.open)
  },
}

/** Each step of the path of a request (gateway/DEVELOPING.md) that answers 503. */
const CAUSES: Readonly<Record<string, Cause>> = {
  'no directory yet': { options: NO_DIRECTORY },
  'no directory yet, a route without authentication': {
    options: NO_DIRECTORY,
    request: { ...get('/openapi.json'), unsigned: true },
  },
  'no token keys': {
    options: { partners: { ...snapshot(), token_keys: [] } },
    request: byToken(get(`/v1/payment_intents/${INTENT}`), bearer(INTENT)),
  },
  'no connection to spare': {
    options: { connectionCapacity: 1, environment: { RATE_LIMIT: 'off' } },
    prepare: async (t, { port }) => {
      openClient(t, port)
      await eventually('the connection is open', async () =>
        (await answersOver(port, READ)).startsWith('HTTP/1.1 503'),
      )
    },
  },
  'the processor is away': away,
  'the processor is away, an invalid body': { ...away, request: { ...createRequest(), body: '{' } },
  'the stream breaks': {
    options: { script: silence },
    meanwhile: async ({ processorStub }) => {
      await eventually('the command arrived', () => processorStub.commands.length > 0)
      processorStub.crash()
    },
  },
  'a processor without the partner': { options: { script: refuseWith('not_here') } },
}

for (const [what, { options = {}, request = createRequest(), ...cause }] of Object.entries(
  CAUSES,
)) {
  t.test(what, async (t) => {
    const gateway = await startGateway(t, options)
    await cause.prepare?.(t, gateway)
    const answer = answersOver(gateway.port, request)
    await cause.meanwhile?.(gateway)
    const text = await answer
    t.match(text, /^HTTP\/1\.1 503 /)
    t.equal(text.match(/^Retry-After: 1\r$/gm)?.length, 1)
  })
}

t.test('every code that the processor can answer with', async (t) => {
  const gateway = await startGateway(t)
  t.ok(UNAVAILABLE.length > 0)
  for (const code of CODES) {
    gateway.processorStub.script = refuseWith(code)
    for (const request of [createRequest(), READ]) {
      const { status, headers } = await call(gateway.port, request)
      t.equal(headers.get('retry-after'), status === 503 ? '1' : null, code)
      if (UNAVAILABLE.includes(code)) t.equal(status, 503, code)
    }
  }
})

t.test('no memory for a body', async (t) => {
  const bodies = new BodyMemory()
  bodies.add('203.0.113.9', BUFFERED_MAX_BYTES)
  const port = await startEcho(t, { withinMs: 60_000, bodies })
  const part = `${head('POST /', `Content-Length: ${BODY_MAX}`)}x`
  const { received } = openClient(t, port, part)
  await eventually('the answer', () => received().endsWith('}'))
  t.match(received(), /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n/)
})
