/** The environment of a host name. */
import t from 'tap'
import { createHosts } from '../../gateway/routing/hosts.js'

t.test('with default lists every host is the sandbox', async (t) => {
  const hosts = createHosts({ SANDBOX_HOSTS: ['api.localhost'], PRODUCTION_HOSTS: [] })
  for (const host of ['api.localhost', '127.0.0.1:8080', '[::1]:8080', 'anything', '']) {
    t.equal(hosts(host), 'sandbox', host)
  }
})

t.test('with explicit lists an unlisted host has no environment', async (t) => {
  const hosts = createHosts({
    SANDBOX_HOSTS: ['sandbox.example', 'old-sandbox.example'],
    PRODUCTION_HOSTS: ['api.example'],
  })
  t.equal(hosts('Sandbox.Example:443'), 'sandbox')
  t.equal(hosts('old-sandbox.example'), 'sandbox')
  t.equal(hosts('api.example:'), 'production')
  for (const host of ['', 'api.example.', 'x.api.example', 'api.example:80:80', 'api.localhost']) {
    t.equal(hosts(host), undefined, host)
  }
})

t.test('with production hosts only, other hosts are not the sandbox', async (t) => {
  const hosts = createHosts({ SANDBOX_HOSTS: ['api.localhost'], PRODUCTION_HOSTS: ['api.example'] })
  t.equal(hosts('api.localhost'), 'sandbox')
  t.equal(hosts('api.example'), 'production')
  t.equal(hosts('127.0.0.1'), undefined)
})
