/** Runs a file of the Python client's tests with the machine's python3. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../../src/base/project_root.js'

const run = promisify(execFile)

export const PYTHON_ENV = {
  PATH: process.env['PATH'] ?? '',
  PYTHONPATH: join(projectRoot(), 'src/client/python'),
}

/** The reason to skip, or false. */
export const skipsPython: string | false =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0 &&
  'there is no python3 of version 3.9 or newer on this machine'

/** @returns standard output; throws with the output of a failed test */
export async function runPython(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ stdout: string; stderr: string }> {
  const path = join(projectRoot(), 'test/client/python', file)
  return run('python3', ['-B', path], { env: { ...PYTHON_ENV, ...env } })
}
