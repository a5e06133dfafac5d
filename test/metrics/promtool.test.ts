/** The shipped alert rules, judged and evaluated by promtool. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../support/temp_folder.js'
import { ALERT_CASES, type AlertCase } from './alert_cases.js'
import { promtool, skipsPrometheus } from './prometheus.js'
import { ALERTS_FILE, alertRules, type AlertRule } from './shipped_rules.js'

const folder = tempFolder(t)
const rules = new Map(alertRules().map((rule) => [rule.alert, rule]))

/** In promtool's form: the alert fires with some sets of series, and not with others. */
function unitTests(
  alert: string,
  { fires, quiet, alsoFires = [], alsoQuiet = [], at, labels = {} }: AlertCase,
): object[] {
  const { severity, summary, runbook } = rules.get(alert) ?? ({} as Partial<AlertRule>)
  const fired = { exp_labels: { severity, ...labels }, exp_annotations: { summary, runbook } }
  const test = (series: AlertCase['fires'], exp_alerts: readonly object[]): object => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts }],
  })
  return [
    ...[fires, ...alsoFires].map((series) => test(series, [fired])),
    ...[quiet, ...alsoQuiet].map((series) => test(series, [])),
  ]
}

function judge(tests: readonly object[]): string {
  const file = join(folder, 'rules_test.yml')
  // YAML includes JSON.
  writeFileSync(file, JSON.stringify({ rule_files: [ALERTS_FILE], tests }))
  return promtool(['test', 'rules', file])
}

t.test('promtool', { skip: skipsPrometheus }, async (t) => {
  t.equal(promtool(['check', 'rules', ALERTS_FILE]), '')
  const tests = Object.entries(ALERT_CASES).flatMap(([alert, each]) => unitTests(alert, each))
  t.ok(tests.length >= 2 * rules.size)
  t.equal(judge(tests), '', 'each alert fires when it must, and only then')
  const [alert = '', { fires, quiet, at } = { fires: {}, quiet: {}, at: '' }] =
    Object.entries(ALERT_CASES)[0] ?? []
  t.match(judge(unitTests(alert, { fires: quiet, quiet: fires, at })), /FAILED/, 'the reverse')
})
