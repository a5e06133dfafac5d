/** Reads files through before the checks, so that these read from memory what fits into it. */
import { open } from 'node:fs/promises'

const CHUNK_BYTES = 8 * 1024 * 1024

/**
 * The rows of a table lie scattered in a file of years. A check in their order reads single pages,
 * which many disks do at a thirtieth of the speed at which they read a file.
 */
export async function readThrough(paths: readonly string[]): Promise<void> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (const path of paths) {
    const file = await open(path)
    try {
      while ((await file.read(chunk, 0, CHUNK_BYTES)).bytesRead > 0);
    } finally {
      await file.close()
    }
  }
}
