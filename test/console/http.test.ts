/** The console with TLS, without a browser: access, headers, origins, sessions, certificates. */
import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import t from 'tap'
import { DAY } from '../../src/base/clock.js'
import { ACTION_NAMES } from '../../src/console/actions/actions.js'
import { createAuthority, writeTlsFiles, type Pair } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../../src/supervisor/ports.js'
import { runProcess, startProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'
import {
  actionsIn,
  cookieIn,
  isServing,
  readPage,
  requestPage,
  ROLE_OF,
  signIn,
  startConsoleStack,
} from './stack.js'

/** The form that every action gets: it names things that do not exist. */
const FIELDS = {
  ...{ id: 'nothing', key: 'nothing', name: 'nothing', environment: 'sandbox', evidence: 'none' },
  ...{ outcome: 'failed', settlement: 'keep', payment: 'nothing', shard: 'nothing', to: 'nothing' },
  reason: 'a test',
}

/** Whether the server at the address presents the certificate. */
const isShown = (url: string, { certificate }: Pair): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url)
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerX509Certificate()!
      resolve(raw.equals(new X509Certificate(certificate).raw))
      socket.destroy()
    })
    socket.once('error', reject)
  })

const BECAUSE = ['--reason', 'a test'] as const

t.setTimeout(0)

