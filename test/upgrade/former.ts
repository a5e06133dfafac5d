/**
 * An upgrade from an earlier revision: its programs run, and those of this checkout take their
 * place on the disk, as a fetch and a compilation do.
 */
import { execFile } from 'node:child_process'
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

/** @param folder empty */
export async function checkOut(revision: string, folder: string): Promise<Former> {
  const root = join(folder, 'programs')
  const { stdout, stderr } = await run(join(projectRoot(), 'src/scripts/checkout.sh'), [
    revision,
    root,
  ])
  console.log((stdout + stderr).trimEnd())
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
