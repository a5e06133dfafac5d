/**
 * `make statement`: prints the sandbox bank's statement of a period.
 *
 * Arguments: `--from DAY [--until DAY] [--out FILE]`; days are UTC, timestamps have an offset.
 * The default is until now and to the standard output. Works while the stack runs or is stopped.
 */
import { createWriteStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { systemClock } from '../../base/clock.js'
import { programOptions } from '../../process/program_options.js'
import { dataFile } from '../../settings/settings.js'
import { readSettings } from '../../settings/settings_reader.js'
import { FILES } from '../../base/subjects.js'
import { systemRandom } from '../../base/random.js'
import { openDatabase } from '../../store/sqlite/database.js'
import { readAccountBox } from '../adapter/account_box.js'
import { statementOf } from '../adapter/statement.js'

const EXIT_USAGE = 2

const args = programOptions('statement', "Writes the sandbox bank's statement of a period.", {
  from: { value: 'DAY', about: 'first day', required: true },
  until: { value: 'DAY', about: 'first day after the period; now unless given' },
  to: { value: 'DAY', about: 'former name of --until' },
  out: { value: 'FILE', about: 'write to this file' },
})
const from = Date.parse(args.from)
// A statement ends before it is written, so it has everything of its period.
const end = args.until ?? args.to
const until = end === undefined ? systemClock.now() : Date.parse(end)
const file = dataFile(readSettings(), FILES.railDatabase)

if (Number.isNaN(from) || !(until > from))
  fail('--from is a day, and --until a later one: 2026-11-21')
else if (!existsSync(file)) fail(`${file} does not exist`)
else await write()

async function write(): Promise<void> {
  const journal = await openDatabase(file, { readOnly: true })
  const accounts = readAccountBox(file, systemRandom())
  const target =
    args.out === undefined ? process.stdout : createWriteStream(args.out, { mode: 0o600 })
  await pipeline(Readable.from(statementOf(journal, accounts, from, until)), target)
  await journal.close()
}

function fail(fault: string): void {
  process.stderr.write(`${fault}\n`)
  process.exitCode = EXIT_USAGE
}
