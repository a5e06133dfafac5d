/** The client's address behind trusted proxies. */
import t from 'tap'
import { createAddressList, type AddressList } from '../../gateway/authentication/ip_allowlist.js'
import { createClientAddress } from '../../gateway/authentication/client_address.js'
import { sourceOf } from '../../src/base/network.js'
import type { RequestContext } from '../../gateway/http/request_context.js'

const NO_PROXY: AddressList = () => false

function clientOf(isProxy: AddressList, peer: string, forwarded?: string): string {
  const request = { peer: () => peer, header: () => forwarded }
  return createClientAddress(isProxy)(request as unknown as RequestContext)
}

t.test('without trusted proxies X-Forwarded-For is ignored', async (t) => {
  t.equal(clientOf(NO_PROXY, '203.0.113.1', '198.51.100.1'), '203.0.113.1')
  t.equal(clientOf(NO_PROXY, '203.0.113.1'), '203.0.113.1')
})

t.test('the client is the last address that is not a trusted proxy', async (t) => {
  const isProxy = createAddressList(['10.0.0.0/8', 'fd00::/8'])
  const cases: readonly [peer: string, forwarded: string | undefined, client: string][] = [
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.66, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.66,203.0.113.9 , 10.1.1.1', '203.0.113.9'],
    ['fd00::1', '203.0.113.9:4711', '203.0.113.9'],
    ['fd00::1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['fd00::1', '[2001:db8::7]', '2001:db8::7'],
    ['fd00::1', '2001:DB8::7', '2001:DB8::7'],
    ['10.0.0.1', '10.2.2.2, 10.1.1.1', '10.2.2.2'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    // A client can send the header itself.
    ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
    // An invalid entry makes the client unknown, whatever precedes it.
    ['10.0.0.1', '203.0.113.9, unknown', ''],
    ['10.0.0.1', '203.0.113.9, ', ''],
    ['10.0.0.1', '', ''],
    ['10.0.0.1', '127.1', ''],
    ['10.0.0.1', '0x7f000001', ''],
    ['10.0.0.1', '1.2.3.4.5', ''],
    ['10.0.0.1', '::ffff:10.9.9.9, fe80::1%eth0', ''],
    ['10.0.0.1', '203.0.113.9, ::ffff:10.9.9.9', '203.0.113.9'],
  ]
  for (const [peer, forwarded, client] of cases) {
    t.equal(clientOf(isProxy, peer, forwarded), client, `${peer} <- ${forwarded}`)
  }
})

t.test('an unknown client matches only the empty list', async (t) => {
  t.equal(createAddressList(['0.0.0.0/0', '::/0'])(''), false)
  t.equal(createAddressList([])(''), true)
})

t.test('a source: an IPv4 address, or the network of an IPv6 one', async (t) => {
  t.equal(sourceOf('203.0.113.9'), '203.0.113.9')
  t.equal(sourceOf('::ffff:203.0.113.9'), '203.0.113.9')
  t.equal(sourceOf('0000:0000:0000:0000:0000:ffff:cb00:7109'), '203.0.113.9')
  t.equal(sourceOf('2001:0db8:0001:0002:0003:0004:0005:0006'), '2001:db8:1:2::/64')
  t.equal(sourceOf('2001:db8:1:2::1'), '2001:db8:1:2::/64')
  t.not(sourceOf('2001:db8:1:3::1'), '2001:db8:1:2::/64')
  t.equal(sourceOf(''), '')
})
