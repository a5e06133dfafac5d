/**
 * The style, the script and the icon: read once, at addresses that change with their content.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'
import type { Assets } from './html/layout.js'

const FOLDER = join(projectRoot(), 'src/console/assets')
const FILES = {
  style: ['console.css', 'text/css; charset=utf-8'],
  script: ['console.js', 'text/javascript; charset=utf-8'],
  icon: ['icon.svg', 'image/svg+xml'],
} as const

export interface StaticFile {
  readonly content: string
  readonly type: string
}

export interface StaticFiles {
  readonly assets: Assets
  readonly byPath: ReadonlyMap<string, StaticFile>
}

export function readStaticFiles(): StaticFiles {
  const byPath = new Map<string, StaticFile>()
  const add = ([name, type]: readonly [string, string]): string => {
    const content = readFileSync(join(FOLDER, name), 'utf8')
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 16)
    const path = `/assets/${hash}/${name}`
    byPath.set(path, { content, type })
    return path
  }
  const { style, script, icon } = FILES
  return { assets: { style: add(style), script: add(script), icon: add(icon) }, byPath }
}
