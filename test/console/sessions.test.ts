/** Sessions and the limit of failed sign-ins, with a clock that the test holds. */
import t from 'tap'
import { instant, MINUTE, type Clock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { createApp } from '../../src/console/app.js'
import { html } from '../../src/console/html/html.js'
import {
  createSessions,
  IDLE_MS,
  isFormToken,
  LIFETIME_MS,
  type Sessions,
} from '../../src/console/session/sessions.js'
import { createSignInLimit, type SignInAttempt } from '../../src/console/session/sign_in_limit.js'
import { readStaticFiles } from '../../src/console/static_files.js'
import { SILENT_LOG } from '../support/logs.js'
import { NO_FIGURES } from './served_console.js'

function heldClock() {
  let now = 1_000_000
  const clock: Clock = { now: () => instant(now) }
  return { clock, wait: (ms: number) => void (now += ms) }
}

function aSession() {
  let closed = 0
  const uplink = {
    clients: () => Promise.reject(new Error('not called')),
    forgetShards: () => undefined,
    close: () => void (closed += 1),
  }
  const given = { name: 'ann', roles: ['read'], uplink, certificate: null }
  return { given, closed: () => closed }
}

const appOf = (clock: Clock, sessions: Sessions) =>
  createApp({
    ...{ clock, sessions, log: SILENT_LOG, logs: '' },
    ...{ files: readStaticFiles(), signInLimit: createSignInLimit(clock) },
    figures: NO_FIGURES,
    observePage: () => undefined,
    isAllowedHost: () => true,
    openUplink: () => aSession().given.uplink,
    ownToken: undefined,
  })

t.test('a session ends after a time without a request', async (t) => {
  const { clock, wait } = heldClock()
  const sessions = createSessions(clock, systemRandom())
  const { given, closed } = aSession()
  const cookie = sessions.start(given)
  wait(IDLE_MS - 1)
  t.equal(sessions.find(cookie)?.name, 'ann')
  wait(IDLE_MS - 1)
  t.ok(sessions.isOpen(cookie), 'a page that stays open is no request')
  wait(1)
  t.notOk(sessions.isOpen(cookie))
  t.equal(sessions.find(cookie), undefined)
  t.equal(closed(), 1)
})

t.test('a page that connects again does not keep its session', async (t) => {
  const { clock, wait } = heldClock()
  const sessions = createSessions(clock, systemRandom())
  const cookie = sessions.start(aSession().given)
  const app = appOf(clock, sessions)
  const connect = async (): Promise<string> => {
    const headers = { host: 'console', cookie: `console_1=${cookie}` }
    const env = { incoming: { socket: { localPort: 1 } } }
    const { body } = await app.request('http://console/live?page=/', { headers }, env)
    const reader = body!.getReader()
    const { value } = (await reader.read()) as { readonly value?: Uint8Array }
    await reader.cancel()
    return Buffer.from(value ?? new Uint8Array()).toString()
  }
  wait(IDLE_MS - 1)
  t.match(await connect(), 'event: state')
  wait(1)
  t.match(await connect(), 'event: end')
  t.equal(sessions.count(), 0)
})

t.test('what is too large is told as such, and changes nothing', async (t) => {
  const { clock } = heldClock()
  const sessions = createSessions(clock, systemRandom())
  const cookie = `console_1=${sessions.start(aSession().given)}`
  const app = appOf(clock, sessions)
  const post = async (path: string, bytes: number) => {
    const headers = { host: 'console', origin: 'http://console', cookie }
    const length = { ...headers, 'content-length': String(bytes) }
    const given = { method: 'POST', headers: length, body: 'a' }
    const env = { incoming: { socket: { localPort: 1 } } }
    const answer = await app.request(`http://console${path}`, given, env)
    return { status: answer.status, text: await answer.text() }
  }
  t.match(await post('/statement', 33 * 1_024 * 1_024), {
    ...{ status: 413, text: /at most 32 MB[^]*reconcile FILE/ },
  })
  t.match(await post('/do/reject-payout', 65 * 1_024), { status: 413, text: /at most 64 KB/ })
})

t.test('a session ends after its lifetime, however often it is used', async (t) => {
  const { clock, wait } = heldClock()
  const sessions = createSessions(clock, systemRandom())
  const cookie = sessions.start(aSession().given)
  for (let ms = 0; ms < LIFETIME_MS - MINUTE; ms += MINUTE) {
    wait(MINUTE)
    t.ok(sessions.find(cookie))
  }
  wait(MINUTE)
  t.equal(sessions.find(cookie), undefined)
})

t.test('a cookie or a form of another session is none', async (t) => {
  const sessions = createSessions(heldClock().clock, systemRandom())
  const cookie = sessions.start(aSession().given)
  const other = sessions.find(sessions.start(aSession().given))!
  const own = sessions.find(cookie)!
  t.not(own.formToken, other.formToken)
  t.ok(isFormToken(own, own.formToken))
  for (const wrong of [other.formToken, '', undefined, own.formToken.slice(1)]) {
    t.notOk(isFormToken(own, wrong))
  }
  for (const wrong of ['', `${cookie}x`, own.formToken]) t.equal(sessions.find(wrong), undefined)
  sessions.close()
  t.equal(sessions.find(cookie), undefined)
})

t.test('a session of a certificate needs a connection with that certificate', async (t) => {
  const sessions = createSessions(heldClock().clock, systemRandom())
  const cookie = sessions.start({ ...aSession().given, certificate: 'AB:CD' })
  t.equal(sessions.find(cookie), undefined)
  t.equal(sessions.find(cookie, 'AB:CE'), undefined)
  t.equal(sessions.find(cookie, 'AB:CD')?.name, 'ann')
  const ofToken = sessions.start(aSession().given)
  t.equal(sessions.find(ofToken, 'AB:CD')?.name, 'ann')
})

/** An attempt with nothing that is known. */
const from = (address: string, more: Partial<SignInAttempt> = {}): SignInAttempt => ({
  ...{ address, certificate: undefined, token: undefined },
  ...more,
})

t.test('failed sign-ins are limited by source, and in all', async (t) => {
  const { clock, wait } = heldClock()
  const limit = createSignInLimit(clock)
  for (let i = 0; i < 5; i++) {
    t.equal(limit.waitSeconds(from('2001:db8:1:2::1')), 0)
    limit.begin(from('2001:db8:1:2::1'))('refused')
  }
  t.equal(limit.waitSeconds(from('2001:db8:1:2::1')), 60)
  t.equal(limit.waitSeconds(from('2001:db8:1:2::9')), 60, 'a host has a whole network of IPv6')
  t.equal(limit.waitSeconds(from('b')), 0)
  for (let i = 0; i < 45; i++) limit.begin(from(`address ${i}`))
  t.equal(limit.waitSeconds(from('address 1')), 60, 'of all sources that failed together')
  t.equal(limit.waitSeconds(from('b')), 0, 'one that has not failed has a first attempt')
  for (let i = 0; i < 949; i++) limit.begin(from(`other ${i}`))
  t.equal(limit.waitSeconds(from('b')), 0)
  limit.begin(from('other'))
  t.equal(limit.waitSeconds(from('b')), 60, 'of all sources together')
  wait(MINUTE)
  t.equal(limit.waitSeconds(from('2001:db8:1:2::1')), 0)
})

t.test('failures of others do not keep operators out', async (t) => {
  const { clock } = heldClock()
  const limit = createSignInLimit(clock)
  const [ours, other] = [from('a', { token: 'op_ours' }), from('a', { token: 'op_other' })]
  limit.begin(ours)('signed_in')
  const certificate = from('a', { certificate: 'AB:CD' })
  for (let i = 0; i < 50; i++) limit.begin(from('a'))('refused')
  t.equal(limit.waitSeconds(from('a')), 60)
  t.equal(limit.waitSeconds(ours), 0, 'a token that has signed in')
  t.equal(limit.waitSeconds(other), 60, 'another token may be guessed')
  t.equal(limit.waitSeconds(certificate), 0, 'a certificate that TLS has verified')
  for (let i = 0; i < 5; i++) limit.begin(certificate)
  t.equal(limit.waitSeconds(certificate), 60, 'its own failures count')

  limit.begin(ours)('unanswered')
  t.equal(limit.waitSeconds(ours), 0)
  limit.begin(ours)('refused')
  t.equal(limit.waitSeconds(ours), 60, 'a token that is revoked is bounded')
})

t.test('a sign-in in progress counts as failed until it has not', async (t) => {
  const { clock, wait } = heldClock()
  const limit = createSignInLimit(clock)
  const begun = Array.from({ length: 5 }, () => limit.begin(from('a')))
  t.equal(limit.waitSeconds(from('a')), 60)
  begun[0]!('signed_in')
  t.equal(limit.waitSeconds(from('a')), 0)
  wait(MINUTE)
  for (let i = 0; i < 5; i++) limit.begin(from('a'))
  begun[1]!('signed_in')
  t.equal(limit.waitSeconds(from('a')), 60, 'not of a later minute')
  for (let i = 0; i < 45; i++) limit.begin(from(`address ${i}`))
  begun[2]!('signed_in')
  t.equal(limit.waitSeconds(from('address 1')), 60, 'nor of all sources together')
})

t.test('all that is put into a template is escaped, other templates are not', async (t) => {
  const hostile = `"><script>alert('1')</script>&\u202e\u0000`
  const made = String(
    html`<p title="${hostile}">${[hostile, html`<b>${hostile}</b>`, 7n, null]}</p>`,
  )
  t.equal(
    made.replaceAll(
      '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;\\u202e\\u0000',
      'HOSTILE',
    ),
    '<p title="HOSTILE">HOSTILE<b>HOSTILE</b>7</p>',
  )
})