t.test('the console', async (t) => {
  const folder = tempFolder(t)
  const root = createAuthority('all operators')
  const authority = root.issueAuthority('operators')
  // The CA that issues, and the one above it.
  const trusted = { certificate: authority.certificate + root.certificate }
  const ownCa = createAuthority('console')
  const files = writeTlsFiles(folder, 'console', ownCa.issue('localhost'), trusted)
  const stack = await startConsoleStack(t, {
    CONSOLE_TLS_CERT_FILE: files.GRPC_TLS_CERT_FILE,
    CONSOLE_TLS_KEY_FILE: files.GRPC_TLS_KEY_FILE,
    CONSOLE_CLIENT_CA_FILE: files.GRPC_TLS_CA_FILE,
  })
  const { url, ops } = stack
  const origin = { origin: url }
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    requestPage(`${url}${path}`, { method: 'POST', form, headers: { ...origin, ...headers } })
  const home = (cookie: string) => readPage(`${url}/`, cookie)
  const formTokenIn = (page: string): string =>
    /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? ''

  await t.test('the ops port leads to it', async (t) => {
    const { status, headers } = await requestPage(`${stack.sandbox.ops_url}/`)
    t.match({ status, headers }, { status: 302, headers: { location: url } })
  })

  await t.test('only health and the sign-in are open', async (t) => {
    t.equal((await requestPage(`${url}/healthz`)).status, 200)
    for (const path of ['/', '/search?q=a', '/review', '/payments/pi_1', '/nothing']) {
      const { status, headers, text } = await requestPage(`${url}${path}`)
      t.match({ status, text }, { status: 303, text: '' }, path)
      t.equal(headers.location, `/sign-in?next=${encodeURIComponent(path)}`)
    }
    t.equal((await requestPage(`${url}/live?page=%2F`)).text, 'event: end\ndata: \n\n')
    const change = { id: 'pout_1', reason: 'x' }
    t.match(await post('/do/approve-payout', change, { referer: `${url}/review?cursor=a` }), {
      ...{ status: 401, text: /so nothing was changed[^]*name="next" value="\/review\?cursor=a"/ },
    })
    t.match(await post('/statement', change), { status: 401, text: 'name="next" value="/"' })
    t.match(await post('/sign-out', {}), { status: 303 })
  })

  await t.test('every answer forbids what pages of ours do not need', async (t) => {
    for (const path of ['/', '/sign-in', '/healthz', '/assets/none', '/nothing']) {
      const { headers } = await requestPage(`${url}${path}`)
      t.match(
        headers['content-security-policy'],
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      )
      t.match(headers, {
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      })
    }
  })

  await t.test('a host name of another site is refused', async (t) => {
    const { status } = await requestPage(`${url}/`, { headers: { host: 'evil.example' } })
    t.equal(status, 421)
  })

  await t.test('the cookie is kept from scripts and other sites', async (t) => {
    const answer = await post('/sign-in', { token: stack.token, next: '//evil.example/' })
    const port = new URL(url).port
    t.match(
      answer.headers['set-cookie']?.[0],
      new RegExp(`^console_${port}=[\\w-]{43}; Path=/; HttpOnly; Secure; SameSite=Strict$`),
    )
    t.equal(answer.headers.location, '/', 'it leads to no other site')
  })

  await t.test('a change needs the origin and the form of the session', async (t) => {
    const cookie = await signIn(stack)
    const page = await home(cookie)
    t.equal(page.status, 200)
    const form_token = formTokenIn(page.text)
    const form = {
      id: 'pout_01KAJ0V8X00000000000000099',
      reason: 'a test',
      back: '/review',
      form_token,
    }
    const change = (headers: Record<string, string>, given: Record<string, string> = form) =>
      requestPage(`${url}/do/reject-payout`, {
        method: 'POST',
        form: given,
        headers: { cookie, ...headers },
      })
    t.equal((await change({})).status, 403, 'no origin')
    t.equal((await change({ origin: 'https://evil.example' })).status, 403)
    t.equal((await change({ 'sec-fetch-site': 'cross-site' })).status, 403)
    t.equal((await change({ 'sec-fetch-site': 'same-site', ...origin })).status, 403)
    t.equal((await change(origin, { ...form, form_token: '' })).status, 403)
    const other = formTokenIn((await home(await signIn(stack))).text)
    t.equal(
      (await change(origin, { ...form, form_token: other })).status,
      403,
      'of another session',
    )
    const own = await change(origin)
    t.match(
      { status: own.status, location: own.headers.location },
      { status: 303, location: '/review' },
    )
    t.match((await home(cookie)).text, 'class="notice bad" role="alert"')
    const away = await change(origin, { ...form, back: 'https://evil.example/' })
    t.equal(away.headers.location, '/')
    t.match((await change(origin, { ...form, id: '', reason: ' ' })).status, 303)
    t.match((await home(cookie)).text, 'A change needs a reason.')
    t.equal((await post('/do/nothing', { form_token }, { cookie })).status, 404)
  })

  await t.test('a path with a broken escape is no page', async (t) => {
    const cookie = await signIn(stack)
    for (const path of ['/payments/%', '/traces/%E0%A4%A', '/live?page=%2Fpayments%2F%25']) {
      t.equal((await readPage(url + path, cookie)).status, 404, path)
    }
    for (const path of ['/nothing%', '/search?q=%']) {
      t.not((await readPage(url + path, cookie)).status, 502, path)
    }
  })

  await t.test('the statement of a partner as a page and as CSV', async (t) => {
    const cookie = await signIn(stack)
    const read = (path: string) => readPage(url + path, cookie)
    const month = new Date().toISOString().slice(0, 7)
    const asked = `month=${month}&environment=sandbox&wait=yes`
    const page = await read(`/statements/demo?${asked}`)
    t.match(page, { status: 200, text: `Statement of demo, ${month}` })
    t.match(page.text, /deposit[^]*available/)
    t.match(await read('/statements/demo?month=2199-01'), { text: '2199-01 has not begun.' })
    t.match(await read('/statements/none'), { status: 404, text: 'none is no partner of ours.' })
    const usage = (await read('/partners/demo')).text
    t.match(usage, 'partner usage demo sandbox')
    t.match(
      usage,
      /Answered<\/dt>\s*<dd>0<[^]*Busiest second<\/dt>\s*<dd>0 calls, limit \d+ a key</,
    )
    t.match((await read('/partners/demo')).text, `/statements/demo?month=${month}&amp;environment`)
    const csv = await read(`/statements/demo/statement.csv?${asked}`)
    t.match(csv.headers, { 'content-disposition': 'attachment; filename="statement.csv"' })
    t.match(csv.text, /^time,id,type,.+\r\n[^]*,closing_balance,,VND,available,,,1000000000\r\n$/)
    for (const [path, text] of [
      [`none/statement.csv?${asked}`, 'none is no partner of ours.'],
      ['demo/statement.csv?month=2199-01', '2199-01 has not begun.'],
    ] as const) {
      const refused = await read(`/statements/${path}`)
      t.match(refused, { status: 404, text })
      t.notOk('content-disposition' in refused.headers, 'no file is saved')
    }
    t.equal((await requestPage(`${url}/statements/demo/statement.csv`)).status, 303)
  })

  await t.test('a session ends with the sign-out, and with the revocation', async (t) => {
    const cookie = await signIn(stack)
    const form_token = formTokenIn((await home(cookie)).text)
    t.equal((await post('/sign-out', { form_token: 'x' }, { cookie })).status, 403)
    t.equal((await post('/sign-out', { form_token }, { cookie })).status, 303)
    t.equal((await home(cookie)).status, 303)

    const { token } = await ops.json('callers create operator ann --roles read', ...BECAUSE)
    const ann = await signIn({ url, token: String(token) })
    t.equal((await home(ann)).status, 200)
    await ops.json('callers revoke ann', ...BECAUSE)
    const ended = await readPage(`${url}/review`, ann)
    t.match(ended, { status: 401, text: 'Your session has ended. Sign in again.' })
    t.equal((await home(ann)).status, 303)
    t.match(await post('/sign-in', { token: String(token) }), { status: 401 })
  })

  await t.test('an operator signs in with a certificate, until it is revoked', async (t) => {
    await ops.json(
      'callers create operator carl --roles read --certificate carl.example',
      ...BECAUSE,
    )
    const form = { by: 'certificate', next: '/review' }
    const at = (path: string, shows?: Pair, cookie = '') =>
      requestPage(`${url}${path}`, { headers: { cookie }, shows })
    const signInBy = (shows?: Pair) =>
      requestPage(`${url}/sign-in`, { method: 'POST', form, headers: origin, shows })

    const carls = authority.issue('carl.example')
    t.match((await at('/sign-in', carls)).text, 'Sign in with the certificate carl.example')
    const answer = await signInBy(carls)
    t.match(answer, { status: 303, headers: { location: '/review' } })
    const cookie = cookieIn(answer)
    const home = await at('/', carls, cookie)
    t.match(home, { status: 200, text: /<strong>carl<\/strong>\s*<span class="roles">read</ })
    t.equal((await at('/', undefined, cookie)).status, 303, 'the cookie alone is no session')
    const another = authority.issue('carl.example')
    t.equal((await at('/', another, cookie)).status, 303, 'nor is another certificate')

    const ended = authority.issue('carl.example', { notAfter: new Date(Date.now() - DAY) })
    const foreign = createAuthority('operators').issue('carl.example')
    for (const [what, shows, said] of [
      ['none', undefined, 'Your browser has shown no certificate of an operator.'],
      ['expired', ended, 'is not accepted: CERT_HAS_EXPIRED'],
      ['of an unknown CA', foreign, /is not accepted: [A-Z_]*(VERIFY|SIGNATURE)/],
    ] as const) {
      t.match((await at('/sign-in', shows)).text, said, what)
    }
    t.equal((await signInBy(ended)).status, 401, 'expired')
    t.match(await signInBy(authority.issue('dora.example')), { status: 401 }, 'of nobody')

    await ops.json('callers revoke carl', ...BECAUSE)
    const over = await at('/review', carls, cookie)
    t.match(over, { status: 401, text: 'Your session has ended. Sign in again.' })
    t.equal((await at('/', carls, cookie)).status, 303)
    t.equal((await signInBy(carls)).status, 401, 'revoked')
    const { data } = await ops.json('callers list')
    const own = (data as { readonly name: string }[]).find(({ name }) => name === 'console')
    t.match(own, { kind: 'console', roles: [], configured: true })
  })

  await t.test('a certificate of the console that is replaced is used', async () => {
    const next = ownCa.issue('next.example')
    writeTlsFiles(folder, 'console', next, trusted)
    await eventually('new connections use it', () => isShown(url, next))
  })

  await t.test('what an operator may do is decided by the role, not by the form', async (t) => {
    t.same(Object.keys(ROLE_OF).toSorted(), ACTION_NAMES.toSorted(), 'every action is known')
    for (const role of ['read', 'operate', 'decide']) {
      const { token } = await ops.json(
        `callers create operator may-${role} --roles ${role}`,
        ...BECAUSE,
      )
      const cookie = await signIn({ url, token: String(token) })
      const page = async (path: string): Promise<string> =>
        (await readPage(url + path, cookie)).text
      const form_token = formTokenIn(await page('/'))
      const texts = await Promise.all(['/partners/demo', '/callers', '/money'].map(page))
      const offered = texts.flatMap(actionsIn).map((action) => ROLE_OF[action])
      t.same([...new Set(offered)], role === 'read' ? [] : [role], `${role}: what is offered`)
      for (const [action, needed] of Object.entries(ROLE_OF)) {
        const form = { ...FIELDS, back: '/callers', form_token }
        t.equal((await post(`/do/${action}`, form, { cookie })).status, 303, action)
        const isRefused = (await page('/callers')).includes('The caller has no role for this call.')
        t.equal(isRefused, role !== needed, `${role}: ${action}`)
      }
    }
  })

  await t.test(
    'a killed console restarts at its address, and readiness does not need it',
    async (t) => {
      const killed = stack.pidOf('console')
      stack.kill('console')
      t.equal((await stack.readyz()).status, 200)
      await eventually(
        'another console serves',
        () => stack.pidOf('console') !== killed && isServing(url),
      )
      t.match(await stack.metrics(), 'causeway_process_restarts_total{process="console"} 1')
    },
  )

  await t.test('with several processors a list names the one that does not answer', async (t) => {
    const [port, silent] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
    const several = `http://127.0.0.1:${port}`
    await startProcess(t, 'src/console/main.js', {
      PROCESSORS: `${stack.sandbox.grpc_address},127.0.0.1:${silent}`,
      CONSOLE_PORT: String(port),
    })
    await eventually('the console serves', () => isServing(several))
    const cookie = await signIn({ url: several, token: stack.token })
    for (const path of ['/', '/review', '/unknown', '/discrepancies', '/partners', '/actions']) {
      const { status, text } = await readPage(several + path, cookie)
      t.equal(status, 200, path)
      t.match(text, `127.0.0.1:${silent} did not answer.`, path)
    }
    const { text } = await readPage(`${several}/`, cookie)
    t.match(text, /<strong>[^<]+<\/strong> take payments/)
    t.match(text, `${silent}</strong> no processor serves it`)
  })

  await t.test('the entries of an account are read, and that is recorded', async (t) => {
    const cookie = await signIn(stack)
    const read = (path: string) => readPage(url + path, cookie)
    const asked = '/entries?environment=sandbox&account=prefund&currency=USD'
    t.match((await read('/money')).text, asked.replaceAll('&', '&amp;'))
    // The funds of the demo partner are of this day, or of the one before.
    const days = [0, 1].map((ago) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10))
    const texts = await Promise.all(
      days.map(async (day) => (await read(`${asked}&day=${day}`)).text),
    )
    t.match(texts.join(''), /demo<\/div>[^]*deposit[^]*USD 10,000,000\.00/)
    for (const query of ['&since=12:00', '&since=12:00:01', ''].map(
      (since) => `&day=2020-01-01${since}`,
    )) {
      t.match((await read(asked + query)).text, 'It has no entries in this time.')
    }
    for (const hostile of ['%3Cb%3E', 'prefund%00', 'x'.repeat(99), '']) {
      t.equal((await read(asked.replace('prefund', hostile))).status, 404)
    }
    // A day begins hours later in UTC than where the operator is.
    const later = await read(`${asked}&day=2199-01-01`)
    t.match(later, { status: 404, text: '2199-01-01 has not begun in UTC.' })
    t.match(later.text, /name="day" type="date" value="2199-01-01"/)
    const none = await read(`${asked}&day=2026-02-30`)
    t.match(none, { status: 404, text: 'No such account or day' })
    t.match((await read('/actions')).text, /read_ledger[^]*entries of prefund USD on \d{4}/)
  })

  await t.test('it does not listen beyond loopback', async (t) => {
    const { exitCode, err } = await runProcess('src/console/main.js', { CONSOLE_HOST: '0.0.0.0' })
    t.equal(exitCode, 1)
    t.match(err, 'CONSOLE_HOST=0.0.0.0 is not a loopback address')
    const CONSOLE_CLIENT_CA_FILE = files.GRPC_TLS_CA_FILE
    const plain = await runProcess('src/console/main.js', { CONSOLE_CLIENT_CA_FILE })
    t.match(plain.err, 'CONSOLE_CLIENT_CA_FILE needs CONSOLE_TLS_CERT_FILE')
  })

  await t.test('failed sign-ins are limited', async (t) => {
    const form = (i: number) => (i % 2 === 0 ? { token: `op_${i}` } : { by: 'certificate' })
    const statuses = new Set<number>()
    // A minute may begin meanwhile, and with it another count.
    const refused = await eventually('all are refused', async () => {
      const atOnce = Array.from({ length: 7 }, (_, i) => post('/sign-in', form(i)))
      for (const { status } of await Promise.all(atOnce)) statuses.add(status)
      const next = await post('/sign-in', { token: 'op_that_is_not_known' })
      return statuses.size > 1 && next.status === 429 && next
    })
    t.same([...statuses].sort(), [401, 429], 'each is refused, and then all')
    t.match(refused.headers['retry-after'], /^\d+$/)
    const passed = await post('/sign-in', { token: stack.token })
    t.equal(passed.status, 303, 'a token that has signed in before passes')
    t.notMatch(stack.logOf('console'), /op_\d|"token"/)
  })
})
