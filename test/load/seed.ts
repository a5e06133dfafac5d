/**
 * Fills a new folder with a past, for a stack that is started on it afterwards.
 *
 * node .build/test/load/seed.js --count 1000000 [--what payouts|intents|both] [--live N]
 *   [--data-dir DIR]
 *
 * DIR is the setting DATA_DIR unless it is given. Exit codes: 0 done, 2 wrong flags or the folder
 * has books already.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { readSettings } from '../../src/base/settings.js'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/database.js'
import { readFlags, UsageError, type Flags } from './flags.js'
import { writeSeedData } from './seed_data/seed_data.js'

const EXIT_USAGE = 2
const COUNT_MAX = 100_000_000
const TELL_EVERY_MS = 2_000

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2), ['count', 'what', 'live', 'data-dir'], [])
  const folder = resolve(flags.text('data-dir') ?? readSettings().DATA_DIR)
  const count = flags.whole('count', 10_000, COUNT_MAX)
  const what = kindsOf(flags)
  const live = Math.min(flags.wholeIfGiven('live', COUNT_MAX) ?? 0, count * what.length)
  if (existsSync(join(folder, FILES.processorDatabase))) {
    throw new UsageError(`${folder} has books already: choose a new folder (DATA_DIR)`)
  }
  const startedAt = performance.now()
  const elapsed = (): number => (performance.now() - startedAt) / 1_000
  let toldAt = startedAt
  await writeSeedData({
    folder,
    count,
    what,
    live,
    now: systemClock.now(),
    tell: (done, of) => {
      if (performance.now() - toldAt < TELL_EVERY_MS) return
      toldAt = performance.now()
      say(`  ${shown(done)} of ${shown(of)}, ${shown(done / elapsed())}/s`)
    },
  })
  const seconds = elapsed()
  const rows = await rowsIn(folder)
  const rate = `${shown(rows / seconds)} rows/s`
  say(`${folder}: ${shown(count)} ${what.join(' and ')}, ${shown(live)} of them live`)
  say(`${shown(rows)} rows in ${shown(seconds)} s, ${rate}`)
}

function kindsOf(flags: Flags): readonly ('intents' | 'payouts')[] {
  const what = flags.text('what') ?? 'both'
  if (what === 'both') return ['payouts', 'intents']
  if (what === 'intents' || what === 'payouts') return [what]
  throw new UsageError(`--what is payouts, intents or both, not ${what}`)
}

async function rowsIn(folder: string): Promise<number> {
  let rows = 0
  for (const file of [FILES.processorDatabase, FILES.railDatabase, FILES.webhookDatabase]) {
    const database = await openDatabase(join(folder, file), { readOnly: true })
    const tables = await database.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table'",
    )
    for (const { name } of tables) {
      const [found] = await database.all<{ n: number }>(`SELECT count(*) AS n FROM ${name}`)
      rows += found?.n ?? 0
    }
    await database.close()
  }
  return rows
}

const shown = (value: number): string => Math.round(value).toLocaleString('en-US')
const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

await main().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = EXIT_USAGE
})
