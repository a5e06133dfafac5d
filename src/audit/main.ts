/**
 * The auditor: composition root.
 *
 * `[--data-dir DIR] [--json] [--live] [--webhooks-replaced-at TIME]`. Exit code 0: clean;
 * 1: something is broken, and what; 2: there was nothing to audit, or an argument is none.
 * It reads the databases of DIR (the setting DATA_DIR) and no program that writes them; a running
 * stack may go on meanwhile. `--live` leaves out what compares the databases with each other.
 * `--webhooks-replaced-at` accepts that deliveries settled until then are missing, since the
 * operator began a new webhooks.db.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { instant, systemClock, type Instant } from '../base/clock.js'
import { readSettings } from '../base/settings.js'
import { audit } from './audit.js'
import { NoBooks, openBooks, type Books } from './books.js'
import { checkLine, conclusion } from './report.js'

const BROKEN = 1
const NOTHING_AUDITED = 2
const USAGE = 'usage: [--data-dir DIR] [--json] [--live] [--webhooks-replaced-at TIME]\n'
/** RFC 3339, e.g. 2026-11-21T04:35:00Z. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

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
    'webhooks-replaced-at': { type: 'string' },
  } as const
  try {
    const { 'webhooks-replaced-at': replacedAt, ...values } = parseArgs({ options }).values
    return { ...values, poolsReplacedAt: momentOf(replacedAt) }
  } catch {
    process.stderr.write(USAGE)
    process.exit(NOTHING_AUDITED)
  }
}

/** Epoch 0 when it is not given. */
function momentOf(text: string | undefined): Instant {
  if (text === undefined) return instant(0)
  const at = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  if (!(at >= 0)) throw new Error(`${text} is no time`)
  return instant(at)
}

async function open(folder: string): Promise<Books | undefined> {
  try {
    return await openBooks(folder, systemClock, { poolsReplacedAt: args.poolsReplacedAt })
  } catch (error) {
    const isMissing = error instanceof NoBooks
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${isMissing ? 'nothing to audit' : 'cannot be read'}: ${why}\n`)
    process.exitCode = isMissing ? NOTHING_AUDITED : BROKEN
    return undefined
  }
}
