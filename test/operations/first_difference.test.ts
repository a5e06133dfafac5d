/** The first difference of two texts, with invisible characters escaped. */
import fc from 'fast-check'
import t from 'tap'
import { firstDifference, shown } from '../../src/operations/partners/first_difference.js'

const OURS = 'POST\n/v1/payouts\n2026-11-21T03:00:00Z\nab\n\n'

t.test('a difference has line, column and both lines', async (t) => {
  const cases: [theirs: string, found: object | undefined][] = [
    [OURS, undefined],
    ['post' + OURS.slice(4), { line: 1, column: 1, theirs: '"post\\n"', ours: '"POST\\n"' }],
    [OURS.replace('T03', 'T04'), { line: 3, column: 13 }],
    [OURS.replace('POST', 'POST\r'), { line: 1, column: 5, theirs: '"POST\\r\\n"' }],
    ['\ufeff' + OURS, { line: 1, column: 1, theirs: '"\\ufeffPOST\\n"' }],
    [OURS.replace('/v1/', '/v1/\u00a0'), { line: 2, column: 5, theirs: '"/v1/\\u00a0payouts\\n"' }],
    [OURS.slice(0, -1), { line: 5, column: 1, theirs: '""', ours: '"\\n"' }],
    [OURS.replace('ab\n\n', 'ab'), { line: 4, column: 3, theirs: '"ab"', ours: '"ab\\n"' }],
    [OURS + '\n', { line: 6, column: 1, theirs: '"\\n"', ours: '""' }],
    ['', { line: 1, column: 1, theirs: '""' }],
    [OURS.replace('ab', '🜁b'), { line: 4, column: 1, theirs: '"\\ud83d\\udf01b\\n"' }],
  ]
  for (const [theirs, found] of cases) {
    const difference = firstDifference(theirs, OURS)
    if (found === undefined) t.equal(difference, undefined)
    else t.match(difference, found, JSON.stringify(theirs))
  }
})

t.test('every difference is found, and the text before it is equal', async () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', '\n', 'é'), { maxLength: 12 })
    .map((a) => a.join(''))
  fc.assert(
    fc.property(text, text, (theirs, ours) => {
      const found = firstDifference(theirs, ours)
      if (found === undefined) return theirs === ours
      const before = (whole: string): string => {
        const lines = whole.split(/(?<=\n)/)
        const line = lines[found.line - 1] ?? ''
        return lines.slice(0, found.line - 1).join('') + line.slice(0, found.column - 1)
      }
      return theirs !== ours && before(theirs) === before(ours)
    }),
  )
})

t.test('escaped text is ASCII and parses back', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (line) => {
      const text = shown(line)
      return /^[ -~]*$/.test(text) && JSON.parse(text) === line
    }),
  )
})
