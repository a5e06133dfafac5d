/** The named programs of the clients' pages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

export function programOf(page: string, name: string): string {
  const text = readFileSync(join(projectRoot(), page), 'utf8')
  const [, found = ''] = text.split(`<!-- program ${name} -->`)
  const [, program] = /^\n\n```\w+\n(.*?)```/s.exec(found) ?? []
  if (program === undefined) throw new Error(`${page} has no program ${name}`)
  return program
}
