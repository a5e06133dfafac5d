/** The documentation in a real browser, on a real stack. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { FILES } from '../../src/base/subjects.js'
import { eventually } from '../support/eventually.js'
import { FAINT_TEXTS } from './contrast.js'
import { startStack } from '../support/stack.js'
import { skipsBrowser, startBrowser } from './browser.js'

/** A name that leads to the stack, and that browsers do not trust without HTTPS. */
const INSECURE_HOST = 'causeway.test'
const MINUTE = 60_000
/** The most operations that have to be sent before another one. */
const MAKERS_MAX = 4
const run = promisify(execFile)
const missing = ['curl', 'openssl'].filter(
  (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
)
const skipsShell = missing.length > 0 && `not installed: ${missing.join(', ')}`
/** The folder for screenshots, if it is set. */
const SHOTS = process.env['DOCS_SCREENSHOTS']

t.setTimeout(0)

t.test('documentation', { skip: skipsBrowser }, async (t) => {
  const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '50' } })
  const browser = await startBrowser([`--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`])
  t.teardown(() => browser.close())
  const page = await browser.context.newPage()
  page.setDefaultTimeout(MINUTE)
  const { baseUrl, sandbox } = stack
  const faults = watch(page, baseUrl)
  t.afterEach(() => {
    t.same(faults.splice(0), [], 'the page reports nothing and loads nothing from elsewhere')
  })
  await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const sandboxFile = join(stack.dataDir, FILES.sandbox)

  await t.test('from opening the page to captured, without typing', async (t) => {
    const answer = await page.goto(`${baseUrl}/docs`)
    t.match(answer?.headers()['content-security-policy'], /^default-src 'self'; img-src/)
    await shoot(page, 'start')
    await page.setInputFiles('#sandbox-file', sandboxFile)
    await page.getByText('Key and secret are taken').waitFor()
    t.equal(await page.inputValue('#key-id'), sandbox.key_id)

    await page.locator('[data-operation=createPaymentIntent]').click()
    const key = operation(page, 'createPaymentIntent').getByPlaceholder('Idempotency-Key')
    const firstKey = await key.inputValue()
    t.match(firstKey, /^[0-9a-f]{32}$/)
    const [request, created] = await Promise.all([
      page.waitForRequest(`${baseUrl}/v1/payment_intents`),
      execute(page, 'createPaymentIntent'),
    ])
    t.equal(created.status, '201')
    t.match(created.text, /"intent_id": "pi_[0-9A-Z]{26}"/)
    t.match(await request.allHeaders(), {
      'idempotency-key': firstKey,
      'x-service-key-id': sandbox.key_id,
      'x-service-nonce': /^[0-9a-f]{64}$/,
    })
    t.notMatch(JSON.stringify([await request.allHeaders(), request.postData()]), /sk_/)
    t.notMatch(await page.innerText('#main'), sandbox.signing_secret)
    t.not(await key.inputValue(), firstKey, 'the next request has a key of its own')
    await shoot(page, 'answer', '.answer')

    await page.getByRole('button', { name: "Next: Scan the merchant's QR code" }).click()
    t.equal((await execute(page, 'scanQrCode')).status, '200')
    await page.getByRole('button', { name: 'Next: Confirm the payment' }).click()
    t.equal((await execute(page, 'confirmPaymentIntent')).status, '200')
    await page.getByRole('button', { name: 'Next: Get a payment intent' }).click()
    await eventually('the payment is captured', async () => {
      return (await execute(page, 'getPaymentIntent')).text.includes('"status": "captured"')
    })
    await page.getByText('That was the last step.').waitFor()
    t.same(await stored(page), { local: 0, session: 0, cookies: '' })
  })

  await t.test('every operation can be sent as it stands', async (t) => {
    await openWithKey(page, baseUrl, sandboxFile)
    const ids = await operationIds(page)
    t.ok(ids.length > 35)
    for (const id of ids) {
      const { status, text } = await executeWithMakers(page, id)
      if (id === 'cancelPayout') t.equal(status, '409', 'payouts cannot be cancelled')
      else t.match(status, /^2/, `${id}: ${text.slice(0, 300)}`)
      await operation(page, id).locator('.opblock-summary').click()
    }
    ignore(faults, /status of 409/)
  })

  await t.test('a second journey within a minute is not a duplicate', async (t) => {
    for (const id of ['createPaymentIntent', 'scanQrCode', 'confirmPaymentIntent']) {
      t.match((await execute(page, id)).status, /^2/, id)
    }
  })

  await t.test('a new endpoint comes with the command that starts its receiver', async (t) => {
    await execute(page, 'createWebhookEndpoint')
    const block = operation(page, 'createWebhookEndpoint')
    t.match(await block.locator('textarea').inputValue(), '"url": "http://127.0.0.1:3000/hooks"')
    await block.locator('.next button.copy').first().click()
    const start = /^WEBHOOK_SECRETS='\{"we_\w+_1":"whsec_\S+"\}' node receiver\.mjs$/
    t.match(await page.evaluate('navigator.clipboard.readText()'), start)
    const buttons = await block.locator('button.copy').all()
    const boxes = await Promise.all(buttons.map((button) => button.boundingBox()))
    const [first, ...others] = boxes.map((box) => box?.height)
    t.ok(others.length >= 2 && others.every((height) => height === first), 'buttons are alike')
    const [guide] = await Promise.all([
      page.context().waitForEvent('page'),
      block.getByRole('link', { name: 'Node' }).click(),
    ])
    t.match(guide.url(), '/docs/clients/node#webhooks')
    await guide.close()
    t.equal(await page.inputValue('#key-id'), sandbox.key_id, 'this page still has the key')
    await page.getByRole('button', { name: 'Next: Send a test event' }).waitFor()
  })

  await t.test('what the user typed is kept', async (t) => {
    const id = 'pout_01KAJ0V8X00000000000000099'
    await show(page, 'getPayout')
    await show(page, 'createPayout')
    const field = operation(page, 'getPayout').getByPlaceholder('payout_id')
    await field.fill(id)
    const body = operation(page, 'createPayout').locator('textarea')
    await body.fill((await body.inputValue()).replace('invoice 2026-114', 'my own'))
    t.match((await execute(page, 'createBeneficiary')).status, '201')
    t.match(await body.inputValue(), /"reference": "my own"/)
    t.equal((await execute(page, 'getPayout')).status, '404')
    t.equal(await field.inputValue(), id)
    ignore(faults, /status of 404/)
  })

  await t.test('the command shown signs itself', { skip: skipsShell }, async (t) => {
    await openWithKey(page, baseUrl, sandboxFile)
    const commandOf = async (id: string): Promise<string> => {
      await executeWithMakers(page, id)
      await operation(page, id).locator('.curl-command button.copy').click()
      return page.evaluate('navigator.clipboard.readText()')
    }
    const env = { PATH: process.env['PATH'], SIGNING_SECRET: sandbox.signing_secret }
    for (const [id, expected] of [
      ['createPayout', /"status":"(?:processing|completed)"/],
      ['listPayouts', /"data":\[\{"id":"pout_/],
      ['updateWebhookEndpoint', /"status":"enabled"/],
      ['createPaymentIntent', /"session_token":/],
      ['scanQrCode', /"quote_version":2/],
    ] as const) {
      const command = await commandOf(id)
      t.notMatch(command, sandbox.signing_secret)
      for (const attempt of ['first', 'second']) {
        const { stdout, stderr } = await run('sh', ['-c', command], { env })
        t.match(stdout, attempt === 'first' ? expected : /^\{"(?!error)/, `${id} ${stderr}`)
      }
    }
    const wrong = { ...env, SIGNING_SECRET: 'sk_wrong' }
    const { stdout } = await run('sh', ['-c', await commandOf('getBalances')], { env: wrong })
    t.match(stdout, 'authentication_failed')
  })

  await t.test('nothing is sent without a key, or without what an operation needs', async (t) => {
    await page.goto(`${baseUrl}/docs`)
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await page.locator('[data-operation=createPayout]').click()
    const button = (id: string) => operation(page, id).getByRole('button', { name: 'Execute' })
    await button('createPayout').click()
    t.match(await page.innerText('#missing'), /^This operation needs: Key id\. Open sandbox\.json/)
    await page.setInputFiles('#sandbox-file', join(projectRoot(), 'package.json'))
    await page.getByText('This file has no key_id').waitFor()
    await page.setInputFiles('#sandbox-file', sandboxFile)
    await page.locator('#missing').waitFor({ state: 'hidden' })
    await show(page, 'confirmPaymentIntent')
    await button('confirmPaymentIntent').click()
    const first = 'Nothing to use here yet. First: Create a payment intent'
    t.equal(await page.innerText('#missing'), first)
    const sent = requests.filter((path) => path.startsWith('/v1/'))
    t.same(sent, [])
  })

  await t.test(
    'pages fit narrow screens, and their text has contrast in both themes',
    async (t) => {
      const faint = async (where: string): Promise<void> => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          t.same(await page.evaluate(FAINT_TEXTS), [], `${where}, ${colorScheme}`)
          await shoot(page, `${where}-${colorScheme}`)
        }
      }
      await openWithKey(page, baseUrl, sandboxFile)
      await execute(page, 'createPaymentIntent')
      await executeWithMakers(page, 'deleteWebhookEndpoint')
      await operation(page, 'createPayout').locator('.opblock-summary').click()
      for (const tab of await page.getByRole('tab', { name: 'Schema' }).all()) await tab.click()
      await show(page, 'getReceipt')
      await operation(page, 'getReceipt').getByRole('button', { name: 'Execute' }).click()
      await faint('reference')
      const links = await page.locator('nav a[href^="/docs/"]').all()
      const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')))
      t.ok(hrefs.length >= 12)
      for (const href of ['/docs', ...hrefs]) {
        const name = href?.slice(href.lastIndexOf('/') + 1) ?? ''
        await page.setViewportSize({ width: 390, height: 844 })
        await page.goto(baseUrl + href)
        if (href === '/docs') await page.waitForSelector('.opblock')
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, `${href} fits`)
        const tab = await page.locator('nav [aria-current]').boundingBox()
        t.ok(tab !== null && tab.x >= 0 && tab.x + tab.width <= 390, `${href}: its tab is in view`)
        await shoot(page, `${name}-narrow`)
        await page.setViewportSize({ width: 1280, height: 900 })
        if (href === '/docs') continue
        t.ok((await page.innerText('article')).length > 200, href ?? '')
        await faint(name)
      }
    },
  )

  await t.test('clients and collections are one click away, and code can be copied', async (t) => {
    await page.goto(`${baseUrl}/docs`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Postman collection' }).click(),
    ])
    const { info } = JSON.parse(readFileSync(await download.path(), 'utf8')) as { info: object }
    t.match(info, { name: 'Causeway partner API' })
    const bruno = page.getByRole('link', { name: 'Bruno collection' })
    const [archive] = await Promise.all([page.waitForEvent('download'), bruno.click()])
    t.match(archive.suggestedFilename(), /\.zip$/)
    await page.getByRole('link', { name: 'Client for Node' }).click()
    const command = page.locator('article .copyable').filter({ hasText: 'npm install' })
    await command.getByRole('button').click()
    t.match(await page.evaluate('navigator.clipboard.readText()'), /^npm install \S+\.tgz/)
    await page.goto(`${baseUrl}/docs`)
    await page.getByRole('link', { name: 'Client for Python' }).click()
    t.match(await page.innerText('article'), /pip install/)
  })

  await t.test('without WebCrypto the page says so, and shows the reference', async (t) => {
    await page.goto(`${baseUrl.replace('127.0.0.1', INSECURE_HOST)}/docs`)
    await page.waitForSelector('.opblock')
    t.match(await page.innerText('#insecure'), /cannot sign requests.* over HTTPS/)
    t.notOk(await page.isVisible('#credentials'))
    await operation(page, 'createPaymentIntent').locator('.opblock-summary').click()
    await operation(page, 'createPaymentIntent').locator('.responses-table').waitFor()
    t.equal(await page.getByRole('button', { name: 'Execute' }).count(), 0)
    faults.length = 0 // its requests lead to the insecure name
  })
})

