/** The root folder of the repository. */
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Compiled code runs from `.build/`, sources from the tree itself. */
export function projectRoot(): string {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../..')
  return basename(folder) === '.build' ? dirname(folder) : folder
}
