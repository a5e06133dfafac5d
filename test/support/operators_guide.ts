/**
 * The operators' guide: the index and its pages, each of one task.
 *
 * A page begins with `# ` and its title; alerts, commands and code name pages by their titles.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

export const GUIDE_INDEX = 'src/operations/README.md'
const PAGES = 'src/operations/guide'

export interface GuidePage {
  /** From the project's root. */
  readonly path: string
  readonly title: string
  readonly text: string
}

const textOf = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8')

export function guidePages(): readonly GuidePage[] {
  return readdirSync(join(projectRoot(), PAGES))
    .sort()
    .map((name) => {
      const path = `${PAGES}/${name}`
      const text = textOf(path)
      return { path, title: /^# (.+)\n/.exec(text)?.[1] ?? '', text }
    })
}

export function guidePage(title: string): GuidePage {
  const page = guidePages().find((each) => each.title === title)
  if (page === undefined) throw new Error(`the operators' guide has no page ${title}`)
  return page
}

/** The index and all pages as one text. */
export const wholeGuide = (): string =>
  [textOf(GUIDE_INDEX), ...guidePages().map(({ text }) => text)].join('\n')
