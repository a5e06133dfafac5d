/** Short forms of readings and reasons for test tables. */
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Corridor } from '../../src/qr/corridor.js'
import { readQr, type QrReading } from '../../src/qr/read.js'

/** As a field's value: omits the object. */
export const NONE = ''

export const verdictOf = (text: string, corridor: Corridor = 'th_promptpay'): string => {
  const outcome = readQr(text, corridor)
  return outcome.ok ? 'ok' : outcome.reason
}

export function readingOf(text: string, corridor: Corridor = 'th_promptpay'): QrReading {
  const outcome = readQr(text, corridor)
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.reading
}

export type Row = readonly [what: string, text: string, verdict: string]

export const check = (t: Test, corridor: Corridor, rows: readonly Row[]): void => {
  for (const [what, text, verdict] of rows) t.equal(verdictOf(text, corridor), verdict, what)
}

export const digits = (min: number, max = min): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`))
