/** What tests of pages in a browser share: what must not happen there, and screenshots. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** The folder for screenshots, if it is set. */
const SHOTS = process.env['CONSOLE_SCREENSHOTS']

/** What the browser reports, dialogs, and requests that lead elsewhere, as they come. */
export function watch(page: Page, url: string): string[] {
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
