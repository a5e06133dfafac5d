/** Programs whose clock differs from the machine's. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../src/base/project_root.js'

/** Settings of such a program. @param ms how far its clock is ahead */
export function clockSkew(ms: number): { readonly NODE_OPTIONS: string } {
  const hook = pathToFileURL(join(projectRoot(), '.build/test/support/skewed_clock.js'))
  hook.searchParams.set('ms', String(ms))
  return { NODE_OPTIONS: `--import=${hook.href}` }
}
