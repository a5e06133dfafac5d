/**
 * An upgrade from an earlier revision: its programs run, and those of this checkout take their
 * place on the disk, as a fetch and a compilation do.
 */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../../src/base/project_root.js'

export interface Former {
  /** A built checkout of the revision. */
  readonly root: string
  /** Puts the programs of this checkout in its place. Only the first call does anything. */
  replace(): Promise<void>
}

const PROGRAMS = ['.build', 'protos', 'src', 'actors', 'gateway', 'package.json']
const run = promisify(execFile)

/**
 * @param folder empty
 * @returns null when there is no such revision, or it cannot be built; it says why
 */
export function checkOut(revision: string, folder: string): Former | null {
  const root = join(folder, 'programs')
  const script = join(projectRoot(), 'src/scripts/checkout.sh')
  const { status, stdout, stderr } = spawnSync(script, [revision, root], { encoding: 'utf8' })
  console.log((stdout + stderr).trimEnd())
  if (status !== 0) return null
  let isReplaced = false
  return {
    root,
    replace: async () => {
      if (isReplaced) return
      isReplaced = true
      // Files that are open keep their contents.
      const options = ['-a', '--remove-destination']
      await run('cp', [...options, ...PROGRAMS, root], { cwd: projectRoot() })
    },
  }
}
