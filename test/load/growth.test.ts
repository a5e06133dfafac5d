/** The verdict on growth over a long load. */
import t from 'tap'
import { growthFindings, slopeOf } from './growth.js'
import { isMet } from './result.js'

/** A sample a minute. */
const verdicts = (
  minutes: number,
  of: (minute: number) => readonly [mib: number, files: number],
) => {
  const samples = Array.from({ length: minutes + 1 }, (_, minute) => {
    const [mib, files] = of(minute)
    const by = (value: number) => ({ processor: value, client: value })
    return { at: minute * 60_000, rssMiB: by(mib), openFiles: by(files) }
  })
  const [memory, files, ofClient] = growthFindings(samples)
  return [memory, files, ofClient].map((found) => found && isMet(found))
}

t.ok(Math.abs(slopeOf([[0, 1], [10, 3], [20, 5]]) - 0.2) < 1e-9) // prettier-ignore
t.equal(slopeOf([[0, 5]]), 0)
const flat = verdicts(60, (minute) => [200 + minute * 0.2 + (minute % 2) * 8, 40])
t.same(flat, [true, true, undefined], 'the client has no verdict')
t.same(
  verdicts(60, (minute) => [200 + minute * 0.5, 40 + minute / 10]),
  [false, false, undefined],
)
t.same(verdicts(60, (minute) => [Math.min(minute, 20) * 20, 10])[0], true, 'the first third')
t.same(verdicts(30, (minute) => [100, minute < 20 ? 10 : 11])[1], true, 'one file more')
t.same(verdicts(30, (minute) => [100, minute < 20 ? 10 : 13])[1], false, 'three files more')
t.same(verdicts(12, (minute) => [100 + 10 * minute, 10])[0], undefined, 'too short to judge')
