/** What tests of pages in a browser share: what must not happen there, and screenshots. */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { MINUTE } from '../../src/base/clock.js'
import { startBrowser } from '../docs/browser.js'

/** The folder for screenshots, if it is set. */
const SHOTS = process.env['CONSOLE_SCREENSHOTS']
const [WIDE, NARROW] = [1280, 390]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Without the nodes that pass, which are many times as many. */
const VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`
/** Only one form is open at a time. */
const OPEN_ALL = `for (const each of document.querySelectorAll('main details')) {
  each.removeAttribute('name')
  each.open = true
}`

/** The captions of tables that stick out of their cards. */
const TOO_WIDE = `[...document.querySelectorAll('.card table')]
  .filter((table) => {
    const { right } = table.closest('.card').getBoundingClientRect()
    return table.getBoundingClientRect().right > right
  })
  .map((table) => table.caption.innerText)`

/** What the browser reports, dialogs, and requests that lead elsewhere, as they come. */
function watch(page: Page, url: string): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => {
    faults.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(request.url())
  })
  return faults
}

/** A page of a browser of its own. After each test within this one it has no faults. */
export async function openPage(
  t: Test,
  url: string,
): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await browser.context.newPage()
  page.setDefaultTimeout(MINUTE)
  const faults = watch(page, url)
  t.afterEach(() => {
    t.same(faults.splice(0), [], 'nothing runs, and nothing is loaded from elsewhere')
  })
  return { page, faults }
}

export async function shoot(page: Page, path: string, how: string): Promise<void> {
  if (SHOTS === undefined) return
  await mkdir(SHOTS, { recursive: true })
  const name =
    path === '/'
      ? 'overview'
      : path
          .slice(1)
          .replace(/\/(pi|pout)_.*/, '-$1')
          .replaceAll(/\W/g, '-')
  await page.evaluate('scrollTo(0, 0)')
  await page.screenshot({ path: join(SHOTS, `${name}-${how}.png`), fullPage: true })
}

/**
 * With all forms open: no serious finding in either theme on a wide or a narrow screen, and no
 * wider than it.
 */
export async function checkLook(t: Test, page: Page, path: string): Promise<void> {
  const fits = async (width: number): Promise<void> => {
    await page.setViewportSize({ width, height: 900 })
    const needed = await page.evaluate('document.documentElement.scrollWidth')
    t.equal(needed, width, `${path} fits ${width}`)
    t.same(await page.evaluate(TOO_WIDE), [], `${path}: each table fits its card, ${width}`)
  }
  await fits(WIDE)
  await shoot(page, path, 'closed')
  await page.evaluate(OPEN_ALL)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await findingsOf(page), [], `${path}, ${colorScheme}`)
    await shoot(page, path, colorScheme)
  }
  await fits(NARROW)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await findingsOf(page), [], `${path}, ${colorScheme}, phone`)
    await shoot(page, path, `phone-${colorScheme}`)
  }
  await page.setViewportSize({ width: WIDE, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

/** Serious findings of axe-core. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE)
  const violations = await page.evaluate<readonly Finding[]>(VIOLATIONS)
  return violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}
