/** The traffic class of a request. */
import t from 'tap'
import { brandHeaders } from '../../gateway/http/headers.js'
import type { Directory } from '../../gateway/authentication/partners.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { createTrafficClassifier } from '../../gateway/admission/traffic_class.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { KEY_ID, PRODUCTION_KEY_ID } from './signing_partner.js'

const NAMES = brandHeaders('Service')

const withHeaders = (headers: Readonly<Record<string, HeaderValue>>): RequestContext =>
  ({ header: (name: string) => headers[name] }) as unknown as RequestContext

const keyed = (keyId: HeaderValue, authorization?: string): RequestContext =>
  withHeaders({ [NAMES.keyId]: keyId, authorization })

const token = withHeaders({ authorization: 'Bearer of-one' })

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
  })
  return partners
}

t.test('a known key keeps its own traffic class', async (t) => {
  const partners = directory()
  const classify = createTrafficClassifier(NAMES, {
    ...{ partners: () => partners, isComplete: () => true, fresh: true },
  })
  t.equal(classify(keyed(KEY_ID)).of, 'key')
  t.equal(classify(keyed(KEY_ID)), classify(keyed(KEY_ID, 'Bearer beside it')))
  t.not(classify(keyed(KEY_ID)), classify(keyed(PRODUCTION_KEY_ID)))
})

t.test('token requests share one traffic class, and all other requests another', async (t) => {
  const partners = directory()
  const classify = createTrafficClassifier(NAMES, {
    ...{ partners: () => partners, isComplete: () => true, fresh: true },
  })
  t.equal(classify(token).of, 'apps')
  t.equal(classify(token), classify(keyed('unknown', 'Bearer of-another')))
  for (const unknownKey of [withHeaders({}), keyed('unknown'), keyed(REPEATED)]) {
    t.equal(classify(unknownKey).of, 'unknown_keys')
    t.equal(classify(unknownKey), classify(withHeaders({})))
  }
})

t.test('before the directory snapshot every key is unknown', async (t) => {
  const unknown: Directory = {
    ...{ partners: () => undefined, isComplete: () => true, fresh: false },
  }
  t.equal(createTrafficClassifier(NAMES, unknown)(keyed(KEY_ID)).of, 'unknown_keys')
})
