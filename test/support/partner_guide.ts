/** The pages of the partner guide, one for each of /docs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

const PAGES = 'gateway/guide'

/** From the project's root. */
export const partnerGuideFile = (name: string): string => `${PAGES}/${name}.md`

export const partnerGuideFiles = (): readonly string[] =>
  readdirSync(join(projectRoot(), PAGES))
    .sort()
    .map((name) => `${PAGES}/${name}`)

export const partnerGuidePage = (name: string): string =>
  readFileSync(join(projectRoot(), partnerGuideFile(name)), 'utf8')

/** All pages as one text. */
export const wholePartnerGuide = (): string =>
  partnerGuideFiles()
    .map((file) => readFileSync(join(projectRoot(), file), 'utf8'))
    .join('\n')
