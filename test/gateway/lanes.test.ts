/**
 * In whose lane a request waits.
 */
import t from 'tap'
import { brandHeaders } from '../../gateway/brand_headers.js'
import type { Directory } from '../../gateway/directory.js'
import type { Exchange } from '../../gateway/exchange.js'
import { createLanes } from '../../gateway/lanes.js'
import { createPartners } from '../../gateway/partners.js'
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { KEY_ID, PRODUCTION_KEY_ID } from './partner.js'

const NAMES = brandHeaders('Service')

const withHeaders = (headers: Readonly<Record<string, HeaderValue>>): Exchange =>
  ({ header: (name: string) => headers[name] }) as unknown as Exchange

const keyed = (keyId: HeaderValue, authorization?: string): Exchange =>
  withHeaders({ [NAMES.keyId]: keyId, authorization })

const token = withHeaders({ authorization: 'Bearer of-somebody' })

function directory() {
  const partners = createPartners()
  const key = (key_id: string) => ({
    ...{ key_id, environment: 'sandbox', secret: 'sk', revoked_at: '0' },
  })
  partners.apply({
    partners: [
      {
        partner_id: 'acme',
        keys: [key(KEY_ID), key(PRODUCTION_KEY_ID)],
        allowed_ips: [],
        packages: [],
        rate_limit_per_second: 0,
      },
    ],
    token_keys: [],
    complete: true,
  })
  return partners
}

void t.test('a known key has a lane of its own, and keeps it', (t) => {
  const partners = directory()
  const lanes = createLanes(NAMES, { partners: () => partners, fresh: true })
  t.equal(lanes(keyed(KEY_ID)).of, 'key')
  t.equal(lanes(keyed(KEY_ID)), lanes(keyed(KEY_ID, 'Bearer beside it')))
  t.not(lanes(keyed(KEY_ID)), lanes(keyed(PRODUCTION_KEY_ID)))
  t.end()
})

void t.test('apps share a lane, and so does everybody else', (t) => {
  const partners = directory()
  const lanes = createLanes(NAMES, { partners: () => partners, fresh: true })
  t.equal(lanes(token).of, 'apps')
  t.equal(lanes(token), lanes(keyed('unknown', 'Bearer of-another')))
  for (const stranger of [withHeaders({}), keyed('unknown'), keyed(REPEATED)]) {
    t.equal(lanes(stranger).of, 'strangers')
    t.equal(lanes(stranger), lanes(withHeaders({})))
  }
  t.end()
})

void t.test('nobody has a key before the directory is known', (t) => {
  const unknown: Directory = { partners: () => undefined, fresh: false }
  t.equal(createLanes(NAMES, unknown)(keyed(KEY_ID)).of, 'strangers')
  t.end()
})
