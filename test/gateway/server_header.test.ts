/**
 * No response names the server software in a header, neither the gateway's nor those of the parser.
 */
import t from 'tap'
import { bytesOf, createRequest, roundTrip } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const long = 'x'.repeat(20_000)

const SENT: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
  'an accepted call': [bytesOf(createRequest()), 201],
  'a failed authentication': [bytesOf({ ...createRequest(), secret: 'sk_of_eve' }), 401],
  'an unknown path': [bytesOf({ method: 'GET', path: '/nowhere', unsigned: true }), 404],
  'a HEAD': [bytesOf({ method: 'HEAD', path: '/v1/balances', unsigned: true }), 405],
  'an ambiguous head': ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
  'a body above its cap': [bytesOf({ ...createRequest(), body: long }), 413],
  'HTTP/1.0': ['GET / HTTP/1.0\r\nHost: a\r\n\r\n', 505],
  'a header without a name': ['GET / HTTP/1.1\r\n: a\r\n\r\n', 400],
  'a head without an end': [`GET / HTTP/1.1\r\nHost: a\r\nX: ${long}`, 431],
}

t.test('no response has a uWebSockets header', async (t) => {
  const gateway = await startGateway(t)
  for (const [what, [bytes, status]] of Object.entries(SENT)) {
    const { text } = await roundTrip(gateway.port, bytes)
    const head = text.split('\r\n\r\n', 1).join()
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), what)
    t.notMatch(head, /uwebsockets/i, what)
  }
})
