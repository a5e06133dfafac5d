/**
 * Debian's Chromium for tests of pages: headless, with an empty profile, without background
 * requests.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type BrowserContextOptions } from 'playwright-core'

const EXECUTABLE = '/usr/bin/chromium'

/** Under CI nothing is skipped: without Chromium the tests fail. */
export const skipsBrowser: string | false =
  !existsSync(EXECUTABLE) && process.env['CI'] === undefined
    ? 'Chromium is not installed: apt-get install chromium'
    : false

export interface Browser {
  readonly context: BrowserContext
  close(): Promise<void>
}

export async function startBrowser(
  args: readonly string[] = [],
  options: Pick<BrowserContextOptions, 'clientCertificates' | 'ignoreHTTPSErrors'> = {},
): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'causeway-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    headless: true,
    viewport: { width: 1280, height: 900 },
    ...options,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      ...args,
    ],
  })
  return {
    context,
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}
