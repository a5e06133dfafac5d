/** The console in a real browser, on a real stack. */
import { readFile } from 'node:fs/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { connectRecovery } from '../../src/operations/calls/operator_client.js'
import { skipsBrowser } from '../docs/browser.js'
import { eventually } from '../support/eventually.js'
import { printed, type OperatorCli } from '../support/operator_cli.js'
import { withKey } from '../support/partner.js'
import { idIn, payByQr, requestPayout } from '../support/payments.js'
import { payeeOf } from '../support/requests.js'
import { tempFolder } from '../support/temp_folder.js'
import { checkLook, openPage, shoot } from './browser_page.js'
import { startConsoleStack } from './stack.js'

const BECAUSE = ['--reason', 'a test'] as const
const HELD_FROM = 20_000_000
const isPostgres = process.env['STORE'] === 'postgres'
/** It would run, turn the text around, or break a table. */
const HOSTILE = '"><img src=x onerror=alert(1)>{{7*7}}\u202egnp.exe'
const PAGES = [
  ...['/', '/search', '/reconciliation', '/webhooks', '/partners', '/money', '/system'],
  '/statements/demo?environment=sandbox&wait=yes',
  '/entries?environment=sandbox&account=prefund&currency=VND',
]

t.setTimeout(0)

t.test('the console', { skip: skipsBrowser }, async (t) => {
  const stack = await startConsoleStack(t, { WEBHOOK_MAX_ATTEMPTS: '1' })
  const { url, token, ops, partner } = stack
  await stack.receiver(() => 400)
  await holdFrom(t, ops)
  const intent = await payByQr(partner, 'shown', { partner_user_id: `user ${HOSTILE}` })
  const paidOn = new Date().toISOString().slice(0, 10)
  const hold = async (key: string): Promise<string> => {
    const given = { amount: String(HELD_FROM), reference: `${key} ${HOSTILE}` }
    const made = await requestPayout(partner, key, given)
    if (made.status !== 202) throw new Error(made.text)
    return idIn(made)
  }
  const held = await hold('first')
  const { page, faults } = await openPage(t, url)
  const enter = async (given: string): Promise<void> => {
    await page.fill('#token', given)
    await page.keyboard.press('Enter')
  }
  const main = () => page.innerText('main')

  await t.test('signing in leads to the page that was asked for', async (t) => {
    await page.goto(`${url}/review`)
    await checkLook(t, page, '/sign-in')
    await enter('op_not-a-token')
    await page
      .getByText('This is not the token or the certificate of an active operator.')
      .waitFor()
    await checkLook(t, page, '/sign-in refused')
    faults.length = 0 // the browser reports the 401
    await enter(token)
    await page.getByRole('heading', { name: 'Review queue' }).waitFor()
    t.equal(new URL(page.url()).pathname, '/review')
    t.equal(await page.evaluate('document.cookie'), '')
    await page.emulateMedia({ media: 'print' })
    t.ok(await page.getByText('Times are UTC').isVisible(), 'also on paper')
    await page.emulateMedia({ media: 'screen' })
  })

  await t.test('anything is found from every page', async (t) => {
    await page.goto(url)
    await page.keyboard.press('/')
    await page.keyboard.type(intent.id)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Payment intent' }).waitFor()
    await page.locator('.headline .badge', { hasText: 'captured' }).waitFor()
    t.match(
      await page.getByRole('img', { name: 'State' }).getAttribute('aria-label'),
      /^State: captured. Passed: created, authorized, captured/,
    )
    t.match(
      await main(),
      /Debited\s+USD 10\.00[^]*user "><img src=x onerror=alert\(1\)>\{\{7\*7\}\}\\u202egnp\.exe/,
    )
    await eventually('the attempt is shown', async () =>
      /1\. \S+ \S+ 400 in \d+ ms/.test(await main()),
    )
    for (const step of [
      /Request\s+created by req_/,
      /Request\s+scanned by req_/,
      /State\s+authorized[^]*Rail\s+instruction pi_\w+ submitted/,
      /Rail\s+executed: transaction \w+[^]*State\s+captured/,
    ]) {
      t.match(await main(), step)
    }
    await page.fill('#q', `first ${HOSTILE}`)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: held }).waitFor()
    t.match(await main(), 'its reference')
    await page.fill('#q', HOSTILE)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
  })

  await t.test('a refused request is found in the logs by its id', async (t) => {
    const refused = await partner.request('POST', '/v1/payouts', { amount: 1 }, withKey('refused'))
    const { request_id: id } = (refused.body as { error: { request_id: string } }).error
    const line = page.locator('tr', { hasText: 'request refused' })
    await eventually('its line is written', async () => {
      await page.goto(`${url}/search?q=${id}`)
      return (await line.count()) === 1
    })
    t.match(await line.innerText(), /gateway\s+request refused[^]*status 400[^]*invalid_request/)
    t.match(await main(), 'is not in the books')
    t.match(await ops('find', id), printed(/request refused +partner=demo .*code=invalid_request/))
    await page.goto(`${url}/search?q=req_01M8A7DZFCH5A23FV6RGCEPK72`)
    t.match(await main(), 'No line has it.')
  })

  await t.test('a held payout is approved and rejected, each with a reason', async (t) => {
    const second = await hold('second')
    await page.goto(`${url}/review`)
    const decide = async (id: string, what: string): Promise<void> => {
      const row = page.locator('tr', { hasText: id })
      await row.getByText(what, { exact: true }).click()
      const button = row.getByRole('button', { name: `${what} it` })
      await button.click()
      t.equal((await row.locator('input:invalid').count()) > 0, true, 'not without a reason')
      await row.locator('details[open] [name=reason]').fill(`checked with ${HOSTILE.slice(0, -8)}`)
      await button.click()
      await page.getByRole('status').waitFor()
    }
    await decide(held, 'Approve')
    t.match(await page.innerText('.notice'), `${held} over VND 20,000,000 is processing.`)
    t.match(await page.locator('tr', { hasText: second }).innerText(), /1 (processing|completed)/)
    await decide(second, 'Reject')
    t.match(await page.innerText('.notice'), `${second} over VND 20,000,000 is failed.`)
    t.match(await main(), 'No payout waits for a decision.')
    await page.goto(`${url}/payments/${held}`)
    await page.locator('.headline .badge', { hasText: 'completed' }).waitFor()
    t.match(await main(), /approve_payout by \S+: checked with "><img/)
    await page.goto(`${url}/actions`)
    t.match(await main(), /reject_payout[^]*checked with/)
    await page.getByLabel('Action', { exact: true }).fill('approve_payout')
    await page.getByLabel('Subject').fill(held)
    await page.keyboard.press('Enter')
    await page.getByText(`ARGS="actions --action approve_payout --subject ${held}"`).waitFor()
    t.equal(await page.locator('tbody tr').count(), 1)
    t.match(await main(), /approve_payout[^]*checked with/)
    await page.goto(`${url}/actions?subject=${encodeURIComponent(HOSTILE)}`)
    t.match(await main(), 'No such action is on this page of the log.')
  })

  await t.test('the bank is asked about a payment now', async (t) => {
    const silent = { amount: '12500000', beneficiary: payeeOf('9990000008') }
    const id = idIn(await requestPayout(partner, 'silent', silent))
    await page.goto(`${url}/unknown`)
    const row = page.locator('tr', { hasText: id })
    await eventually('it is listed', async () => {
      await page.reload()
      return (await row.count()) === 1
    })
    await row.getByText('Ask now', { exact: true }).click()
    await row.locator('details[open] [name=reason]').fill('a test')
    await row.getByRole('button', { name: 'Ask the bank' }).click()
    await page.getByRole('status').waitFor()
    t.equal(await page.innerText('.notice'), `The bank is asked about ${id}.`)
    await page.goto(`${url}/payments/${id}`)
    t.match(await main(), /inquire by \S+: a test/)
    t.match(await main(), 'No other payment went to Nguyen Van A, account ending 0008.')
    t.match(await main(), /Timer\s+due: the next inquiry/)
    await page.goto(`${url}/unknown`)
    await row.getByText('Resolve', { exact: true }).click()
    await row.locator('[name=outcome]').selectOption('failed')
    await row.locator('[name=evidence]').fill(`line 7 ${HOSTILE.slice(0, -8)}`)
    await row.locator('details[open] [name=reason]').fill('a test')
    await row.getByRole('button', { name: 'Record this outcome' }).click()
    await page.getByRole('status').waitFor()
    t.match(await page.innerText('.notice'), /^pout_\w+ over VND 12,500,000 is failed\.$/)
  })

  await t.test('an open page follows the payment', async (t) => {
    const third = await hold('third')
    await page.goto(`${url}/payments/${third}`)
    await page.locator('.headline .badge', { hasText: 'created' }).waitFor()
    await ops.json('payout approve', third, ...BECAUSE)
    await page.locator('.headline .badge', { hasText: 'completed' }).waitFor()
    t.match(await main(), 'approve_payout')
  })

  await t.test('the steps of a payment are drawn on one axis', async (t) => {
    await page.goto(`${url}/payments/${intent.id}`)
    await page.getByRole('link', { name: 'As a waterfall' }).click()
    await page.locator('.waterfall tr', { hasText: 'captured' }).first().waitFor()
    const rows = await page.locator('.waterfall tbody tr').allTextContents()
    // Not their inner text, which depends on whether the page replaces them meanwhile.
    const steps = rows.map((row) => row.replaceAll(/\s+/g, ' ').trim())
    t.match(steps[0], /^State created \+0 ms/)
    for (const step of [/Rail instruction/, /Ledger intent_captured \d entries/]) {
      t.ok(
        steps.some((each) => step.test(each)),
        String(step),
      )
    }
    t.match(await main(), /Trace id\s+none: no request about it was traced/)
    const unknown = await page.request.get(`${url}/traces/pi_01M7Y8R76ZBRBZPA32270W80C3`)
    t.equal(unknown.status(), 404)
  })

  await t.test('a statement is uploaded and compared', async (t) => {
    const upload = async (text: string): Promise<string> => {
      await page.goto(`${url}/reconciliation`)
      await page.setInputFiles('#statement', {
        ...{ name: `${HOSTILE}.csv`, mimeType: 'text/csv', buffer: Buffer.from(text) },
      })
      await page.fill('#from', paidOn)
      await page.fill('#reason', 'a test')
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.locator('.notice').waitFor()
      return page.innerText('.notice')
    }
    t.match(await upload('a,b\n1,2\n'), /csv: its first line does not name the columns time/)
    const head = 'time,transaction_id,instruction_id,movement,currency,amount'
    const line = `${paidOn}T00:00:00Z,bank 1,"<b>${intent.id}",executed,THB,1`
    t.match(await upload(`${head}\n${line}\n`), 'is compared.')
    t.match(await main(), /NOT EVERYTHING MATCHES[^]*missing here\s+<b>pi_[^]*missing there/)
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Findings as CSV' }).click(),
    ])
    t.match(await readFile(await csv.path(), 'utf8'), /^status,instruction_id/)
    await page.goto(`${url}/actions`)
    t.match(await main(), /reconcile/)
  })

  await t.test('a dead delivery is sent again, an endpoint is disabled and enabled', async (t) => {
    await page.goto(`${url}/webhooks`)
    await eventually('a dead delivery is listed', async () => {
      await page.reload()
      return (await main()).includes('http_400 after 1 attempt')
    })
    const act = async (table: string, what: string, button: string): Promise<string> => {
      const row = page.locator(`.card:has(h2:text-is('${table}'))`).locator('tbody tr').first()
      await row.getByText(what, { exact: true }).click()
      await row.locator('details[open] [name=reason]').fill('a test')
      await row.getByRole('button', { name: button }).click()
      await page.getByRole('status').waitFor()
      return page.innerText('.notice')
    }
    t.match(await act('Dead deliveries', 'Redrive', 'Send it again'), '1 delivery is sent again.')
    t.match(await act('Endpoints', 'Disable', 'Disable it'), 'is disabled.')
    t.match(await act('Endpoints', 'Enable', 'Enable it'), 'is enabled.')
  })

  await t.test('a partner is suspended and resumed; a key is issued and revoked', async (t) => {
    await ops.json('partner create acme --corridors none', ...BECAUSE)
    await page.goto(`${url}/partners`)
    await page.getByRole('link', { name: 'acme' }).click()
    await page.getByRole('heading', { name: 'acme' }).waitFor()
    const act = async (within: string, what: string): Promise<string> => {
      const section = page.locator(`.card:has(h2:text-is('${within}'))`)
      await section.getByText(what, { exact: true }).last().click()
      const form = section.locator('details[open] form')
      await form.locator('[name=reason]').fill('a test')
      await form.getByRole('button').click()
      await page.getByRole('status').waitFor()
      return page.innerText('.notice')
    }
    t.match(await act('Terms', 'Suspend'), 'acme is suspended.')
    await page.goto(page.url())
    t.match(await act('Terms', 'Resume'), 'acme can pay again.')
    await page.goto(page.url())
    const issued = await act('production', 'Issue a key')
    t.match(issued, /^acme_production_\S+ is issued\.[^]*sk_/)
    await page.goto(page.url())
    t.notMatch(await page.content(), 'sk_', 'the secret is shown once')
    t.match(await act('production', 'Revoke'), /^acme_production_\S+ is revoked\./)
  })

  await t.test('the overview draws the last minutes', async (t) => {
    await page.goto(url)
    const chart = page.getByRole('img', { name: /^Created, the last 15 minutes. now \S+, highest/ })
    await eventually('a payment is in the lines', async () => {
      const summary = (await chart.count()) === 0 ? '' : await chart.getAttribute('aria-label')
      return /highest (?!0\/s)/.test(summary ?? '')
    })
    t.match(await page.locator('.chart .line').first().getAttribute('d'), /^M[\d.]+ [\d.]+/)
    for (const title of ['Captured', 'Paid out', 'Calls', 'Commits', 'Outbox']) {
      t.equal(await page.getByRole('heading', { name: title, exact: true }).count(), 1, title)
    }
  })

  await t.test('the system page shows processes, migrations, settings and backups', async (t) => {
    await recordBackup(stack, `backup ${HOSTILE.slice(0, -8)}`)
    await page.goto(`${url}/system`)
    const row = page.locator('tr:has(strong:text-is("processor"))')
    t.match(
      await row.innerText(),
      new RegExp(`ready[^]* (?:s|min)\\s+0\\s+${stack.pidOf('processor')}\\s`),
    )
    const text = await main()
    const version = String.raw`\d+\.\d+\S*\s+\d+ (?:s|min)\s`
    for (const name of ['console', 'nats', ...(isPostgres ? ['postgres'] : [])]) {
      const other = page.locator(`tr:has(strong:text-is("${name}"))`)
      t.match(await other.innerText(), new RegExp(`ready\\s+${version}`), name)
    }
    t.match(text, /(?:SQLite|PostgreSQL)\s+\d+, newest \d{4}_/)
    t.match(text, /CALLERS\s+…[^]*NATS_URL\s+nats:\/\/…@127[^]*RAIL_TOKEN\s+…\s/)
    t.match(text, /backup "><img src=x onerror=alert\(1\)>[^]*epoch 1/)
    t.notMatch(await page.content(), /sha256:[0-9a-f]{64}/, 'no credential')
    const shown = await ops.json('system show')
    t.match(text, (shown as { data: { version: string }[] }).data[0]?.version)
  })

  await t.test('submissions are paused and resumed', async (t) => {
    const act = async (what: string, button: string, reason: string): Promise<string> => {
      await page.goto(`${url}/money`)
      const section = page.locator(".card:has(h2:text-is('Submissions'))")
      await section.getByText(what, { exact: true }).click()
      const form = section.locator('details[open] form')
      const choice = form.locator('[name=subject]:not([type=hidden])')
      if ((await choice.count()) > 0) await choice.selectOption('corridor VN/VND')
      await form.locator('[name=reason]').fill(reason)
      await form.getByRole('button', { name: button }).click()
      await page.getByRole('status').waitFor()
      return page.innerText('.notice')
    }
    const reason = `wrong accounts ${HOSTILE.slice(0, -8)}`
    t.equal(await act('Pause', 'Pause the submissions', reason), 'corridor VN/VND is paused.')
    t.match(await main(), /1 paused[^]*corridor VN\/VND[^]*wrong accounts "><img/)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, 'it fits')
      await shoot(page, '/money paused', String(width))
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    t.equal(await act('Resume', 'Submit again', 'a test'), 'corridor VN/VND is submitted again.')
    t.match(await main(), 'Nothing is paused: every instruction is submitted to its rail.')
  })

  await t.test('a caller is revoked', async (t) => {
    await ops.json('callers create operator eve --roles read', ...BECAUSE)
    await page.goto(`${url}/callers`)
    const row = page.getByRole('row', { name: /^eve / })
    await row.getByText('Revoke', { exact: true }).click()
    await row.locator('[name=reason]').fill('a test')
    await row.getByRole('button', { name: 'Revoke the caller' }).click()
    await page.getByRole('status').waitFor()
    t.equal(await page.innerText('.notice'), 'eve is revoked.')
  })

  await t.test(
    'pages are readable by all, in both themes, on narrow and wide screens',
    async (t) => {
      await hold('shown')
      const payments = [intent.id, held].flatMap((id) => [`/payments/${id}`, `/traces/${id}`])
      for (const path of [...PAGES, ...payments]) {
        await page.goto(url + path)
        await checkLook(t, page, path)
      }
    },
  )

  await t.test('who may only read is offered no change', async (t) => {
    const made = await ops.json('callers create operator ann --roles read', ...BECAUSE)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('#token').waitFor()
    await page.goto(`${url}/`) // a page that refreshes itself may have asked for the way back
    await enter(String(made['token']))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${url}/review`)
    t.match(await main(), 'Changes need the role decide.')
    await ops.json('callers revoke ann', ...BECAUSE)
    await page.goto(`${url}/`)
    await page.getByText('Your session has ended. Sign in again.').waitFor()
    faults.length = 0 // the browser reports the 401
  })

  await t.test('a page without its processor says so, and comes back with it', async (t) => {
    await enter(token)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    stack.kill('processor', 'SIGSTOP')
    t.teardown(() => stack.kill('processor', 'SIGCONT'))
    await page.getByText('Not current.').waitFor()
    stack.kill('processor', 'SIGCONT')
    await page.locator('#stale').waitFor({ state: 'hidden' })
    t.match(await main(), 'take payments')
  })
})

async function recordBackup(
  { sandbox, token }: Awaited<ReturnType<typeof startConsoleStack>>,
  backup: string,
): Promise<void> {
  const access = { address: sandbox.grpc_address, token: () => token, tls: CLEARTEXT }
  const recovery = connectRecovery(access, systemClock)
  const actor = { name: '', reason: 'backup' }
  await recovery.call('NoteBackup', { actor, backup, outcome: 'epoch 1, batch 7, audit clean' })
  recovery.close()
}

/** Payouts from this amount on are held. */
async function holdFrom(t: Test, ops: OperatorCli): Promise<void> {
  const { data } = (await ops.json('routes list')) as { data: { country: string }[] }
  const route = data.find(({ country }) => country === 'VN')
  const file = join(tempFolder(t), 'route.json')
  writeFileSync(file, JSON.stringify({ ...route, review_from: String(HELD_FROM) }))
  await ops.json('routes set', file, ...BECAUSE)
}
