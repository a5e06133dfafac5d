/** The machine of a measurement, for the report. */
import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'

/** `fsyncMicros`: median of writing and syncing 4 KiB. */
export type Machine = ReturnType<typeof describeMachine>

/** `folder` is where the data will be. */
export function describeMachine(folder: string) {
  const mounted = execFileSync('df', ['--output=fstype', folder], { encoding: 'utf8' })
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 1_048_576),
    node: process.version,
    kernel: release(),
    fileSystem: mounted.split('\n')[1] ?? 'unknown',
    fsyncMicros: fsyncMicros(join(folder, 'fsync.probe')),
  }
}

function fsyncMicros(file: string): number {
  const bytes = Buffer.alloc(4_096, 1)
  const fd = openSync(file, 'w')
  const taken = Array.from({ length: 101 }, () => {
    const startedAt = performance.now()
    writeSync(fd, bytes)
    fdatasyncSync(fd)
    return performance.now() - startedAt
  })
  closeSync(fd)
  rmSync(file)
  return Math.round(median(taken) * 1_000)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? 0
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? 0) + upper) / 2 : upper
}
