import fc from 'fast-check'
import t from 'tap'
import { createAnswerReader, type AnswerReading } from './answer_reader.js'

const answer = (body: string, head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json') =>
  Buffer.from(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)

const plain = (reading: AnswerReading) =>
  typeof reading === 'string' ? reading : { ...reading, body: reading.body.toString() }

t.test('reads an answer that comes in one piece, and the next one after it', (t) => {
  const reader = createAnswerReader()
  t.same(plain(reader.read(answer('{"a":1}'))), { status: 201, body: '{"a":1}' })
  const refusal = answer('', 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1')
  t.same(plain(reader.read(refusal)), { status: 503, body: '' })
  t.end()
})

t.test('reads an answer however it is cut, from memory that is reused', (t) => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300, unit: 'grapheme' }),
      fc.array(fc.nat({ max: 500 }), { maxLength: 6 }),
      (body, cuts) => {
        const bytes = answer(body)
        const reader = createAnswerReader()
        const shared = Buffer.alloc(bytes.length)
        const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < bytes.length))]
        const readings = [...ends.sort((a, b) => a - b), bytes.length].map((end, index, all) => {
          const start = all[index - 1] ?? 0
          shared.fill('x')
          bytes.copy(shared, 0, start, end)
          return plain(reader.read(shared.subarray(0, end - start)))
        })
        t.same(readings.pop(), { status: 201, body })
        t.ok(readings.every((reading) => reading === 'incomplete'))
      },
    ),
  )
  t.end()
})

t.test('the name of the length may be in any case and stand anywhere', (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-Request-Id: req_1\r\n\r\n{}'
  t.same(plain(createAnswerReader().read(Buffer.from(head))), { status: 200, body: '{}' })
  t.end()
})

t.test('what it cannot read it does not guess', (t) => {
  const unreadable: Record<string, string> = {
    'no length': 'HTTP/1.1 200 OK\r\n\r\n',
    'another protocol': 'SSH-2.0-server\r\n\r\n',
    'another version': 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    'a length in a longer name': 'HTTP/1.1 200 OK\r\nX-Content-Length: 0\r\n\r\n',
    'a length that is no number': 'HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\n{}',
    'an enormous body': 'HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n',
    'more than was announced': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}',
    'a head without an end': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`,
  }
  for (const [what, text] of Object.entries(unreadable)) {
    t.equal(createAnswerReader().read(Buffer.from(text)), 'unreadable', what)
  }
  t.end()
})
