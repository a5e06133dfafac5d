/** Which revision of the tree a figure is of. */
import { spawnSync } from 'node:child_process'
import { projectRoot } from '../../../src/base/protos.js'

/** With `-dirty` behind it when there is more than was committed. */
export function revision(): string {
  const git = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: projectRoot() })
  return git.status === 0 ? git.stdout.toString().trim() : 'unknown'
}
