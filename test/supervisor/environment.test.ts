/** The default of WEBHOOK_ALLOW_PRIVATE: true for local work only. */
import t from 'tap'
import { readEnvironment } from '../../src/supervisor/environment.js'

// A folder without a `.env` file.
process.chdir(t.testdir())

const DECIDING = [
  ...['HTTP_HOST', 'SANDBOX_HOSTS', 'PRODUCTION_HOSTS', 'TRUSTED_PROXIES'],
  'WEBHOOK_ALLOW_PRIVATE',
]

const allowsPrivate = (given: Readonly<Record<string, string>>): boolean => {
  for (const name of DECIDING) delete process.env[name]
  Object.assign(process.env, given)
  const { settings, forChild } = readEnvironment()
  const pool = forChild('actors/webhook/main.js', {})
  t.equal(pool['WEBHOOK_ALLOW_PRIVATE'], String(settings.WEBHOOK_ALLOW_PRIVATE))
  return settings.WEBHOOK_ALLOW_PRIVATE
}

t.test('private webhook targets are allowed for local work only', async (t) => {
  t.equal(allowsPrivate({}), true)
  t.equal(allowsPrivate({ WEBHOOK_ALLOW_PRIVATE: 'false' }), false)
  for (const HTTP_HOST of ['127.0.0.1', '127.0.0.9', '::1', 'localhost']) {
    t.equal(allowsPrivate({ HTTP_HOST }), true, HTTP_HOST)
  }
  for (const HTTP_HOST of ['0.0.0.0', '::', '10.0.0.7', '192.0.2.1', '2001:db8::127.0.0.1']) {
    t.equal(allowsPrivate({ HTTP_HOST }), false, HTTP_HOST)
    t.equal(allowsPrivate({ HTTP_HOST, WEBHOOK_ALLOW_PRIVATE: 'true' }), true, 'as configured')
  }
  t.equal(allowsPrivate({ SANDBOX_HOSTS: 'sandbox.causeway.test' }), false)
  t.equal(allowsPrivate({ PRODUCTION_HOSTS: 'api.causeway.test' }), false)
  t.equal(
    allowsPrivate({ TRUSTED_PROXIES: '10.0.0.0/8' }),
    false,
    'trusted proxies imply other machines',
  )
})
