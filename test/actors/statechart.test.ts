/** The statecharts in `actors/README.md` match the machines. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { MACHINES, PAGE, statechartOf, withStatecharts } from './statechart.js'

t.test('the page has the current statecharts', async (t) => {
  const page = readFileSync(PAGE, 'utf8')
  t.equal(page, withStatecharts(page), 'node .build/test/actors/statechart.js writes it')
  for (const name of Object.keys(MACHINES)) t.match(page, `<!-- statechart ${name} -->`)
})

t.test('a chart has every state', async (t) => {
  for (const name of Object.keys(MACHINES) as (keyof typeof MACHINES)[]) {
    const chart = statechartOf(name)
    for (const state of Object.keys(MACHINES[name].states)) t.match(chart, `\n  ${state} --> `)
  }
})
