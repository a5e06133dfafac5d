import t from 'tap'
import { isMet } from '../report/result.js'
import { aWindow } from '../report/results.js'
import type { Sample } from './sampler.js'
import { growthFindings } from './slopes.js'

/** A look a minute. */
function looks(minutes: number, of: (minute: number) => { mib: number; open: number }): Sample[] {
  const [sample] = aWindow().samples
  if (sample === undefined) throw new Error('a window has samples')
  return Array.from({ length: minutes + 1 }, (_, minute) => {
    const { mib, open } = of(minute)
    const [rssMiB, handles] = [
      { processor: mib, client: mib },
      { processor: open, client: open },
    ]
    return { ...sample, at: minute * 60_000, rssMiB, handles }
  })
}

const verdicts = (samples: readonly Sample[]) =>
  Object.fromEntries(growthFindings(samples).map((found) => [found.name, isMet(found)]))

t.test('flat is less than a twentieth over the part that is measured', (t) => {
  const flat = looks(60, (minute) => ({ mib: 200 + minute * 0.2 + (minute % 2) * 8, open: 40 }))
  t.match(verdicts(flat), { 'processor: memory': true, 'processor: open files': true })
  const [memory] = growthFindings(flat)
  t.ok(Math.abs((memory?.value ?? 0) - 12) < 1, 'MiB an hour')
  t.ok(Math.abs((memory?.target?.atMost ?? 0) - (0.05 * 212) / (40 / 60)) < 0.5)

  const leaks = looks(60, (minute) => ({ mib: 200 + minute * 0.5, open: 40 + minute / 10 }))
  t.match(verdicts(leaks), { 'processor: memory': false, 'processor: open files': false })
  t.end()
})

t.test('what grows in the first third is no slope', (t) => {
  const warm = looks(60, (minute) => ({ mib: Math.min(minute, 20) * 20, open: 10 }))
  t.match(verdicts(warm), { 'processor: memory': true })
  t.end()
})

t.test('one file more is no slope, three are', (t) => {
  const opened = (more: number) =>
    verdicts(looks(30, (minute) => ({ mib: 100, open: minute < 20 ? 10 : 10 + more })))
  t.equal(opened(1)['processor: open files'], true)
  t.equal(opened(3)['processor: open files'], false)
  t.end()
})

t.test('a short part has no verdict, nor has the client', (t) => {
  const grows = (minute: number) => ({ mib: 100 + 10 * minute, open: 10 })
  t.equal(verdicts(looks(12, grows))['processor: memory'], undefined)
  t.equal(verdicts(looks(30, grows))['processor: memory'], false)
  t.equal(verdicts(looks(30, grows))['client: memory'], undefined)
  t.end()
})
