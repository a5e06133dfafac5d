/**
 * Debian's Chromium for tests of pages: headless, with an empty profile, without background
 * requests.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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

/** The certificates that Chromium itself has. */
export interface CertificateStore {
  /** The home folder with its database, `.pki/nssdb`. */
  readonly home: string
  /** It is shown here, without a dialog. */
  readonly origin: string
}

export async function startBrowser(
  args: readonly string[] = [],
  options: Pick<BrowserContextOptions, 'clientCertificates' | 'ignoreHTTPSErrors'> = {},
  store?: CertificateStore,
): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'causeway-browser-'))
  if (store !== undefined) await choose(profile, store)
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    headless: true,
    viewport: { width: 1280, height: 900 },
    ...options,
    ...(store === undefined ? {} : { env: { ...process.env, HOME: store.home } }),
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

/** A headless browser has no dialog in which a certificate is chosen. */
async function choose(profile: string, { origin }: CertificateStore): Promise<void> {
  const exceptions = {
    auto_select_certificate: { [`${origin},*`]: { setting: { filters: [{}] } } },
  }
  await mkdir(join(profile, 'Default'))
  await writeFile(
    join(profile, 'Default/Preferences'),
    JSON.stringify({ profile: { content_settings: { exceptions } } }),
  )
}
