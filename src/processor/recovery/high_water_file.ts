/** The file of the high-water mark: read at start, replaced by a rename. */
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'

/** @returns undefined when there is no such file */
export function readMarkFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

/** No fsync: a mark that a power cut takes away is older or unreadable, never ahead. */
export async function replaceMarkFile(path: string, text: string): Promise<void> {
  const made = `${path}.new`
  await writeFile(made, text, { mode: 0o600 })
  await rename(made, path)
}
