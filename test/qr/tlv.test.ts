/** The parser of tag-length-value objects. */
import fc from 'fast-check'
import t from 'tap'
import { peek, walk } from '../../src/qr/tlv.js'
import { field, fields } from './payloads.js'

const reasonOf = (text: string): string => {
  const walked = walk(text)
  return walked.ok ? 'ok' : walked.reason
}

t.test('a text is split into its objects', async (t) => {
  const walked = walk('000201630412AB0102xy')
  t.ok(walked.ok)
  if (!walked.ok) return
  t.same([...walked.value.objects.keys()], ['00', '63', '01'], 'in the order of the text')
  t.equal(walked.value.objects.get('63'), '12AB')
  t.equal(walked.value.last, '01')
})

t.test('an empty text has no object', async (t) => {
  const walked = walk('')
  t.ok(walked.ok)
  if (walked.ok) t.same([[...walked.value.objects.keys()], walked.value.last], [[], ''])
})

t.test('lengths count code points', async (t) => {
  for (const name of ['สมชาย', 'Quán', 'Qua\u0301n', '最佳', '☕😀🇹🇭', 'a😀b']) {
    const walked = walk(field('59', name) + field('60', 'x'))
    t.ok(walked.ok, name)
    if (walked.ok) t.equal(walked.value.objects.get('59'), name)
  }
  t.equal(reasonOf('5902😀'), 'tlv_truncated', 'a surrogate pair is one character')
})

t.test('each fault is named', async (t) => {
  const table: readonly (readonly [text: string, reason: string])[] = [
    ['5903ab', 'tlv_truncated'],
    ['590', 'tlv_truncated'],
    ['5', 'tlv_truncated'],
    ['000201x', 'tlv_truncated'],
    ['5900', 'tlv_length_zero'],
    ['59000001a', 'tlv_length_zero'],
    ['A902ab', 'tlv_malformed'],
    ['5A02ab', 'tlv_malformed'],
    ['59x2ab', 'tlv_malformed'],
    ['59 2ab', 'tlv_malformed'],
    ['592 ab', 'tlv_malformed'],
    ['59+2ab', 'tlv_malformed'],
    ['59-1ab', 'tlv_malformed'],
    ['591.ab', 'tlv_malformed'],
    ['590:ab', 'tlv_malformed'],
    ['590/ab', 'tlv_malformed'],
    ['59０2ab', 'tlv_malformed'],
    ['5902ab5901c', 'tlv_duplicate_tag'],
    ['5902ab6001c5902ab', 'tlv_duplicate_tag'],
  ]
  for (const [text, reason] of table) t.equal(reasonOf(text), reason, text)
})

t.test('objects round-trip for any values', async () => {
  const id = fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, '0'))
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  const list = fc.uniqueArray(fc.tuple(id, value), { selector: ([id]) => id, maxLength: 100 })
  fc.assert(
    fc.property(list, (list) => {
      const short = list.filter(([, value]) => Array.from(value).length <= 99)
      const walked = walk(fields(...short))
      if (!walked.ok) return false
      const { objects } = walked.value
      const read = [...objects.keys()].map((id) => [id, objects.get(id)])
      return JSON.stringify(read) === JSON.stringify(short)
    }),
  )
})

t.test('peek accepts arbitrary text', async (t) => {
  t.equal(peek(field('01', 'x') + field('00', 'guid') + '99', '00'), 'guid', 'at any position')
  t.equal(peek(field('00', 'first') + field('00', 'second'), '00'), 'first')
  t.equal(peek('99' + field('00', 'guid'), '00'), undefined, 'not after malformed data')
  t.equal(peek('CLASSIC', '00'), undefined)
  t.equal(peek(field('01', 'x'), '00'), undefined)
  t.equal(peek('', '00'), undefined)
})
