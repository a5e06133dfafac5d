/**
 * The auditor: composition root.
 *
 * `[--data-dir DIR] [--json] [--live]`. Exit code 0: clean; 1: something is broken, and what;
 * 2: there was nothing to audit, or an argument is none.
 * It reads the databases of DIR (the setting DATA_DIR) and no program that writes them; a running
 * stack may go on meanwhile. `--live` leaves out what compares the databases with each other.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../base/clock.js'
import { readSettings } from '../base/settings.js'
import { audit } from './audit.js'
import { NoBooks, openBooks, type Books } from './books.js'
import { checkLine, conclusion } from './report.js'

const BROKEN = 1
const NOTHING_AUDITED = 2

const args = typed()
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const books = await open(resolve(args['data-dir'] ?? readSettings().DATA_DIR))
if (books !== undefined) {
  const verdict = await audit(books, {
    live: args.live,
    stopwatch: () => performance.now(),
    tell: (checked) => {
      if (!args.json) say(checkLine(checked))
    },
  })
  say(args.json ? JSON.stringify(verdict) : conclusion(verdict))
  await books.close()
  if (!verdict.clean) process.exitCode = BROKEN
}

function typed() {
  const options = {
    'data-dir': { type: 'string' },
    json: { type: 'boolean', default: false },
    live: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options }).values
  } catch {
    process.stderr.write('usage: [--data-dir DIR] [--json] [--live]\n')
    process.exit(NOTHING_AUDITED)
  }
}

async function open(folder: string): Promise<Books | undefined> {
  try {
    return await openBooks(folder, systemClock)
  } catch (error) {
    const isMissing = error instanceof NoBooks
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${isMissing ? 'nothing to audit' : 'can not be read'}: ${why}\n`)
    process.exitCode = isMissing ? NOTHING_AUDITED : BROKEN
    return undefined
  }
}
