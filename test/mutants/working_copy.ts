/**
 * A folder in which a fault is planted: a copy of the compiled code, and links to everything else.
 *
 * - One worker uses a copy at a time; the repository itself is never changed.
 */
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compiled, mutatedSource, type Mutant } from './mutant.js'

const BUILT = '.build'
/** Not linked: each copy has its own. */
const OWN = [BUILT, '.git', '.tap', 'var']
/** The compiled code; other folders of BUILT hold results. */
const COPIED = ['src', 'actors', 'gateway', 'protos', 'test']

export interface WorkingCopy {
  readonly folder: string
  /** Plants the fault for as long as the action takes. */
  planted<T>(mutant: Mutant, action: () => Promise<T>): Promise<T>
}

export function createWorkingCopy(root: string, folder: string): WorkingCopy {
  mkdirSync(join(folder, BUILT), { recursive: true })
  for (const name of readdirSync(root))
    if (!OWN.includes(name)) symlinkSync(join(root, name), join(folder, name))
  for (const name of COPIED)
    cpSync(join(root, BUILT, name), join(folder, BUILT, name), { recursive: true })
  return {
    folder,
    planted: async (mutant, action) => {
      const built = join(BUILT, mutant.file.replace(/\.ts$/, '.js'))
      writeFileSync(join(folder, built), compiled(mutatedSource(root, mutant), mutant.file))
      try {
        return await action()
      } finally {
        cpSync(join(root, built), join(folder, built))
      }
    },
  }
}
