/** Whether a disk has the space of a copy: checked before it begins, as it would end half-way. */
import { MIB } from '../files/free_space.js'
import { BackupFault } from './manifest.js'

/** Left free on the disk, which the processor needs too. */
const SPARE_BYTES = 256 * MIB

/** @throws BackupFault when the folder has less than the copy needs */
export function requireFree(folder: string, freeBytes: number, copyBytes: number): void {
  const needed = copyBytes + SPARE_BYTES
  if (freeBytes >= needed) return
  throw new BackupFault(
    `${folder} has ${inMib(freeBytes)} MB free and needs ${inMib(needed)} MB: free space, ` +
      'or name another folder.',
  )
}

const inMib = (bytes: number): string => String(Math.ceil(bytes / MIB))
