/** Allowed webhook targets: URLs and resolved addresses. */
import type { LookupAddress } from 'node:dns'
import dns from 'node:dns/promises'
import t from 'tap'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import {
  guardedLookup,
  isPublic,
  checkUrl,
  nameServers,
  TargetRefused,
} from '../../actors/webhook/sending/target_guard.js'

const PRODUCTION = tenantOf('acme' as PartnerId, 'production')
const SANDBOX = tenantOf('acme' as PartnerId, 'sandbox')
const STRICT = { allowPrivate: false }
const LENIENT = { allowPrivate: true }

/** One address of each block that is not public. */
const PRIVATE = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.9.9.9'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1'],
  ...['192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...['3ffe::1', '3ffe:ffff::1'],
  ...['::', '::1', 'fe80::1', 'fec0::1', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1'],
  ...[
    '3fff::1',
    '100::1',
    '2002:7f00:1::',
    '2001::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '5f00::1',
  ],
  ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::8.8.8.8', '4000::1'],
]
const PUBLIC = [
  ...['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00::1'],
  ...['168.63.129.15', '168.63.129.17', '3ffd::1'],
]

t.test('only public addresses are allowed', async (t) => {
  for (const address of PRIVATE) t.notOk(isPublic(address), address)
  for (const address of PUBLIC) t.ok(isPublic(address), address)
  for (const nonsense of ['', 'localhost', '1.2.3', '1.2.3.4.5', '::g']) {
    t.notOk(isPublic(nonsense), nonsense)
  }
})

t.test('URLs are checked before a name is resolved', async (t) => {
  const refused = [
    'http://example.com/',
    'ftp://example.com/',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    ...PRIVATE.map((address) => `https://${address.includes(':') ? `[${address}]` : address}/`),
    // Other spellings of 127.0.0.1 and 169.254.169.254.
    ...['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '2852039166', '127.0.0.1.'],
  ].map((text) => (text.includes('/') ? text : `https://${text}/hook`))
  for (const url of refused) t.equal(checkUrl({ url, tenant: PRODUCTION }, STRICT).ok, false, url)
  for (const url of ['', 'example.com', 'https://', 'https://[::1', 'https://1.2.3.4.5.6.7:x/']) {
    t.same(
      checkUrl({ url, tenant: PRODUCTION }, STRICT),
      { ok: false, reason: 'target_malformed' },
      url,
    )
  }
  const passed = [
    'https://example.com/hook?a=1',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://xn--exmple-cua.com/',
  ]
  for (const url of passed) t.equal(checkUrl({ url, tenant: PRODUCTION }, STRICT).ok, true, url)
})

t.test('the sandbox allows http but no private addresses', async (t) => {
  t.equal(checkUrl({ url: 'http://example.com/', tenant: SANDBOX }, STRICT).ok, true)
  t.equal(checkUrl({ url: 'http://127.0.0.1/', tenant: SANDBOX }, STRICT).ok, false)
  t.equal(checkUrl({ url: 'ftp://example.com/', tenant: SANDBOX }, STRICT).ok, false)
})

t.test(
  'local work allows http and private addresses, but no other schemes or passwords',
  async (t) => {
    for (const url of ['http://127.0.0.1:9000/', 'http://localhost/', 'https://[::1]/']) {
      t.equal(checkUrl({ url, tenant: PRODUCTION }, LENIENT).ok, true, url)
    }
    for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'http://a:b@127.0.0.1/']) {
      t.equal(checkUrl({ url, tenant: PRODUCTION }, LENIENT).ok, false, url)
    }
  },
)

type Looked = { fault: Error | null; addresses: unknown }

const look = (
  answers: readonly string[],
  rules = STRICT,
  options: { all?: boolean } = { all: true },
): Promise<Looked> =>
  new Promise((resolve) => {
    const found: LookupAddress[] = answers.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    const lookup = guardedLookup(() => Promise.resolve(found), rules)
    lookup('name.example', options, (fault, addresses) => resolve({ fault, addresses }))
  })

t.test('names are checked by their addresses', async (t) => {
  t.same((await look(['8.8.8.8'])).addresses, [{ address: '8.8.8.8', family: 4 }])
  for (const address of PRIVATE) {
    t.type((await look([address])).fault, TargetRefused, address)
    t.type((await look(['8.8.8.8', address])).fault, TargetRefused, `public and ${address}`)
  }
  t.same((await look(['127.0.0.1'], LENIENT)).fault, null)
  t.match((await look([])).fault, /has no address/)
  const one = await look(['8.8.8.8', '1.1.1.1'], STRICT, {})
  t.same(one, { fault: null, addresses: '8.8.8.8' }, 'one address on request')
})

t.test('a name is checked on every resolution', async (t) => {
  const answers = ['8.8.8.8', '127.0.0.1']
  const lookup = guardedLookup(() => {
    const address = answers.shift() ?? ''
    return Promise.resolve([{ address, family: 4 }])
  }, STRICT)
  const connect = () =>
    new Promise((resolve) => lookup('x.example', { all: true }, (fault) => resolve(fault)))
  t.equal(await connect(), null)
  t.type(await connect(), TargetRefused)
})

t.test('a failed resolution is passed on', async (t) => {
  const lookup = guardedLookup(() => Promise.reject(new Error('ENOTFOUND')), STRICT)
  const fault = await new Promise((resolve) => lookup('x', {}, (given) => resolve(given)))
  t.match(fault, /ENOTFOUND/)
})

t.test('a name has the addresses of both families, as far as they are found', async (t) => {
  const none = new Error('queryA ENODATA')
  let answers: readonly (string | undefined)[] = []
  const answering = (family: number) => (): Promise<readonly string[]> => {
    const address = answers[family]
    return address === undefined ? Promise.reject(none) : Promise.resolve([address])
  }
  t.intercept(dns.Resolver.prototype, 'resolve4', { value: answering(0) })
  t.intercept(dns.Resolver.prototype, 'resolve6', { value: answering(1) })
  const found = (...given: typeof answers): Promise<readonly LookupAddress[]> => {
    answers = given
    return nameServers()('hooks.example')
  }
  const [four, six] = [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]
  t.same(await found(four.address, six.address), [four, six])
  t.same(await found(four.address), [four])
  t.same(await found(undefined, six.address), [six])
  await t.rejects(found(), none)
})
