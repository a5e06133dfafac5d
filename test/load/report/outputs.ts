/**
 * What a run leaves behind: its figures as JSON and as a page with plots.
 *
 * Both files bear the instant of the run's start; `latest.html` is a copy of the newest page.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageOf } from './page.js'
import type { RunResult } from './result.js'

export function writeOutputs(folder: string, result: RunResult): readonly string[] {
  mkdirSync(folder, { recursive: true })
  const name = `${result.kind}-${result.startedAt.replaceAll(':', '')}`
  const json = join(folder, `${name}.json`)
  const page = join(folder, `${name}.html`)
  writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`)
  writeFileSync(page, pageOf(result))
  copyFileSync(page, join(folder, 'latest.html'))
  return [json, page]
}
