import t from 'tap'
import { createRequestTemplate } from './request_template.js'

const template = createRequestTemplate(['A: ', { width: 3 }, '\r\nB: ', { width: 2 }, '\r\n\r\n'])

t.test('a record is its fields only, and fills a request in their places', (t) => {
  const records = Buffer.alloc(2 * template.recordBytes)
  template.write(records, 0, ['abc', '12'])
  template.write(records, 1, ['xyz', '34'])
  t.equal(records.toString(), 'abc12xyz34')
  const request = template.blank()
  t.equal(request.length, template.bytes)
  template.fill(request, records, 1)
  t.equal(request.toString(), 'A: xyz\r\nB: 34\r\n\r\n')
  template.fill(request, records, 0)
  t.equal(request.toString(), 'A: abc\r\nB: 12\r\n\r\n')
  t.end()
})

t.test('a text that would run into its neighbour is a bug', (t) => {
  const records = Buffer.alloc(template.recordBytes)
  t.throws(() => template.write(records, 0, ['abcd', '12']))
  t.throws(() => template.write(records, 0, ['abc']))
  t.end()
})