/** The browser reports each refusal. */
function ignore(faults: string[], expected: RegExp): void {
  const others = faults.filter((fault) => !expected.test(fault))
  faults.splice(0, faults.length, ...others)
}

const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

async function openWithKey(page: Page, baseUrl: string, sandboxFile: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${baseUrl}/docs`)
  await page.waitForSelector('.opblock')
  await page.setInputFiles('#sandbox-file', sandboxFile)
  await page.getByText('Key and secret are taken').waitFor()
}

async function operationIds(page: Page): Promise<readonly string[]> {
  const blocks = await page.locator('.opblock').all()
  const ids = await Promise.all(blocks.map((block) => block.getAttribute('id')))
  // The names of webhooks begin with `on`: partners receive them.
  return ids.map((id) => id?.split('-').at(-1) ?? '').filter((id) => !/^on[A-Z]/.test(id))
}

async function show(page: Page, id: string): Promise<void> {
  const block = operation(page, id)
  if (!(await block.getAttribute('class'))?.includes('is-open')) {
    await block.locator('.opblock-summary').click()
  }
  await block.getByRole('button', { name: 'Execute' }).waitFor()
}

interface Shown {
  readonly status: string
  readonly text: string
}

/** Sends an operation as it stands. @returns the answer as shown */
async function execute(page: Page, id: string): Promise<Shown> {
  await show(page, id)
  const block = operation(page, id)
  const clear = block.getByRole('button', { name: 'Clear' })
  if (await clear.isVisible()) await clear.click()
  await block.getByRole('button', { name: 'Execute' }).click()
  const answer = block.locator('.live-responses-table')
  await answer.waitFor()
  const status = await answer.locator('tbody .response-col_status').first().innerText()
  return { status: status.trim(), text: await answer.innerText() }
}

/** The page names an operation to send before: a click away. */
async function executeWithMakers(page: Page, id: string): Promise<Shown> {
  await show(page, id)
  const block = operation(page, id)
  for (let attempt = 0; attempt < MAKERS_MAX; attempt++) {
    const clear = block.getByRole('button', { name: 'Clear' })
    if (await clear.isVisible()) await clear.click()
    await block.getByRole('button', { name: 'Execute' }).click()
    const maker = page.locator('#missing button')
    await block.locator('.live-responses-table').or(maker).first().waitFor()
    if (!(await maker.isVisible())) break
    await maker.click()
    const opened = await page.evaluate('document.activeElement.closest(".opblock").id')
    await executeWithMakers(page, String(opened).split('-').at(-1) ?? '')
  }
  const answer = block.locator('.live-responses-table')
  const status = await answer.locator('tbody .response-col_status').first().innerText()
  return { status: status.trim(), text: await answer.innerText() }
}

/** Messages of the console and requests that lead elsewhere, as they come. */
function watch(page: Page, baseUrl: string): string[] {
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
