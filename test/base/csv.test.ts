/** Records are read back as they were written, and no cell is a formula. */
import fc from 'fast-check'
import t from 'tap'
import { csvCells, csvLine } from '../../src/base/csv.js'

/** What no record can hold in one line, and what is written with an apostrophe. */
const isPlain = (text: string): boolean => !/[\r\n]/.test(text) && !/^[=+\-@\t]/.test(text)
const plainText = fc
  .string({ unit: fc.constantFrom('a', '"', ',', ' ', '=', "'", '฿', '0') })
  .filter(isPlain)

void t.test('what is written is read again', (t) => {
  const records = fc.array(plainText, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(records, (cells) => {
      const line = csvLine(cells)
      t.ok(line.endsWith('\r\n'))
      t.same(csvCells(line.slice(0, -2)), cells)
    }),
  )
  t.end()
})

void t.test('a spreadsheet takes no cell for a formula', (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx']) {
    const [cell = ''] = csvCells(csvLine([text]).slice(0, -2).replace('\r', '')) ?? []
    t.match(cell, /^'/, JSON.stringify(text))
  }
  t.equal(csvLine(['=HYPERLINK("x,y")']), `"'=HYPERLINK(""x,y"")"\r\n`)
  t.equal(csvLine(['a\nb', '', '12']), '"a\nb",,12\r\n')
  t.end()
})

void t.test('quotes that do not match are no record', (t) => {
  for (const line of ['"a', 'a"b', '"a"b', '"a",b"', '"']) t.equal(csvCells(line), null, line)
  t.same(csvCells(''), [''])
  t.same(csvCells('"",'), ['', ''])
  t.end()
})
