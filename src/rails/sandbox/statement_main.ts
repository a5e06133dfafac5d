/**
 * `make statement`: the sandbox bank's statement of a period: composition root.
 *
 * Arguments: `--from DAY [--to DAY] [--out FILE]`; a day or a moment with its offset, in UTC.
 * Without `--to` it is everything since; without `--out` it goes to the standard output. It reads
 * the journal only, whether the stack runs or not.
 */
import { createWriteStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { dataFile, readSettings } from '../../base/settings.js'
import { FILES } from '../../base/subjects.js'
import { openDatabase } from '../../store/database.js'
import { statementOf } from './statement.js'

const TYPED_WRONG = 2

const USAGE = 'usage: --from DAY [--to DAY] [--out FILE]'

const args = typed()
const from = Date.parse(args.from ?? '')
const to = args.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(args.to)
const file = dataFile(readSettings(), FILES.railDatabase)

if (Number.isNaN(from) || !(to > from)) give(USAGE)
else if (!existsSync(file)) give(`there is no ${file}`)
else await write()

/** What is no argument of ours counts as if nothing was given, so that the usage is told. */
function typed(): { readonly from?: string; readonly to?: string; readonly out?: string } {
  const options = {
    from: { type: 'string' },
    to: { type: 'string' },
    out: { type: 'string' },
  } as const
  try {
    return parseArgs({ options }).values
  } catch {
    return {}
  }
}

async function write(): Promise<void> {
  const journal = await openDatabase(file, { readOnly: true })
  const target =
    args.out === undefined ? process.stdout : createWriteStream(args.out, { mode: 0o600 })
  await pipeline(Readable.from(statementOf(journal, from, to)), target)
  await journal.close()
}

function give(fault: string): void {
  process.stderr.write(`${fault}\n`)
  process.exitCode = TYPED_WRONG
}
