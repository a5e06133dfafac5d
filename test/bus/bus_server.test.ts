/** The address of the NATS servers in NATS_URL. */
import t from 'tap'
import { parseBusUrl } from '../../src/bus/bus_server.js'

const HOSTS = [{ hostname: 'bus', port: 4_222 }]

t.test('user and password are those of the URL', async (t) => {
  for (const [credentials, user, password] of [
    ['', undefined, undefined],
    ['token@', 'token', undefined],
    ['user:@', 'user', ''],
    ['user:secret@', 'user', 'secret'],
    ['user:a:b::c@', 'user', 'a:b::c'],
    ['us%65r:a%3Ab%40c%25@', 'user', 'a:b@c%'],
  ] as const) {
    const address = parseBusUrl(`nats://${credentials}bus`)
    t.same(address, { protocol: 'nats:', hosts: HOSTS, user, password }, credentials)
  }
})

t.test('a password with a percent sign that begins no escape is no URL', async (t) => {
  t.equal(parseBusUrl('nats://user:50%off@bus'), undefined)
  t.equal(parseBusUrl('nats://us%er:secret@bus'), undefined)
})

t.test('a cluster has several hosts', async (t) => {
  const hosts = [...HOSTS, { hostname: '[::1]', port: 4_223 }]
  t.match(parseBusUrl('tls://user:secret@bus:4222,[::1]:4223'), { protocol: 'tls:', hosts })
  t.equal(parseBusUrl('http://bus'), undefined)
})
