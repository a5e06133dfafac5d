/**
 * Text that a command writes to `--out FILE`, or to standard output.
 *
 * - A file appears when it is whole: until then it is `FILE.part`, readable by its owner only.
 * - Only a file is replaced: as root, the name of a device would take its place.
 */
import { once } from 'node:events'
import { createWriteStream, renameSync, statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { CommandFault } from './command.js'

export interface TextOutput {
  write(text: string): Promise<void>
  close(): Promise<void>
  /** Leaves `FILE.part`, which is not to be used. */
  abandon(): Promise<void>
}

export function openOutput(file: string | undefined, out: Writable): TextOutput {
  if (file !== undefined && statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new CommandFault(`${file} is not a regular file: name another one.`)
  const stream = file === undefined ? out : createWriteStream(`${file}.part`, { mode: 0o600 })
  const failed = new Promise<never>((_resolve, reject) => stream.once('error', reject))
  failed.catch(() => undefined) // reported by the pending write
  const abandon = async (): Promise<void> => {
    if (file === undefined) return
    stream.end()
    await finished(stream)
  }
  return {
    write: async (text) => {
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), failed])
    },
    close: async () => {
      await abandon()
      if (file !== undefined) renameSync(`${file}.part`, file)
    },
    abandon,
  }
}
