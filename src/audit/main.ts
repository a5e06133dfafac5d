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
import { instant, systemClock, type Instant } from '../base/clock.js'
import { programOptions } from '../base/program_options.js'
import { readSettings } from '../base/settings.js'
import { audit } from './audit.js'
import { NoBooks, openBooks, type Books } from './books.js'
import { checkLine, conclusion } from './report.js'

const BROKEN = 1
const NOTHING_AUDITED = 2
/** RFC 3339, e.g. 2026-11-21T04:35:00Z. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const args = programOptions('audit', 'Checks the databases of a DATA_DIR against each other.', {
  dataDir: { value: 'DIR', about: 'the folder; DATA_DIR unless given' },
  json: { about: 'print JSON for machines' },
  live: { about: 'the stack is running: what changes meanwhile is no finding' },
  webhooksReplacedAt: {
    value: 'TIME',
    about: 'webhooks.db was replaced on purpose at this moment (RFC 3339)',
  },
})
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const books = await open(resolve(args.dataDir ?? readSettings().DATA_DIR))
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

/** Epoch 0 when it is not given. */
function momentOf(text: string | undefined): Instant {
  if (text === undefined) return instant(0)
  const at = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  if (!(at >= 0)) {
    process.stderr.write(`--webhooks-replaced-at: ${text} is not a moment\n`)
    process.exit(NOTHING_AUDITED)
  }
  return instant(at)
}

async function open(folder: string): Promise<Books | undefined> {
  try {
    return await openBooks(folder, systemClock, {
      poolsReplacedAt: momentOf(args.webhooksReplacedAt),
    })
  } catch (error) {
    const isMissing = error instanceof NoBooks
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${isMissing ? 'nothing to audit' : 'cannot be read'}: ${why}\n`)
    process.exitCode = isMissing ? NOTHING_AUDITED : BROKEN
    return undefined
  }
}
