/** Formats of signed requests: timestamps, nonces, key ids. */
import fc from 'fast-check'
import t from 'tap'
import {
  isNonce,
  isPartnerId,
  keyIdOf,
  nextQuarter,
  parseKeyId,
  parseTimestamp,
  quarterAt,
  type Quarter,
} from '../../src/auth/request_shape.js'
import { instant } from '../../src/base/clock.js'

const FIRST = '1970-01-01T00:00:00Z'
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

t.test('accepts valid timestamps', async (t) => {
  const table: [string, number][] = [
    [FIRST, 0],
    ['2026-11-21T04:35:40Z', Date.UTC(2026, 10, 21, 4, 35, 40)],
    ['2026-11-21T04:35:40+00:00', Date.UTC(2026, 10, 21, 4, 35, 40)],
    ['2026-11-21T04:35:40-00:00', Date.UTC(2026, 10, 21, 4, 35, 40)],
    ['2026-11-21T04:35:40z', Date.UTC(2026, 10, 21, 4, 35, 40)],
    ['2026-11-21T04:35:40.123z', Date.UTC(2026, 10, 21, 4, 35, 40, 123)],
    ['2026-11-21T04:35:40.1-00:00', Date.UTC(2026, 10, 21, 4, 35, 40, 100)],
    ['2026-11-21T04:35:40.1Z', Date.UTC(2026, 10, 21, 4, 35, 40, 100)],
    ['2026-11-21T04:35:40.123Z', Date.UTC(2026, 10, 21, 4, 35, 40, 123)],
    ['2026-11-21T04:35:40.123999999+00:00', Date.UTC(2026, 10, 21, 4, 35, 40, 123)],
    ['2026-11-21T04:35:40.000000001Z', Date.UTC(2026, 10, 21, 4, 35, 40)],
    ['2024-02-29T23:59:59Z', Date.UTC(2024, 1, 29, 23, 59, 59)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['9999-12-31T23:59:59.999Z', LAST_MS],
  ]
  for (const [text, expected] of table) t.equal(parseTimestamp(text), expected, text)
})

t.test('rejects invalid timestamps', async (t) => {
  const table = [
    '',
    '1795408540',
    '2026-11-21',
    '2026-11-21T04:35Z',
    '2026-11-21T04:35:40',
    '2026-11-21 04:35:40Z',
    '2026-11-21t04:35:40z',
    '2026-11-21T04:35z',
    '2026-11-21T04:35:40-0000',
    '2026-11-21T04:35:40-00:01',
    '2026-11-21T11:35:40+07:00',
    '2026-11-21T04:35:40+0000',
    '2026-11-21T04:35:40.Z',
    '2026-11-21T04:35:40,5Z',
    '2026-11-21T04:35:40.1234567890Z',
    ' 2026-11-21T04:35:40Z',
    '2026-11-21T04:35:40Z ',
    '2026-11-21T04:35:40Z\n',
    '2026-11-21T04:35:40ZZ',
    '+02026-11-21T04:35:40Z',
    '2026-00-21T04:35:40Z',
    '2026-13-21T04:35:40Z',
    '2026-11-00T04:35:40Z',
    '2026-11-31T04:35:40Z',
    '2026-02-29T04:35:40Z',
    '2026-02-30T04:35:40Z',
    '2100-02-29T04:35:40Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T04:60:40Z',
    '2026-11-21T04:35:60Z',
    '2016-12-31T23:59:60Z',
    '1969-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '2026-11-21T04:35:4\u0660Z',
  ]
  for (const text of table) t.equal(parseTimestamp(text), undefined, JSON.stringify(text))
})

t.test('every instant round-trips', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: LAST_MS }),
      (at) => parseTimestamp(new Date(at).toISOString()) === at,
    ),
  )
})

t.test('a text is a timestamp exactly when its date exists', async () => {
  const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'))
  fc.assert(
    fc.property(
      fc.integer({ min: 1970, max: 9999 }),
      two(14),
      two(33),
      two(25),
      two(61),
      two(61),
      (year, month, day, hour, minute, second) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
        const date = new Date(text)
        const real = !Number.isNaN(date.getTime()) && date.toISOString() === text
        return (parseTimestamp(text) !== undefined) === real
      },
    ),
    { numRuns: 2_000 },
  )
})

t.test('nonces are 64 lower-case hex characters', async (t) => {
  t.ok(isNonce('0123456789abcdef'.repeat(4)))
  const wrong = [
    '',
    'a'.repeat(63),
    'a'.repeat(65),
    'A'.repeat(64),
    'g'.repeat(64),
    `${'a'.repeat(63)}\n`,
    `${'a'.repeat(64)}\n`,
    `${'a'.repeat(63)} `,
    `0x${'a'.repeat(62)}`,
    `${'a'.repeat(63)}\uff41`,
  ]
  for (const text of wrong) t.notOk(isNonce(text), JSON.stringify(text))
})

t.test('accepts and rejects key ids by their format', async (t) => {
  t.same(parseKeyId('demo_sandbox_2026q4'), {
    partner: 'demo',
    environment: 'sandbox',
    quarter: '2026q4',
  })
  t.same(parseKeyId('a-1_production_2027q1')?.environment, 'production')
  const wrong = [
    '',
    'demo',
    'demo_sandbox',
    'demo_sandbox_',
    'd_sandbox_2026q4',
    `${'d'.repeat(33)}_sandbox_2026q4`,
    'Demo_sandbox_2026q4',
    'de_mo_sandbox_2026q4',
    'demo_staging_2026q4',
    'demo_sandbox_2026q0',
    'demo_sandbox_2026q5',
    'demo_sandbox_26q4',
    'demo_sandbox_2026Q4',
    'demo_sandbox_2026q4 ',
    'demo_sandbox_2026q4\n',
    'demo_sandbox_sandbox_2026q4',
  ]
  for (const text of wrong) t.equal(parseKeyId(text), undefined, JSON.stringify(text))
  t.ok(isPartnerId('demo'))
  t.notOk(isPartnerId('de_mo'))
})

t.test('a key id parses to its parts and back', async (t) => {
  const text = 'demo_sandbox_2026q4'
  const parts = parseKeyId(text)
  t.equal(parts && keyIdOf(parts), text)
})

t.test('quarters', async (t) => {
  const table: [string, string, string][] = [
    ['2026-01-01T00:00:00.000Z', '2026q1', '2026q2'],
    ['2026-03-31T23:59:59.999Z', '2026q1', '2026q2'],
    ['2026-04-01T00:00:00.000Z', '2026q2', '2026q3'],
    ['2026-09-30T23:59:59.999Z', '2026q3', '2026q4'],
    ['2026-12-31T23:59:59.999Z', '2026q4', '2027q1'],
  ]
  for (const [at, quarter, next] of table) {
    t.equal(quarterAt(instant(Date.parse(at))), quarter, at)
    t.equal(nextQuarter(quarter as Quarter), next)
  }
})
