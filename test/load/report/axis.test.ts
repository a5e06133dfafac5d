import fc from 'fast-check'
import t from 'tap'
import { linear, logarithmic, nines, time, type Axis } from './axis.js'

const labels = ({ ticks }: Axis): string[] => ticks.map(({ label }) => label)

t.test('a linear axis begins at nothing and ends at a round figure', (t) => {
  t.same(labels(linear(15_233)), ['0', '5,000', '10,000', '15,000', '20,000'])
  t.same(labels(linear(0.9)), ['0', '0.2', '0.4', '0.6', '0.8', '1'])
  t.equal(linear(20_000).place(5_000), 0.25)
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (max) => {
      const axis = linear(max)
      t.ok(axis.ticks.length >= 2 && axis.ticks.length <= 8, `${max}: ${labels(axis).join()}`)
      t.ok((axis.ticks.at(-1)?.value ?? 0) >= max * (1 - 1e-9))
    }),
  )
  t.end()
})

t.test('a logarithmic axis covers whole powers of ten', (t) => {
  t.same(labels(logarithmic(0.4, 900)), ['0.1', '1', '10', '100', '1,000'])
  t.equal(logarithmic(1, 100).place(10), 0.5)
  t.equal(logarithmic(1, 100).place(0), 0, 'what is nothing lies at the foot')
  t.same(labels(logarithmic(5, 5)), ['1', '10'])
  t.end()
})

t.test('time is in seconds, and in minutes when it is long', (t) => {
  t.same(labels(time(30_000)), ['0 s', '5 s', '10 s', '15 s', '20 s', '25 s', '30 s'])
  t.same(labels(time(1_800_000)), [
    '0 min',
    '5 min',
    '10 min',
    '15 min',
    '20 min',
    '25 min',
    '30 min',
  ])
  t.end()
})

t.test('each further nine is as wide as the one before', (t) => {
  const axis = nines(99.9)
  t.same(labels(axis), ['0 %', '50 %', '90 %', '99 %', '99.9 %'])
  t.ok(Math.abs(axis.place(99) - 2 * axis.place(90)) < 1e-9)
  t.equal(axis.place(99.99), 1)
  t.end()
})
