/** The reader of HTTP/1.1 messages. */
import fc from 'fast-check'
import t from 'tap'
import { createMessageReader, type Reading } from './http_message.js'

const OK = 'HTTP/1.1 200 OK\r\n'
const message = (body: string, head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json') =>
  Buffer.from(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
const plain = (reading: Reading) =>
  typeof reading === 'string' ? reading : [reading.first[1], reading.body.toString()]
const newReader = () => createMessageReader(/^HTTP\/1\.1 ([0-9]{3}) /)

const reader = newReader()
const rejection = message('', 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1')
const otherwise = Buffer.from(`${OK}content-length: 2\r\nX-Request-Id: req_1\r\n\r\n{}`)
t.same(plain(reader(message('{"a":1}'))), ['201', '{"a":1}'])
t.same(plain(reader(rejection)), ['503', ''], 'consecutive messages are read')
t.same(plain(reader(otherwise)), ['200', '{}'], 'headers in any case and order')

t.test('a message is read in any pieces, from reused memory', async (t) => {
  const cuts = fc.array(fc.nat({ max: 500 }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'grapheme' }), cuts, (body, given) => {
      const bytes = message(body)
      const read = newReader()
      const shared = Buffer.alloc(bytes.length)
      const ends = [...new Set(given.filter((cut) => cut > 0 && cut < bytes.length))]
      const readings = [...ends.sort((a, b) => a - b), bytes.length].map((end, index, all) => {
        const start = all[index - 1] ?? 0
        shared.fill('x')
        bytes.copy(shared, 0, start, end)
        return plain(read(shared.subarray(0, end - start)))
      })
      t.same(readings.pop(), ['201', body])
      t.ok(readings.every((reading) => reading === 'incomplete'))
    }),
  )
})

const UNREADABLE: Readonly<Record<string, string>> = {
  'no length': `${OK}\r\n`,
  'another protocol': 'SSH-2.0-server\r\n\r\n',
  'a length in a longer name': `${OK}X-Content-Length: 0\r\n\r\n`,
  'a length that is no number': `${OK}Content-Length: 2x\r\n\r\n{}`,
  'an enormous body': `${OK}Content-Length: 999999999\r\n\r\n`,
  'more than was announced': `${OK}Content-Length: 1\r\n\r\n{}`,
  'a head without an end': `${OK}X: ${'x'.repeat(20_000)}`,
}
for (const [what, text] of Object.entries(UNREADABLE)) {
  t.equal(newReader()(Buffer.from(text)), 'unreadable', what)
}
