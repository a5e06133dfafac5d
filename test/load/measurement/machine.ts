/**
 * The machine a figure was measured on.
 *
 * Owns: what must stand beside a figure to make sense of it. Does not own: what was measured.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryMiB: number
  readonly node: string
  readonly kernel: string
  readonly fileSystem: string
  /** Median of appending 4 KiB and waiting until they are on disk. */
  readonly fsyncMicros: number
}

/** statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x794c7630: 'overlay',
  0x01021994: 'tmpfs',
}
const SYNCS = 101
const SYNCED_BYTES = 4_096

/** `folder` is where the data will be. */
export function describeMachine(folder: string): Machine {
  const { type } = statfsSync(folder)
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 1_048_576),
    node: process.version,
    kernel: release(),
    fileSystem: FILE_SYSTEMS[type] ?? `type 0x${type.toString(16)}`,
    fsyncMicros: fsyncMicros(join(folder, 'fsync.probe')),
  }
}

function fsyncMicros(file: string): number {
  const bytes = Buffer.alloc(SYNCED_BYTES, 1)
  const fd = openSync(file, 'w')
  const taken = Array.from({ length: SYNCS }, () => {
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
