/** Signing in with a client certificate, in a real browser. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DAY } from '../../src/base/clock.js'
import { skipsBrowser, startBrowser } from '../docs/browser.js'
import { createAuthority, writeTlsFiles, type Pair } from '../support/certificates.js'
import { findInstalled } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { checkLook } from './browser_page.js'
import { startConsoleStack } from './stack.js'

t.setTimeout(0)

const BECAUSE = ['--reason', 'a test'] as const

/** It needs more than Chromium. */
const skipsStore = ['certutil', 'pk12util', 'openssl'].every(findInstalled)
  ? false
  : 'certutil or openssl is not installed: apt-get install libnss3-tools openssl'

/** A home folder whose database for Chromium has this certificate. */
function storeWith({ certificate, key }: Pair, home: string): string {
  const database = join(home, '.pki/nssdb')
  mkdirSync(database, { recursive: true })
  const [pem, bundle] = [join(home, 'own.pem'), join(home, 'own.p12')]
  writeFileSync(pem, `${key}\n${certificate}`, { mode: 0o600 })
  const run = (program: string, ...words: string[]): void =>
    void execFileSync(program, words, { stdio: 'ignore' })
  run('openssl', 'pkcs12', '-export', '-in', pem, '-out', bundle, '-passout', 'pass:x')
  run('certutil', '-N', '-d', `sql:${database}`, '--empty-password')
  run('pk12util', '-i', bundle, '-d', `sql:${database}`, '-W', 'x')
  return home
}

t.test('the console', { skip: skipsBrowser }, async (t) => {
  const folder = tempFolder(t)
  const root = createAuthority('all operators')
  const authority = root.issueAuthority('operators')
  const trusted = { certificate: authority.certificate + root.certificate }
  const own = createAuthority('console').issue('localhost')
  const files = writeTlsFiles(folder, 'console', own, trusted)
  const stack = await startConsoleStack(t, {
    CONSOLE_TLS_CERT_FILE: files.GRPC_TLS_CERT_FILE,
    CONSOLE_TLS_KEY_FILE: files.GRPC_TLS_KEY_FILE,
    CONSOLE_CLIENT_CA_FILE: files.GRPC_TLS_CA_FILE,
  })
  const { url, ops } = stack
  const metrics = await stack.metrics()
  for (const name of ['CONSOLE_TLS_CERT_FILE', 'CONSOLE_CLIENT_CA_FILE'])
    t.match(metrics, `expiry_time_seconds{certificate="${name}",process="console"} `)
  const create = (name: string) =>
    ops.json(
      `callers create operator ${name} --roles read --certificate ${name}.example`,
      ...BECAUSE,
    )
  await create('carl')
  /** A browser that has this certificate. */
  const open = async (t: Test, shows?: Pair) => {
    const browser = await startBrowser([], {
      // The console's certificate is of a CA that the browser does not know.
      ignoreHTTPSErrors: true,
      clientCertificates:
        shows === undefined
          ? []
          : [{ origin: url, cert: Buffer.from(shows.certificate), key: Buffer.from(shows.key) }],
    })
    t.teardown(() => browser.close())
    const page = await browser.context.newPage()
    await page.goto(`${url}/partners`)
    return page
  }

  await t.test('an operator signs in by the certificate, until it is revoked', async (t) => {
    const page = await open(t, authority.issue('carl.example'))
    await checkLook(t, page, '/sign-in certificate')
    const button = page.getByRole('button', { name: 'Sign in with the certificate carl.example' })
    await button.click()
    await page.getByRole('heading', { name: 'All partners' }).waitFor()
    t.match(await page.innerText('.operator'), /carl\s+read/)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('take payments').waitFor()
    await ops.json('callers revoke carl', ...BECAUSE)
    await page.getByText('Your session has ended. Sign in again.').waitFor()
    await button.click()
    await page.getByText('This is not the token or the certificate of an active').waitFor()
  })

  await t.test(
    'a certificate of the store of the browser itself',
    { skip: skipsStore },
    async (t) => {
      await create('dora')
      const home = storeWith(authority.issue('dora.example'), join(folder, 'home'))
      const browser = await startBrowser([], { ignoreHTTPSErrors: true }, { home, origin: url })
      t.teardown(() => browser.close())
      const page = await browser.context.newPage()
      await page.goto(`${url}/partners`)
      await page.getByRole('button', { name: 'Sign in with the certificate dora.example' }).click()
      await page.getByRole('heading', { name: 'All partners' }).waitFor()
      t.match(await page.innerText('.operator'), /dora\s+read/)
    },
  )

  await t.test(
    'the page says which certificate is not accepted, and that there is none',
    async (t) => {
      const ended = authority.issue('carl.example', { notAfter: new Date(Date.now() - DAY) })
      const page = await open(t, ended)
      await page.getByText('is not accepted: CERT_HAS_EXPIRED').waitFor()
      await checkLook(t, page, '/sign-in rejected')
      t.equal(await page.getByRole('button').count(), 1, 'by token only')

      const without = await open(t)
      await without.getByText('Your browser has shown no certificate of an operator.').waitFor()
      await checkLook(t, without, '/sign-in none')
    },
  )
})
