/**
 * The console with texts that partners, receivers and banks wrote to break it, with many rows, and
 * with a processor that is slow: no script runs, no page is wider than its screen, and a change
 * without an answer says so.
 */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { crc16 } from '../../src/qr/crc.js'
import { skipsBrowser } from '../docs/browser.js'
import { eventually } from '../support/eventually.js'
import { withKey } from '../support/partner.js'
import { anIntent, payeeOf, payoutBody, promptPayQr } from '../support/requests.js'
import { openPage, shoot } from './browser_page.js'
import { startConsoleStack } from './stack.js'

const ROWS = 10_000
/** It would run or load, end what it is in, or turn the text around. */
const MARKUP = `"'></title></script><img src=x onerror=alert(1)><svg onload=alert(2)>{{7*7}}`
const HOSTILE = `${MARKUP}\u202egnp.exe`
/** No line can break in it. */
const LONG = 'W'.repeat(120)
/** What a header can carry. */
const IN_HEADER = '"><img/src=x/onerror=alert(3)>' + 'W'.repeat(80)

t.setTimeout(0)

/** A PromptPay code whose merchant has this name. */
function codeOf(merchant: string): string {
  const fields = promptPayQr().slice(0, -8)
  const covered = `${fields}59${String(merchant.length).padStart(2, '0')}${merchant}6304`
  return covered + crc16(covered).toString(16).toUpperCase().padStart(4, '0')
}

