/** Where webhooks may go when nobody says so: anywhere in local work, else to the public alone. */
import t from 'tap'
import { readEnvironment } from '../../src/supervisor/environment.js'

// Where there is no `.env` of a developer's.
process.chdir(t.testdir())

const allowsPrivate = (given: Readonly<Record<string, string>>): boolean => {
  for (const name of ['PRODUCTION_HOSTS', 'WEBHOOK_ALLOW_PRIVATE']) delete process.env[name]
  Object.assign(process.env, given)
  const { settings, forChild } = readEnvironment()
  t.equal(forChild({})['WEBHOOK_ALLOW_PRIVATE'], String(settings.WEBHOOK_ALLOW_PRIVATE))
  return settings.WEBHOOK_ALLOW_PRIVATE
}

void t.test('private targets of webhooks', (t) => {
  t.equal(allowsPrivate({}), true)
  t.equal(allowsPrivate({ WEBHOOK_ALLOW_PRIVATE: 'false' }), false)
  t.equal(allowsPrivate({ PRODUCTION_HOSTS: 'api.causeway.test' }), false)
  t.end()
})
