/** Alerts and dashboard name only what exists: families, labels and their values, pages. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { guidePage, guidePages } from '../support/operators_guide.js'
import { ALERT_CASES } from './alert_cases.js'
import { alertRules, dashboardQueries, unknownNames } from './shipped_rules.js'

t.test('a query that names what does not exist is noticed', async (t) => {
  const faults = [
    'causeway_gone == 0',
    'causeway_process_up{rail="x"} == 0',
    'sum by (rail) (causeway_process_up)',
    'causeway_commit_duration_seconds > 1',
    'causeway_process_up_count > 1',
    'vector(1)',
  ]
  for (const expr of faults) t.equal(unknownNames(expr).length, 1, expr)
  t.same(unknownNames('causeway_process_up', ['corridor']).length, 1, 'in a legend')
  t.same(unknownNames('sum by (le) (rate(causeway_commit_duration_seconds_bucket[5m]))'), [])
  t.same(unknownNames('causeway_process_up{process="x"}', ['process']), [])
})

t.test('every alert names families and labels that exist, and a page', async (t) => {
  const pages = guidePages().map(({ title }) => title)
  const rules = alertRules()
  t.ok(rules.length >= 15)
  for (const { alert, expr, runbook, severity, summary } of rules) {
    t.same(unknownNames(expr), [], alert)
    t.ok(pages.includes(runbook), `${alert}: ${runbook}`)
    t.match(severity, /^(page|ticket)$/)
    t.ok(summary.length > 0)
  }
  const names = rules.map(({ alert }) => alert)
  t.equal(new Set(names).size, names.length, 'each name is used once')
  t.same(Object.keys(ALERT_CASES).sort(), names.sort(), 'each has a test')
})

t.test('the page of an alert that calls an operator has commands', async (t) => {
  for (const { alert, runbook, severity } of alertRules()) {
    if (severity === 'page') t.match(guidePage(runbook).text, /make ops ARGS="/, alert)
  }
})

/** Values of labels that a query selects, without patterns. */
const selectedIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\w+=~?"([^"$]+)"/g)].flatMap(([, values = '']) =>
    values.split('|').filter((value) => /^\w+$/.test(value)),
  )

t.test('every value that a query selects is one of the code', async (t) => {
  const code = ['src', 'gateway', 'actors']
    .map((folder) => join(projectRoot(), folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
        .map((file) => readFileSync(join(folder, file), 'utf8')),
    )
    .join('\n')
  const isThere = (value: string): boolean => new RegExp(`\\b${value}\\b`).test(code)
  t.notOk(isThere('timestamp_outside_the_window'), 'a wrong one is noticed')
  const all = [...alertRules(), ...dashboardQueries()].flatMap(({ expr }) => selectedIn(expr))
  t.ok(all.length > 15)
  for (const value of new Set(all)) t.ok(isThere(value), value)
})

t.test('every panel names families and labels that exist', async (t) => {
  const queries = dashboardQueries()
  t.ok(queries.length > 30)
  for (const { title, expr, shown } of queries) t.same(unknownNames(expr, shown), [], title)
})
