/** IP allowlists: blocks of IPv4, IPv6 and mapped addresses. */
import t from 'tap'
import { createAddressList } from '../../gateway/authentication/ip_allowlist.js'

t.test('an empty list matches every address', async (t) => {
  t.equal(createAddressList([])('203.0.113.9'), true)
  t.equal(createAddressList([])('not an address'), true)
})

t.test('matches blocks and single addresses of IPv4 and IPv6', async (t) => {
  const allows = createAddressList(['203.0.113.0/29', '198.51.100.7', '2001:db8::/32'])
  const inside = [
    '203.0.113.0',
    '203.0.113.7',
    '198.51.100.7',
    '::ffff:203.0.113.1',
    // As uWebSockets.js prints them: every group in full.
    '0000:0000:0000:0000:0000:ffff:cb00:7101',
    '2001:0db8:0000:0000:0000:0000:0000:0001',
  ]
  const outside = ['203.0.113.8', '203.0.112.255', '198.51.100.8', '2001:db9::1', '::1', '', 'x']
  for (const peer of inside) t.equal(allows(peer), true, peer)
  for (const peer of outside) t.equal(allows(peer), false, peer)
})

t.test('a block of mapped addresses is an IPv4 block', async (t) => {
  const allows = createAddressList(['::ffff:203.0.113.0/120'])
  t.equal(allows('203.0.113.255'), true)
  t.equal(allows('::ffff:203.0.113.255'), true)
  t.equal(allows('203.0.114.0'), false)
  t.equal(
    createAddressList(['::/0'])('203.0.113.1'),
    false,
    'a block of all IPv6 addresses matches no IPv4 address',
  )
  t.equal(createAddressList(['0.0.0.0/0'])('::ffff:203.0.113.1'), true)
})

t.test('an invalid block matches no address', async (t) => {
  const allows = createAddressList(['203.0.113.0/33', 'office'])
  t.equal(allows('203.0.113.1'), false)
})

t.test('a list answers the same for an address that it was asked before', async (t) => {
  const isListed = createAddressList(['10.0.0.0/8'])
  const peers = ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '', 'nonsense']
  const others = Array.from({ length: 300 }, (_, index) => `198.51.${index}.7`)
  for (const peer of [...peers, ...peers, ...others, ...peers]) {
    t.equal(isListed(peer), peer.includes('10.1.2.3'), peer)
  }
})
