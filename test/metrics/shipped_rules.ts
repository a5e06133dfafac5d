/** The shipped alert rules and dashboard, and the families and labels that their queries name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { FAMILIES } from '../../src/metrics/families.js'
import type { Family } from '../../src/metrics/family.js'

export const ALERTS_FILE = join(projectRoot(), 'src/operations/alerts.yml')
const DASHBOARD_FILE = join(projectRoot(), 'src/operations/dashboard.json')

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly severity: string
  readonly summary: string
  readonly runbook: string
}

/** Reads the one form that the file is written in; promtool reads all of YAML. */
export function alertRules(): AlertRule[] {
  const [, ...rules] = readFileSync(ALERTS_FILE, 'utf8').split('- alert: ')
  return rules.map((text) => {
    const found = (pattern: RegExp): string => {
      const value = pattern.exec(text)?.[1]
      if (value === undefined) throw new Error(`an alert without ${String(pattern)}: ${text}`)
      return value.replaceAll(/\s+/g, ' ').trim().replaceAll(/^'|'$/g, '')
    }
    return {
      alert: found(/^(\S+)\n/),
      expr: found(/ expr: (?:>-\n)?([^]+?)\n +for: /),
      severity: found(/labels: \{ severity: (\w+) \}/),
      summary: found(/summary: (.+)\n/),
      runbook: found(/runbook: (.+)(?:\n|$)/),
    }
  })
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

export interface DashboardQuery {
  readonly title: string
  readonly expr: string
  /** Labels that the legend shows. */
  readonly shown: readonly string[]
}

export function dashboardQueries(): DashboardQuery[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      ...{ title, expr },
      shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    })),
  )
}

/** What Prometheus adds, and the stack to every sample. */
const COMMON = ['process', 'instance', 'job']

/** @returns a sentence for each family or label that does not exist */
export function unknownNames(expr: string, shown: readonly string[] = []): string[] {
  const faults: string[] = []
  const named: Family[] = []
  for (const [, name = '', selector = ''] of expr.matchAll(/\b(causeway_\w+)(?:\{([^}]*)\})?/g)) {
    const family = familyOf(name)
    if (family === undefined) {
      faults.push(`no family ${name}`)
      continue
    }
    named.push(family)
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=|!)/g)) {
      if (!labelsOf(family).includes(label)) faults.push(`${name} has no label ${label}`)
    }
  }
  const all = named.flatMap(labelsOf)
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(', '),
  )
  for (const label of [...grouped, ...shown]) {
    if (!all.includes(label)) faults.push(`no label ${label} in ${expr}`)
  }
  if (named.length + faults.length === 0) faults.push(`no family in ${expr}`)
  return faults
}

const labelsOf = ({ labels, type }: Family): readonly string[] => [
  ...labels,
  ...COMMON,
  ...(type === 'histogram' ? ['le'] : []),
]

/** A histogram is read by its samples, every other family by its name. */
function familyOf(name: string): Family | undefined {
  const families: Readonly<Record<string, Family>> = FAMILIES
  const sample = /^(.+)_(?:bucket|sum|count)$/.exec(name)?.[1]
  const histogram = sample === undefined ? undefined : families[sample]
  if (histogram?.type === 'histogram') return histogram
  return families[name]?.type === 'histogram' ? undefined : families[name]
}
