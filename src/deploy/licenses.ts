/**
 * `make licenses`: the licenses of all locked packages, checked against those that are accepted.
 *
 * - A package that is shipped needs a license of SHIPPED; one that only builds or tests may have
 *   one of TOOLS too.
 * - A license that is not listed, or that cannot be read, is a fault: a person decides, and adds it
 *   here.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'

/** The SPDX identifiers of licenses without duties on our own code. */
const SHIPPED = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'],
  ...['Unlicense'],
]
/** Accepted for tools that run unchanged and are not passed on. */
const TOOLS = ['CC-BY-3.0', 'CC0-1.0', 'MPL-2.0', 'Python-2.0']

/** Packages whose `package.json` has no SPDX identifier, and the one that is meant. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  '@informalsystems/quint@0.33.1': 'Apache-2.0',
  'jsonc-simple-parser@3.0.0': 'MIT',
}

/** `packages` of package-lock.json. */
export type Locked = Readonly<
  Record<
    string,
    { readonly version?: string; readonly license?: string; readonly dev?: boolean } | undefined
  >
>

export interface LicenseReport {
  /** Packages by license. */
  readonly counts: ReadonlyMap<string, { readonly shipped: number; readonly tools: number }>
  /** A sentence each. */
  readonly faults: readonly string[]
}

export function checkLicenses(locked: Locked): LicenseReport {
  const counts = new Map<string, { shipped: number; tools: number }>()
  const faults: string[] = []
  for (const [path, found] of Object.entries(locked)) {
    if (path === '' || found === undefined) continue
    const { version = '', dev: isTool = false } = found
    const name = `${path.replace(/^.*node_modules\//, '')}@${version}`
    const license = READ_BY_HAND[name] ?? found.license ?? 'none'
    const count = counts.get(license) ?? { shipped: 0, tools: 0 }
    count[isTool ? 'tools' : 'shipped'] += 1
    counts.set(license, count)
    if (!isAccepted(license, isTool ? [...SHIPPED, ...TOOLS] : SHIPPED)) {
      faults.push(`${name} (${isTool ? 'a tool' : 'shipped'}): ${license} is not accepted`)
    }
  }
  return { counts, faults }
}

/** One license, a choice of several (OR), or several at once (AND); anything else is refused. */
function isAccepted(expression: string, accepted: readonly string[]): boolean {
  const text = expression.replace(/^\(([^()]*)\)$/, '$1')
  const choices = text.split(' OR ')
  if (choices.length > 1) return choices.some((each) => isAccepted(each, accepted))
  return text.split(' AND ').every((each) => accepted.includes(each))
}

export const lockedPackages = (): Locked =>
  (
    JSON.parse(readFileSync(join(projectRoot(), 'package-lock.json'), 'utf8')) as {
      packages: Locked
    }
  ).packages