t.test('the console', { skip: skipsBrowser }, async (t) => {
  const stack = await startConsoleStack(t, { WEBHOOK_MAX_ATTEMPTS: '1' })
  const { url, token, partner } = stack
  const receiver = await stack.receiver(() => 400)

  const expect = async (answer: Promise<{ status: number; text: string; body: unknown }>) => {
    const { status, text, body } = await answer
    if (status >= 300) throw new Error(`${status} ${text}`)
    return body as Record<string, string>
  }
  const keyed = (key: string) => ({
    headers: { ...withKey(`${key} ${IN_HEADER}`).headers, 'X-Request-Id': IN_HEADER },
  })
  const endpoint = {
    url: `${receiver.url}/x?q=${encodeURIComponent(MARKUP)}`,
    description: HOSTILE,
  }
  await expect(partner.request('POST', '/v1/webhook_endpoints', endpoint))
  const wanted = payoutBody({
    beneficiary: payeeOf('0123456789', { name: `${MARKUP} ${LONG}` }),
    ...{ reference: HOSTILE, description: `${HOSTILE} ${LONG}` },
    metadata: { [MARKUP.slice(0, 30)]: HOSTILE, long: LONG },
  })
  const payout = await expect(partner.request('POST', '/v1/payouts', wanted, keyed('payout')))
  const user = `${LONG} ${HOSTILE}`
  const asked = anIntent({ partner_user_id: user })
  const intent = await expect(
    partner.request('POST', '/v1/payment_intents', asked, keyed('intent')),
  )
  const { intent_id: id = '', session_token: session = '' } = intent
  const scan = { qr_payload: codeOf(MARKUP.slice(0, 60)), local_amount_minor_units: '36000' }
  const app = partner.session(session)
  await expect(app.request('POST', `/v1/payment_intents/${id}/scan`, scan))
  await expect(
    app.request('POST', `/v1/payment_intents/${id}/confirm`, undefined, keyed('confirm')),
  )

  const { page, faults } = await openPage(t, url)
  const main = () => page.innerText('main')
  const fits = async (t: Test, what: string): Promise<void> => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      const needed = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(needed, width, `${what} fits ${width}`)
      await shoot(page, `/hostile ${what}`, String(width))
    }
  }
  await page.goto(url)
  await page.fill('#token', token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const SHOWN = HOSTILE.replace('\u202e', '\\u202e')

  await t.test('hostile texts are shown as they are', async (t) => {
    await page.goto(`${url}/payments/${payout['id']}`)
    const details = await main()
    for (const text of [SHOWN, LONG, `${MARKUP} ${LONG}`]) t.match(details, text)
    await fits(t, 'payout')
    await page.goto(`${url}/payments/${id}`)
    t.match(await main(), MARKUP.slice(0, 60), 'the merchant')
    t.match(await main(), `${LONG} ${SHOWN}`, 'the user')
    await fits(t, 'intent')
    await eventually('the delivery is dead', async () => {
      await page.goto(`${url}/webhooks`)
      return (await main()).includes('http_400')
    })
    t.match(await main(), encodeURIComponent('<img'), 'the address of the endpoint')
    await fits(t, 'webhooks')
    for (const query of [user, HOSTILE, `payout ${IN_HEADER}`, IN_HEADER, LONG, `${MARKUP}&q=1#`]) {
      await page.goto(`${url}/search?q=${encodeURIComponent(query)}`)
      t.equal(await page.inputValue('#q'), query.replace('\u202e', '\\u202e'))
      await fits(t, 'search')
    }
    for (const filter of ['by', 'action', 'subject']) {
      await page.goto(`${url}/actions?${filter}=${encodeURIComponent(HOSTILE + LONG)}`)
      await fits(t, 'actions')
    }
    faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes('404')))
    await page.goto(`${url}/partners/${encodeURIComponent(MARKUP)}`)
    await fits(t, 'no partner')
    faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes('404')))
  })

  await t.test(`a statement of ${ROWS} lines that a bank wrote`, async (t) => {
    const today = new Date().toISOString().slice(0, 10)
    const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`
    const lines = Array.from({ length: ROWS }, (_, at) => {
      const texts = [`${MARKUP} ${at}`, `=1+1${IN_HEADER.slice(0, 40)}${at}`].map(cell)
      return [`${today}T00:00:00Z`, ...texts, 'executed', 'THB', '1'].join()
    })
    const head = 'time,transaction_id,instruction_id,movement,currency,amount'
    const buffer = Buffer.from([head, ...lines, 'unreadable', ''].join('\n'))
    await page.goto(`${url}/reconciliation`)
    await page.setInputFiles('#statement', { name: 's.csv', mimeType: 'text/csv', buffer })
    await page.fill('#from', today)
    await page.fill('#reason', MARKUP)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.locator('.notice').waitFor()
    t.equal(await page.innerText('.notice'), 's.csv is compared.')
    t.match(await main(), new RegExp(`Lines read\\s+${ROWS}\\s`))
    const shown = page.locator("table:has(caption:text('What does not match')) tbody tr")
    t.equal(await shown.count(), 200, 'the first ones, the rest is in the file')
    t.match(await shown.nth(1).innerText(), /missing here\s+=1\+1"><img/)
    await fits(t, 'reconciliation')
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Findings as CSV' }).click(),
    ])
    const text = await readFile(await csv.path(), 'utf8')
    t.ok(text.split('\n').length > ROWS)
    t.notMatch(text, /^[^,]*,"?=1\+1/m, 'no cell is a formula')
    await page.goto(`${url}/actions`)
    t.match(await main(), MARKUP, 'the reason')
    await fits(t, 'actions')
  })

  await t.test('a change without an answer says so, and so does a page', async (t) => {
    await page.goto(`${url}/partners/demo`)
    await page.getByText('Suspend', { exact: true }).click()
    await page.locator('details[open] [name=reason]').fill('a test')
    stack.kill('processor', 'SIGSTOP')
    t.teardown(() => stack.kill('processor', 'SIGCONT'))
    await page.getByRole('button', { name: 'Suspend the partner' }).click()
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor()
    faults.length = 0 // the browser reports the 502
    stack.kill('processor', 'SIGCONT')
    await page.getByRole('link', { name: 'To the overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.match(await page.innerText('.notice'), /^No answer: .+\s+It is unknown whether/)
    t.match(await page.locator('.notice.bad a').getAttribute('href'), /^\/actions\?by=./)
  })
})
