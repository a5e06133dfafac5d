/** What people and partners wrote cannot change what an operator sees beside it. */
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { prettyLine } from '../../src/base/log_format.js'
import { FINDINGS_HEAD } from '../../src/reconciliation/findings_csv.js'
import { findingsTo } from '../../src/operations/money/reconcile.js'
import { isVisibleText, toVisibleJson, toVisibleText } from '../../src/base/visible_text.js'
import {
  paintFor,
  table,
  terminalMessage,
  terminalText,
} from '../../src/operations/cli/terminal.js'

/** Moves the cursor, starts a line, turns the direction, hides; of each kind one. */
const HOSTILE = [
  '\u001b[2K\rUSD 100.00',
  'a\nb',
  'a\u0085b',
  'a\u2028b',
  'a\u2029b',
  'a\u202eb',
  'a\u2066b',
  'a\u200bb',
  'a\ufeffb',
  'a\u{e0041}b',
  'a\ud800b',
  'a\u007fb',
]
const ANY = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

t.test('each control and format character is escaped', async (t) => {
  for (const text of HOSTILE) {
    t.notOk(isVisibleText(text))
    t.notMatch(toVisibleText(text), ANY)
    const json = toVisibleJson(JSON.stringify({ text }))
    t.notMatch(json, ANY)
    t.same(JSON.parse(json), { text }, 'the JSON value is the same')
  }
  t.equal(toVisibleText('a\u202eb\u001b\u{e0041}'), 'a\\u202eb\\u001b\\u{e0041}')
  for (const text of ['ราคา 100 บาท', 'Nguyễn Văn A', 'é e\u0301 "x" 🙂', '\u00a0']) {
    t.ok(isVisibleText(text))
    t.equal(toVisibleText(text), text)
  }
})

t.test('findings on a terminal show what a bank wrote in one line each', async (t) => {
  const written = async (transactionId: string, isTTY: boolean): Promise<string> => {
    const out = Object.assign(new PassThrough(), { isTTY })
    const stated = {
      ...({ instruction: 'ins_1', movement: 'executed', currency: 'THB', amount: 1n } as const),
      ...{ at: instant(0), line: 1, transactionId },
    }
    await findingsTo(undefined, out).add({ status: 'missing_here', stated })
    out.end()
    return (await textOf(out)).slice(FINDINGS_HEAD.length)
  }
  for (const text of [...HOSTILE, 'a\r\nmatched,ins_2']) {
    const shown = await written(text, true)
    t.equal(shown.split('\n').length, 2, 'one line and its end')
    t.notMatch(shown.trimEnd(), ANY)
  }
  t.match(await written('a\u202eb', false), 'a\u202eb', 'a pipe gets it as it is')
})

t.test('a text adds no line to a report and hides none of it', async (t) => {
  for (const text of HOSTILE) {
    const lines = [table([['apr_1', 'USD 10,000,000.00', text]], [1]), `reason ${text}`, 'end']
    const shown = terminalText(lines).split('\n')
    t.equal(shown.length, 3)
    for (const line of shown) t.notMatch(line, ANY)
    t.match(shown[0], /^apr_1 {2}USD 10,000,000\.00 {2}\S/)
    t.notMatch(terminalMessage(`no: ${text.replace('\n', '')}\nusage`).replace('\n', ''), ANY)
  }
  const rows = terminalText([
    table(
      [
        ['a', 'x\u202ey'],
        ['bb', 'z'],
      ],
      [],
    ),
  ])
  t.equal(rows, 'a   x\\u202ey\nbb  z')
})

t.test('a line that is painted as a whole keeps its color, not that of a text', async (t) => {
  const paint = paintFor({ isTTY: true, hasColors: () => true } as never)
  const bad = paint('bad', 'late: \u001b[8mx')
  t.equal(terminalText([bad]), '\u001b[31mlate: \\u001b[8mx\u001b[0m')
  t.equal(terminalText(['x\u001b[31my']), 'x\\u001b[31my')
})

t.test('a log line for people is one line', async (t) => {
  for (const text of HOSTILE) {
    const record = { time: '2026-11-22T14:05:09.123Z', level: 'warn', process: 'processor' }
    const error = { message: text, stack: `Error: ${text}\n    at f (${text.replace('\n', '')})` }
    const line = prettyLine(JSON.stringify({ ...record, message: text, reason: text, error }))
    const shown = line.split('\n')
    t.equal(shown.length, 3)
    for (const part of shown) t.notMatch(part, ANY)
  }
})
