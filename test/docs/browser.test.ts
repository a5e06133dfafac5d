/** The documentation in a real browser, on a real stack. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startStack } from '../support/stack.js'
import { skipsBrowser, startBrowser } from './browser.js'

/** A name that leads to the stack, and that browsers do not trust without HTTPS. */
const INSECURE_HOST = 'causeway.test'
const MINUTE = 60_000
/** The folder for screenshots, if it is set. */
const SHOTS = process.env['DOCS_SCREENSHOTS']

t.setTimeout(0)

void t.test('documentation', { skip: skipsBrowser }, async (t) => {
  const stack = await startStack()
  t.teardown(() => stack.stop())
  const browser = await startBrowser([`--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`])
  t.teardown(() => browser.close())
  const page = await browser.context.newPage()
  page.setDefaultTimeout(MINUTE)
  const { baseUrl, sandbox } = stack

  await t.test('the page signs an operation and shows the answer', async (t) => {
    const faults = watch(page, baseUrl)
    const answer = await page.goto(`${baseUrl}/docs`)
    t.match(answer?.headers()['content-security-policy'], /^default-src 'self'; img-src/)
    const create = operation(page, 'createPaymentIntent')
    await create.locator('.opblock-summary').click()
    await create.getByRole('button', { name: 'Try it out' }).click()
    const execute = create.getByRole('button', { name: 'Execute' })

    await execute.click()
    t.equal(await page.innerText('#missing'), 'This operation needs: Key id.')
    t.equal(await create.locator('.live-responses-table').count(), 0, 'nothing was sent')

    await page.fill('#key-id', sandbox.key_id)
    await page.fill('#secret', sandbox.signing_secret)
    const key = create.getByPlaceholder('Idempotency-Key')
    const firstKey = await key.inputValue()
    t.match(firstKey, /^[0-9a-f]{32}$/)
    const [request] = await Promise.all([sent(page, '/v1/payment_intents'), execute.click()])
    await create.locator('.live-responses-table').waitFor()
    t.equal(await statusShown(page, 'createPaymentIntent'), '201')
    const shown = await create.locator('.live-responses-table').innerText()
    t.match(shown, /"intent_id": "pi_[0-9A-Z]{26}"/)
    t.notMatch(await create.innerText(), sandbox.signing_secret)
    t.match(await request.allHeaders(), {
      'idempotency-key': firstKey,
      'x-service-key-id': sandbox.key_id,
      'x-service-nonce': /^[0-9a-f]{64}$/,
    })
    t.notMatch(JSON.stringify([await request.allHeaders(), request.postData()]), /sk_/)
    t.not(await key.inputValue(), firstKey, 'the next request has a key of its own')
    t.same(await stored(page), { local: 0, session: 0, cookies: '' })
    await shoot(page, 'reference')
    await shoot(page, 'answer', '.live-responses-table')

    await t.test('a scan uses the session token of the previous answer', async (t) => {
      const [, id = ''] = /"intent_id": "(pi_\w+)"/.exec(shown) ?? []
      const scan = operation(page, 'scanQrCode')
      await scan.locator('.opblock-summary').click()
      await scan.getByRole('button', { name: 'Try it out' }).click()
      await scan.getByPlaceholder('intent_id').fill(id)
      await scan.getByRole('button', { name: 'Execute' }).click()
      await scan.locator('.live-responses-table').waitFor()
      t.equal(await statusShown(page, 'scanQrCode'), '200')
    })
    t.same(faults, [])
  })

  await t.test('the pages of the guide fit narrow screens and dark mode', async (t) => {
    const faults = watch(page, baseUrl)
    const paths = await page.locator('nav a[href^="/docs/guide/"]').all()
    const hrefs = await Promise.all(paths.map((link) => link.getAttribute('href')))
    t.ok(hrefs.length >= 5)
    for (const href of hrefs) {
      await page.setViewportSize({ width: 390, height: 844 })
      await page.goto(baseUrl + href)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, 390, `${href} fits a narrow screen`)
      await shoot(page, `${href?.slice(href.lastIndexOf('/') + 1)}-narrow`)
      await page.setViewportSize({ width: 1280, height: 900 })
      t.ok((await page.innerText('article')).length > 200, href ?? '')
    }
    await page.emulateMedia({ colorScheme: 'dark' })
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    t.equal(ground, 'rgb(18, 24, 29)', 'dark when the browser prefers it')
    await shoot(page, 'guide-dark')
    t.same(faults, [])
  })

  await t.test('without WebCrypto the page says so, and shows the reference', async (t) => {
    await page.goto(`${baseUrl.replace('127.0.0.1', INSECURE_HOST)}/docs`)
    await page.waitForSelector('.opblock')
    t.match(await page.innerText('#insecure'), /cannot sign requests.* over HTTPS/)
    t.notOk(await page.isVisible('#credentials'))
    await operation(page, 'createPaymentIntent').locator('.opblock-summary').click()
    t.equal(await page.getByRole('button', { name: 'Try it out' }).count(), 0)
  })
})

/** Messages of the console and requests that lead elsewhere, as they come. */
function watch(page: Page, baseUrl: string): readonly string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${baseUrl}/`) && !url.startsWith('data:')) faults.push(url)
  })
  return faults
}

const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

const sent = (page: Page, path: string) =>
  page.waitForRequest((request) => new URL(request.url()).pathname === path)

async function statusShown(page: Page, id: string): Promise<string> {
  const cell = operation(page, id).locator('.live-responses-table tbody .response-col_status')
  return (await cell.first().innerText()).trim()
}

const stored = (page: Page): Promise<unknown> =>
  page.evaluate(
    '({ local: localStorage.length, session: sessionStorage.length, cookies: document.cookie })',
  )

async function shoot(page: Page, name: string, selector?: string): Promise<void> {
  if (SHOTS === undefined) return
  await mkdir(SHOTS, { recursive: true })
  if (selector !== undefined) await page.locator(selector).first().scrollIntoViewIfNeeded()
  await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}
