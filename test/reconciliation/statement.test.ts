/** A statement is read record by record; a record that cannot be parsed is named by its line. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { csvLine } from '../../src/base/csv.js'
import { NoStatement, openStatement, type Read } from '../../src/reconciliation/statement.js'

const HEAD = 'time,transaction_id,instruction_id,movement,currency,amount'
const GOOD = '2026-11-21T03:00:00.5Z,TX1,pout_1,executed,VND,12500000'

function lineOf(read: Read): number {
  if ('good' in read) return read.good.line
  return 'accepted' in read ? read.accepted.line : read.bad.line
}

async function readAll(t: Test, text: string | Buffer): Promise<Read[]> {
  const statement = openStatement(join(t.testdir({ 'statement.csv': text }), 'statement.csv'))
  const found: Read[] = []
  for await (const read of statement.lines()) found.push(read)
  t.equal(statement.digest(), hash('sha256', text), 'the digest of the file')
  return found
}

t.test('valid lines are read in all accepted formats', async (t) => {
  const good = {
    good: {
      line: 2,
      instruction: 'pout_1',
      movement: 'executed',
      currency: 'VND',
      amount: 12_500_000n,
      transactionId: 'TX1',
      at: Date.UTC(2026, 10, 21, 3, 0, 0, 500),
    },
  }
  const columns = 'AMOUNT,note, currency,movement,instruction_id,transaction_id,time'
  for (const [text, why] of [
    [`${HEAD}\r${GOOD}\r`, 'with the line breaks of an old spreadsheet'],
    [`${HEAD}\r\n${GOOD}\r`, 'cut within the last line break'],
    [`${HEAD}\n${GOOD},\n`, 'with a separator at the end'],
    [`${HEAD}\r\n${GOOD}\r\n`, 'with the line breaks of RFC 4180'],
    [`\ufeff${HEAD}\n${GOOD}\n`, 'with a byte order mark'],
    [`${HEAD}\n"${GOOD.replaceAll(',', '","')}"\n`, 'quoted'],
    [`${HEAD}\n${GOOD}\n`.replaceAll(',', ';'), 'with semicolons'],
    [
      `${columns}\n12500000,"a ""b"", c",VND,executed,pout_1,TX1,2026-11-21T10:00:00.5+07:00\n`,
      'other order, further columns, an offset',
    ],
  ] as const) {
    t.same(await readAll(t, text), [good], why)
  }
})

t.test('a line of an accepted instruction is no movement', async (t) => {
  const head = `${HEAD},destination_account,shard`
  const line = '2026-11-21T03:00:00Z,,pout_2,accepted,VND,5,0123456789,books_1'
  t.same(await readAll(t, `${head}\n${line}\n`), [
    {
      accepted: {
        ...{ line: 2, instruction: 'pout_2', movement: 'accepted', currency: 'VND', amount: 5n },
        at: Date.UTC(2026, 10, 21, 3),
        details: {
          ...{ environment: '', purpose: '', reference: '' },
          ...{ destinationAccount: '0123456789', shard: 'books_1' },
        },
      },
    },
  ])
})

t.test('a reference is read as the statement of an adapter has it', async (t) => {
  for (const reference of ['=1+1', "'=1+1", "''@a", "it's", "'"]) {
    const cells = [...GOOD.split(','), reference]
    const text = csvLine([...HEAD.split(','), 'reference']) + csvLine(cells)
    const [read] = await readAll(t, text)
    t.equal(read !== undefined && 'good' in read && read.good.details?.reference, reference)
  }
})

t.test('a last line without a line break may be cut, and is bad', async (t) => {
  const whole = `${HEAD}\n${GOOD}\n${GOOD.replace('TX1', 'TX2')}\n`
  for (const left of [1, 2, 6]) {
    const cut = whole.slice(0, -left)
    t.match(await readAll(t, cut), [
      { good: { line: 2, amount: 12_500_000n } },
      { bad: { line: 3, fault: /without a line break/ } },
    ])
  }
  t.match(await readAll(t, HEAD), [{ bad: { line: 1, fault: /without a line break/ } }])
  const many = `${HEAD}\n${`${GOOD}\n`.repeat(3_000)}${GOOD}`
  const found = await readAll(t, many)
  t.match([found.length, found.at(-1)], [3_001, { bad: { line: 3_002 } }], 'of many chunks')
})

t.test('an amount with an unquoted comma is bad, not cut at the comma', async (t) => {
  for (const amount of ['12,500,000', '125,50']) {
    const line = GOOD.replace('12500000', amount)
    t.match(await readAll(t, `${HEAD}\n${line}\n`), [{ bad: { line: 2, fault: /more cells/ } }])
  }
})

t.test('each bad line is reported with its number', async (t) => {
  const bad: readonly (readonly [string, RegExp])[] = [
    [GOOD.replace('12500000', '125.00'), /amount/],
    [GOOD.replace('12500000', '-5'), /amount/],
    [GOOD.replace('12500000', '0'), /amount/],
    [GOOD.replace('12500000', '9223372036854775808'), /amount/],
    [GOOD.replace('VND', 'vnd'), /currency/],
    [GOOD.replace('executed', 'paid'), /executed or returned/],
    [GOOD.replace('pout_1', ''), /instruction/],
    [GOOD.replace('pout_1', 'a b'), /instruction/],
    [GOOD.replace('T03', ' 03'), /time/],
    [GOOD.replace('2026-11-21', '2026-13-21'), /time/],
    [GOOD.replace('2026-11-21', '2026-11-31'), /time/],
    [GOOD.replace('Z', ''), /time/],
    ['a"b', /quotes/],
    ['nothing', /time/],
  ]
  const lines = bad.flatMap(([line]) => [line, GOOD])
  const found = (await readAll(t, [HEAD, ...lines, ''].join('\n'))).sort(
    (one, other) => lineOf(one) - lineOf(other),
  )
  t.equal(found.length, lines.length)
  for (const [index, [line, fault]] of bad.entries()) {
    t.match(found[2 * index], { bad: { line: 2 + 2 * index, fault } }, line.slice(0, 80))
    t.match(found[2 * index + 1], { good: { line: 3 + 2 * index } }, 'the next line is read')
  }
})

t.test('a line break inside quotes belongs to its record', async (t) => {
  const text = `note,${HEAD}\n"two\nlines",${GOOD}\nx,${GOOD}\n`
  t.match(await readAll(t, text), [{ good: { line: 3 } }, { good: { line: 4 } }])
})

t.test('reading stops at an unclosed quote or an oversized record', async (t) => {
  for (const [line, fault] of [
    ['"', /quotes do not match; the remaining lines are not read/],
    [`"a"b,${GOOD}`, /quotes do not match/],
    [`${GOOD}${'x'.repeat(200_000)}`, /too long; the remaining lines are not read/],
  ] as const) {
    const found = await readAll(t, [HEAD, GOOD, line, GOOD, GOOD].join('\n'))
    const bad = found.filter((read) => 'bad' in read)
    t.equal(found.length - bad.length, 1, 'the previous line is read')
    t.match(bad[0], { bad: { fault } })
  }
})

t.test('empty lines are skipped but counted', async (t) => {
  t.match(await readAll(t, `${HEAD}\n\n${GOOD}\n\n`), [{ good: { line: 3 } }])
  t.same(await readAll(t, `${HEAD}\n`), [])
})

t.test('a file without the columns is rejected', async (t) => {
  for (const text of ['', 'a,b', HEAD.replace('amount', 'sum'), '\u0000', '"']) {
    const file = join(t.testdir({ 's.csv': text }), 's.csv')
    await t.rejects(openStatement(file).lines().next(), NoStatement, text)
  }
  for (const [text, message] of [
    [Buffer.from(`\ufeff${HEAD}\n${GOOD}\n`, 'utf16le'), /no text in UTF-8/],
    [Buffer.from(`${HEAD}\n${GOOD}\n`, 'utf16le'), /no text in UTF-8/],
    [`amount,${HEAD}\n`, /names the column amount twice/],
  ] as const) {
    const file = join(t.testdir({ 's.csv': text }), 's.csv')
    await t.rejects(openStatement(file).lines().next(), { name: 'NoStatement', message })
  }
  await t.rejects(openStatement(join(t.testdir(), 'none.csv')).lines().next(), { code: 'ENOENT' })
})
