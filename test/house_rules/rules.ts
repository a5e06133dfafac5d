/** Rules about source files, each with samples that break and keep it. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

export interface File {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}
export type Rule = (file: File) => readonly string[]

export interface Sample {
  readonly breaks: readonly File[]
  readonly keeps: readonly File[]
}

/** A rule with its samples, so a rule that matches nothing fails. */
export type Rules = Readonly<Record<string, { readonly rule: Rule; readonly sample: Sample }>>

export const file = (path: string, ...lines: string[]): File => ({ path, text: lines.join('\n') })

export const isSource = (path: string): boolean => !path.startsWith('test/')
export const linesWhere = ({ text }: File, breaks: (line: string) => boolean): string[] =>
  text.split('\n').flatMap((line, i) => (breaks(line) ? [`line ${i + 1}: ${line.trim()}`] : []))

/** Its imports of our own files. */
export const importedBy = ({ path, text }: File): string[] =>
  importsOf(text)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(path), name)).replace(/\.js$/, '.ts'))

export function importsOf(text: string): string[] {
  const named = [...text.matchAll(/^(?:import|export|\})[^'\n]* from '([^']+)'/gm)]
  const bare = [...text.matchAll(/^import '([^']+)'/gm)]
  const late = [...text.matchAll(/\bimport\('([^']+)'\)/g)]
  return [...named, ...bare, ...late].map(([, name = '']) => name)
}

export const files = ['src', 'actors', 'gateway', 'test'].flatMap((folder) =>
  readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, text: readFileSync(join(projectRoot(), path), 'utf8') })),
)

export function checkRules(t: Test, rules: Rules): void {
  t.ok(files.length > 50, 'there are files to look at')
  for (const [name, { rule, sample }] of Object.entries(rules)) {
    t.test(name, async (t) => {
      for (const broken of sample.breaks) t.not(rule(broken).length, 0, `found: ${broken.text}`)
      for (const kept of sample.keeps) t.strictSame(rule(kept), [], `kept: ${kept.text}`)
      const faults = files.flatMap((one) => rule(one).map((fault) => `${one.path}: ${fault}`))
      t.strictSame(faults, [])
    })
  }
}
