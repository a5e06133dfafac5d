/** A report with the run before beside it, in Chromium, from a file without a network. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { findingsOf } from '../../console/browser_page.js'
import { skipsBrowser, startBrowser } from '../../docs/browser.js'
import { eventually } from '../../support/eventually.js'
import { tempFolder } from '../../support/temp_folder.js'
import type { SampleResult, WindowResult } from '../measured_window.js'
import { finding, type RunResult } from '../result.js'
import { reportPage } from './report_page.js'
import { runBefore } from './run_before.js'

/** It would run, or end a script. */
const HOSTILE = '</script><img src=x onerror=alert(1)>'

const latency = (p99: number) => ({
  ...{ count: 1_000, mean: 2, p50: 1.5, p90: 3, p95: 4, p99, p999: 2 * p99, max: 3 * p99 },
})

/** @param factor how much slower than the one before */
function aRun(startedAt: string, factor: number): RunResult {
  const sample = (second: number): SampleResult => ({
    ...{ at: 1_000 * second, offeredPerSecond: 200, perSecond: 200 - second, failedPerSecond: 1 },
    ...{ abandonedPerSecond: 0, p50: factor, p99: 10 * factor, p999: 20 * factor },
    ...{ p99FromSent: 9 * factor, clientDelayMs: 1 },
  })
  const window: WindowResult = {
    ...{ side: 'load', repeat: 1, seconds: 5, ratePerSecond: 197.5 / factor, perCommit: 3 },
    subscribedShare: 0.5,
    ...{ latency: latency(10 * factor), rejections: latency(1), phases: [], isOpenLoop: true },
    operations: { 'create an intent': latency(10 * factor), payout: latency(30 * factor) },
    journeys: { begun: 1_000, completed: 990, overdue: 0, abandoned: 3 },
    errors: { '503 configuration_error': 7 * factor, [HOSTILE]: 1 },
    ...{ arrivals: undefined, shards: [], cpuMicros: {}, rssMiB: {}, elsewhere: 0.01 },
    resources: [],
    samples: [1, 2, 3, 4, 5].map(sample),
  }
  const line = { what: 'accepted = stored', left: 990, right: 990, holds: true }
  return {
    ...{ kind: 'load', startedAt, voidBecause: [] },
    machine: {
      ...{ cpu: HOSTILE, cores: 2, memoryMiB: 8_000, node: 'v20', kernel: '6.1' },
      ...{ fileSystem: 'ext4', fsyncMicros: 400 },
    },
    settings: { load: `mixed, open loop at ${200 * factor}/s` },
    sections: [
      {
        ...{ title: 'a mix', windows: [window] },
        findings: [finding('rate', 197.5 / factor, '/s', { atLeast: 196 })],
        accounts: { lines: [line], audit: 'audit clean: 55 checks', faults: [] },
      },
    ],
  }
}

const former = aRun('2026-11-21T05:30:12.000Z', 1)
const last = aRun('2026-11-21T06:30:12.000Z', 2)

t.test('the run beside it is the newest earlier one of its kind', async (t) => {
  const folder = tempFolder(t)
  const write = (name: string, run: object): void =>
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(run))
  t.equal(runBefore(folder, last), undefined)
  write('load-2026-11-21T053012.000Z', former)
  write('load-2026-11-21T063012.000Z', last)
  write('load-2026-11-21T040000.000Z', aRun('2026-11-21T04:00:00.000Z', 3))
  write('bench-2026-11-21T060000.000Z', { ...former, startedAt: '2026-11-21T06:00:00.000Z' })
  const older = { sections: [{ windows: [{ side: 'load' }] }], startedAt: '2026-11-21T06:10:00Z' }
  write('load-2026-11-21T061000.000Z', older)
  t.equal(runBefore(folder, last)?.startedAt, former.startedAt)
  t.match(reportPage(last, former), 'p99.9 before')
  t.notMatch(reportPage(former), 'p99.9 before', 'alone it has nothing of another run')
})

t.test('the page in a browser', { skip: skipsBrowser }, async (t) => {
  const file = join(tempFolder(t), 'report.html')
  writeFileSync(file, reportPage(last, former))
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  await browser.context.setOffline(true)
  const page = await browser.context.newPage()
  const faults: string[] = []
  page.on('console', (message) => faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => faults.push(dialog.message()))
  page.on('request', (request) => request.url().startsWith('file:') || faults.push(request.url()))
  await page.goto(pathToFileURL(file).href)

  const rows = async (caption: string): Promise<string[]> => {
    const table = page.locator(`table:has(caption:text-is('${caption}')) tbody tr`)
    return (await table.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '))
  }
  t.same(await rows('What the run was made for'), ['rate 98.75 /s 198 /s at least 196 /s, NOT met'])
  t.same(await rows('Windows, as they were measured'), [
    'load 1 200 99 1.5 20.0 40.0 990 10 3.0 198 10.0',
  ])
  t.same(await rows('Latency by operation, in ms, from due until the last answer or webhook'), [
    'create an intent load 1 1,000 1.5 3.0 20.0 40.0 60.0 10.0 20.0',
    'payout load 1 1,000 1.5 3.0 60.0 120.0 180.0 30.0 60.0',
  ])
  t.same(await rows('Errors by code'), [
    '503 configuration_error load 1 14 7',
    'got no connection in time load 1 3 3',
    `${HOSTILE} load 1 1 1`,
  ])
  const settings = await rows('Machine and settings')
  t.match(settings.at(-1), 'load mixed, open loop at 400/s mixed, open loop at 200/s')
  t.equal(await page.locator('td em').innerText(), 'mixed, open loop at 200/s', 'is marked')
  t.equal(await page.locator('.verdict em').innerText(), 'Not comparable, these differ: load.')

  const said = async (index: number): Promise<string> => {
    const chart = page.locator('.chart').nth(index)
    const { width, height } = (await chart.locator('.u-over').boundingBox())!
    await chart.locator('.u-over').hover({ position: { x: width / 2, y: height / 2 } })
    return (await chart.locator('.u-legend').innerText()).replaceAll(/\s+/g, ' ')
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.match(
      await said(0),
      /3\.0 s.*offered:? ?200 \/s.*achieved:? ?197 \/s.*failed:? ?1 \/s.*before:? ?197 \/s/,
    )
    t.match(await said(1), /p50:? ?2 ms.*p99:? ?20 ms.*p99\.9:? ?40 ms.*p99\.9 before:? ?20 ms/)
  }
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    t.same(await findingsOf(page), [], `no serious finding of axe, ${width}`)
    await eventually('the charts follow the window', () =>
      page.evaluate<boolean>(`document.documentElement.scrollWidth === ${width} &&
        [...document.querySelectorAll('.u-wrap')].every((each) => each.clientWidth <= ${width})`),
    )
  }
  t.same(faults, [], 'nothing runs, fails or is loaded')
})
