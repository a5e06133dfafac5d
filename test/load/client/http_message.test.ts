/** The reader of HTTP/1.1 messages. */
import fc from 'fast-check'
import t from 'tap'
import { createMessageReader, type Reading } from './http_message.js'

const STATUS_LINE = /^HTTP\/1\.1 ([0-9]{3}) /
const message = (body: string, head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json') =>
  Buffer.from(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
const plain = (reading: Reading) =>
  typeof reading === 'string' ? reading : [reading.first[1], reading.body.toString()]

t.test('consecutive messages are read', (t) => {
  const reader = createMessageReader(STATUS_LINE)
  t.same(plain(reader.read(message('{"a":1}'))), ['201', '{"a":1}'])
  const rejection = message('', 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1')
  t.same(plain(reader.read(rejection)), ['503', ''])
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-Request-Id: req_1\r\n\r\n{}'
  t.same(plain(reader.read(Buffer.from(head))), ['200', '{}'], 'headers in any case and order')
  t.end()
})

t.test('a message is read in any pieces, from reused memory', (t) => {
  const cuts = fc.array(fc.nat({ max: 500 }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'grapheme' }), cuts, (body, given) => {
      const bytes = message(body)
      const reader = createMessageReader(STATUS_LINE)
      const shared = Buffer.alloc(bytes.length)
      const ends = [...new Set(given.filter((cut) => cut > 0 && cut < bytes.length))]
      const readings = [...ends.sort((a, b) => a - b), bytes.length].map((end, index, all) => {
        const start = all[index - 1] ?? 0
        shared.fill('x')
        bytes.copy(shared, 0, start, end)
        return plain(reader.read(shared.subarray(0, end - start)))
      })
      t.same(readings.pop(), ['201', body])
      t.ok(readings.every((reading) => reading === 'incomplete'))
    }),
  )
  t.end()
})

const UNREADABLE: Readonly<Record<string, string>> = {
  'no length': 'HTTP/1.1 200 OK\r\n\r\n',
  'another protocol': 'SSH-2.0-server\r\n\r\n',
  'a length in a longer name': 'HTTP/1.1 200 OK\r\nX-Content-Length: 0\r\n\r\n',
  'a length that is no number': 'HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\n{}',
  'an enormous body': 'HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n',
  'more than was announced': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}',
  'a head without an end': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`,
}
for (const [what, text] of Object.entries(UNREADABLE)) {
  t.equal(createMessageReader(STATUS_LINE).read(Buffer.from(text)), 'unreadable', what)
}
