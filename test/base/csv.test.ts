/** CSV records: round trips, and protection against spreadsheet formulas. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { csvLine, withoutPrefix } from '../../src/base/csv.js'

const text = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', ' ', '=', "'", '\n', '฿', '0') })

t.test('records round-trip', async (t) => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (cells) => {
      const line = csvLine(cells)
      t.ok(line.endsWith('\r\n'))
      t.same(
        parse(line).map((read) => read.map(withoutPrefix)),
        [cells],
      )
    }),
  )
})

t.test('a cell that a spreadsheet would run as a formula is escaped', async (t) => {
  const full = ['\uff1d1', '\uff0b1', '\uff0d1', '\uff20A1', "'\uff1d1"]
  for (const cell of ['=1+1', '+1', '-1', '@A1', '\tx', '\rx', '\nx', "'=1", "''+1", ...full]) {
    t.same(parse(csvLine([cell, 'b'])), [[`'${cell}`, 'b']])
    t.equal(withoutPrefix(`'${cell}`), cell)
  }
  for (const cell of ["'", "''", "'a", "'1+1", '']) {
    t.same(parse(csvLine([cell, 'b'])), [[cell, 'b']])
    t.equal(withoutPrefix(cell), cell)
  }
  t.equal(csvLine(['=HYPERLINK("x,y")']), `"'=HYPERLINK(""x,y"")"\r\n`)
  t.equal(csvLine(['a\nb', '', '12']), '"a\nb",,12\r\n')
})
