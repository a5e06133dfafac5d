/** Whether the times of refusals differ. */
import t from 'tap'
import { probabilityOf, refusalFindings } from './refusal_times.js'

const numbers = (count: number, of: (index: number) => number): number[] =>
  Array.from({ length: count }, (_, index) => of(index))

t.test('how probable samples are that have no difference', async (t) => {
  const even = numbers(40, (index) => 2 * index)
  const odd = numbers(40, (index) => 2 * index + 1)
  const later = numbers(40, (index) => 2 * index + 40)
  // By hand: U of `even` and `odd` is 780 of 1,600 pairs, 0.19 deviations of 103.9 from the middle.
  t.ok(Math.abs(probabilityOf(even, odd) - 0.847) < 0.001)
  t.equal(probabilityOf(even, odd), probabilityOf(odd, even))
  t.ok(probabilityOf(even, later) < 1e-6)
  t.ok(Math.abs(probabilityOf([1, 1, 1], [1, 1, 1]) - 1) < 1e-6, 'equal values')
})

t.test('a difference of the medians has a target unless it may be noise', async (t) => {
  const base = numbers(200, (index) => 100 + (index % 20))
  const sameLater = base.map((ms) => ms + 0.01)
  const slower = base.map((ms) => 1.2 * ms)
  const few = [90, 140]
  const findings = refusalFindings({ base, sameLater, slower, few })
  t.same(
    findings.map(({ name }) => name.split(',')[0]),
    ['base', 'sameLater', 'sameLater', 'slower', 'slower', 'few', 'few'],
  )
  const [usual, same, , far, probability, noise] = findings
  t.equal(usual?.value, 109_500)
  t.equal(same?.target, undefined)
  t.match(far, { name: 'slower, slower', target: { atMost: 5 } })
  t.ok(Math.abs((far?.value ?? 0) - 20) < 1e-6)
  t.ok((probability?.value ?? 1) < 0.01)
  t.equal(noise?.target, undefined)
})
