/** The environment of a job, which its processes inherit. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../src/base/project_root.js'

/**
 * From 22 on V8 counts calls, optimizes later by itself, and has no such budget; Node reads modules
 * at once.
 */
const BEFORE_22 = ['late_optimization', 'module_reads']

const PRELOADS = [
  'equal_priority',
  ...(Number.parseInt(process.versions.node, 10) < 22 ? BEFORE_22 : []),
].map((name) => {
  const file = join(projectRoot(), `.build/test/runner/${name}.js`)
  return `--import=${pathToFileURL(file).href}`
})

/**
 * Without NODE_EXTRA_CA_CERTS: no test calls a server outside, and each process of Node would parse
 * the certificates at its start.
 */
export function jobEnvironment({
  NODE_EXTRA_CA_CERTS: _certificates,
  NODE_OPTIONS: options = '',
  ...environment
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...environment,
    TAP_TIMEOUT: '0',
    NO_COLOR: '1',
    NODE_OPTIONS: [options, ...PRELOADS].join(' ').trim(),
  }
}
