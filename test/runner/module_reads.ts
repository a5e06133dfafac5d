/**
 * Loaded into every process of a test run: Node reads each ES module by three calls to its pool of
 * threads, which cost more than the file. Here it reads the file at once.
 */
import { promises, readFileSync, type PathLike } from 'node:fs'

const { readFile } = promises

/** Node's loader gives a URL and no options; nothing else does. */
Object.assign(promises, {
  readFile: (file: PathLike, ...options: unknown[]): unknown =>
    file instanceof URL && options.length === 0
      ? new Promise((resolve) => resolve(readFileSync(file)))
      : (readFile as (...given: unknown[]) => unknown)(file, ...options),
})
